package retention_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"presswork/internal/fault"
	"presswork/internal/test/redistest"
	"presswork/storage"
	"presswork/storage/retention"
)

const day = 24 * time.Hour

// deployment is a store, its index in Redis, and a clock that the test advances.
type deployment struct {
	store *storage.Disk
	rdb   *redis.Client
	now   atomic.Int64
	opts  retention.Options
}

func newDeployment(t *testing.T, o retention.Options) *deployment {
	t.Helper()

	ro, err := redis.ParseURL(redistest.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	k := &deployment{store: openDisk(t, t.TempDir()), rdb: redis.NewClient(ro), opts: o}
	t.Cleanup(func() { k.rdb.Close() })
	k.now.Store(time.Now().UnixMilli())

	if k.opts.Store == nil {
		k.opts.Store = k.store
	}
	k.opts.Redis = k.rdb
	k.opts.Now = func() time.Time { return time.UnixMilli(k.now.Load()) }

	return k
}

func openDisk(t testing.TB, dir string) *storage.Disk {
	t.Helper()

	d, err := storage.OpenDisk(storage.DiskOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}

	return d
}

func put(t testing.TB, s storage.Store, key, body string) {
	t.Helper()

	if _, err := s.Put(t.Context(), key, strings.NewReader(body), int64(len(body)), storage.Attrs{}); err != nil {
		t.Fatal(err)
	}
}

// keeper returns a keeper of the deployment, as one node has.
func (k *deployment) keeper() *retention.Keeper { return retention.New(k.opts) }

func (k *deployment) advance(d time.Duration) { k.now.Add(d.Milliseconds()) }

// add stores and records objects of 10 bytes.
func (k *deployment) add(t *testing.T, keeper *retention.Keeper, keys ...string) {
	t.Helper()

	for _, key := range keys {
		put(t, k.store, key, "0123456789")

		if err := keeper.Record(t.Context(), key, 10); err != nil {
			t.Fatal(err)
		}
	}
}

// wantObjects checks that the store and the index have exactly these objects.
func (k *deployment) wantObjects(t *testing.T, want ...string) {
	t.Helper()
	k.wantIndex(t, k.wantStored(t, want...), len(want))
}

// wantStored checks that the store has exactly these objects. It returns the number of capped ones.
func (k *deployment) wantStored(t *testing.T, want ...string) (capped int) {
	t.Helper()
	var got []string

	for info, err := range k.store.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}

		if strings.HasPrefix(info.Key, storage.Fence) {
			continue
		}

		got = append(got, info.Key)
		if !strings.HasPrefix(info.Key, storage.Sources) {
			capped++
		}
	}

	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("stored (-want +got):\n%s", d)
	}

	return capped
}

// wantIndex checks the number of objects in the index and of capped ones among them.
func (k *deployment) wantIndex(t *testing.T, capped, all int) {
	t.Helper()
	sum := 0

	for _, v := range k.rdb.HVals(t.Context(), "pw:{keep}:size").Val() {
		size, _, _ := strings.Cut(v, " ")

		n, err := strconv.Atoi(size)
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	total, _ := k.rdb.Get(t.Context(), "pw:{keep}:total").Int()
	made, used := k.rdb.ZCard(t.Context(), "pw:{keep}:made").Val(), k.rdb.ZCard(t.Context(), "pw:{keep}:used").Val()

	sources := k.rdb.ZCard(t.Context(), "pw:{keep}:sources").Val()
	if sum != 10*all || total != sum || made != int64(capped) || used != int64(capped) || sources != int64(all-capped) {
		t.Errorf(
			"the index has %d made, %d used and %d sources, %d bytes in sizes and %d in total; want %d, %d, %d and %d bytes",
			made,
			used,
			sources,
			sum,
			total,
			capped,
			capped,
			all-capped,
			10*all,
		)
	}
}

// sweep makes one sweep, which must succeed.
func sweep(t *testing.T, k *retention.Keeper) {
	t.Helper()

	if err := k.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestKeeperCountsEachObjectOnce(t *testing.T) {
	t.Parallel()
	k := newDeployment(t, retention.Options{})
	keeper := k.keeper()
	k.add(t, keeper, "artifacts/1.pdf", "renders/h.pdf", "sources/1/content.md")

	for range 3 {
		if err := keeper.Record(t.Context(), "artifacts/1.pdf", 10); err != nil {
			t.Fatal(err)
		}
	}
	k.wantIndex(t, 2, 3)

	for range 2 {
		for _, key := range []string{"artifacts/1.pdf", "artifacts/none.pdf", "sources/1/content.md"} {
			t.Run(key, func(t *testing.T) {
				if err := keeper.Forget(t.Context(), key); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
	k.wantIndex(t, 1, 1)
}

func TestSweepDeletesExpiredObjects(t *testing.T) {
	t.Parallel()
	k := newDeployment(t, retention.Options{
		Retention: 30 * day,
		Live: func(_ context.Context, job string) (bool, error) {
			if job == "unknown" {
				return false, errors.New("Redis is unavailable")
			}

			return job == "live", nil
		},
	})
	keeper := k.keeper()
	sweep(t, keeper) // compares the index with the store, and trusts it for a day from here
	k.add(t, keeper, "artifacts/old.pdf", "renders/old.pdf", "sources/live/assets/0", "sources/live/content.md",
		"sources/old/content.md", "sources/unknown/content.md")
	k.advance(20 * day)
	k.add(t, keeper, "artifacts/new.pdf", "sources/new/content.md")
	k.advance(10*day - time.Minute)
	sweep(t, keeper)
	k.wantObjects(t, "artifacts/new.pdf", "artifacts/old.pdf", "renders/old.pdf", "sources/live/assets/0",
		"sources/live/content.md", "sources/unknown/content.md")
	k.add(t, keeper, "sources/fresh/content.md")
	k.advance(2 * time.Minute)
	sweep(t, keeper)
	k.wantObjects(t, "artifacts/new.pdf", "sources/fresh/content.md", "sources/live/assets/0",
		"sources/live/content.md", "sources/unknown/content.md")
	k.advance(time.Hour)
	sweep(t, keeper)
	k.wantObjects(t, "artifacts/new.pdf", "sources/live/assets/0", "sources/live/content.md",
		"sources/unknown/content.md")

	if got, want := keeper.Counts(), (retention.Counts{Sweeps: 4, Expired: 5}); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
}

func TestSweepDeletesObjectsThatExpireEarly(t *testing.T) {
	t.Parallel()
	k := newDeployment(t, retention.Options{Retention: 30 * day})
	keeper := k.keeper()
	sweep(t, keeper) // compares the index with the store, and trusts it for a day from here
	soon := time.UnixMilli(k.now.Load()).Add(10 * time.Minute)

	attrs := storage.Attrs{Meta: map[string]string{retention.MetaUntil: soon.UTC().Format(time.RFC3339)}}
	for _, key := range []string{"artifacts/known.pdf", "artifacts/lost.pdf"} {
		if _, err := k.store.Put(t.Context(), key, strings.NewReader("0123456789"), 10, attrs); err != nil {
			t.Fatal(err)
		}
	}

	if err := keeper.RecordUntil(t.Context(), "artifacts/known.pdf", 10, soon); err != nil {
		t.Fatal(err)
	}
	k.add(t, keeper, "artifacts/stays.pdf")
	// No node has recorded lost.pdf, so only a comparison with the store finds it.
	k.advance(9 * time.Minute)
	sweep(t, keeper)
	k.wantStored(t, "artifacts/known.pdf", "artifacts/lost.pdf", "artifacts/stays.pdf")
	k.advance(2 * time.Minute)
	sweep(t, keeper)
	k.wantStored(t, "artifacts/lost.pdf", "artifacts/stays.pdf")

	if n := k.rdb.ZCard(t.Context(), "pw:{keep}:until").Val(); n != 0 {
		t.Errorf("%d entries with an expiry remain, want none", n)
	}

	for _, key := range k.rdb.Keys(t.Context(), "*").Val() {
		if key == retention.FenceKey {
			continue
		}

		if err := k.rdb.Del(t.Context(), key).Err(); err != nil {
			t.Fatal(err)
		}
	}
	sweep(t, keeper)
	k.wantObjects(t, "artifacts/stays.pdf")
}

func TestASweepDeletesTheLeastRecentlyUsedObjectsDownToTheCap(t *testing.T) {
	t.Parallel()
	// All jobs are live: their sources count towards the cap and are not deleted.
	k := newDeployment(
		t,
		retention.Options{MaxBytes: 80, Live: func(context.Context, string) (bool, error) { return true, nil }},
	)

	keeper := k.keeper()
	for _, key := range []string{"artifacts/a.pdf", "renders/b.pdf", "artifacts/c.pdf", "renders/d.pdf"} {
		k.add(t, keeper, key, "sources/"+key[len(key)-5:len(key)-4]+"/content.md")
		k.advance(time.Minute)
	}
	k.advance(2 * time.Hour)
	keeper.Touch("artifacts/a.pdf")
	sweep(t, keeper)
	k.wantObjects(t, "artifacts/a.pdf", "artifacts/c.pdf", "renders/b.pdf", "renders/d.pdf",
		"sources/a/content.md", "sources/b/content.md", "sources/c/content.md", "sources/d/content.md")
	k.add(t, keeper, "artifacts/e.pdf", "artifacts/f.pdf")
	sweep(t, keeper)

	if got, want := keeper.Counts(), (retention.Counts{Sweeps: 2, Shrunk: 2}); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
	k.wantObjects(t, "artifacts/a.pdf", "artifacts/e.pdf", "artifacts/f.pdf", "renders/d.pdf",
		"sources/a/content.md", "sources/b/content.md", "sources/c/content.md", "sources/d/content.md")
}

func TestTouchesSurviveAnOutage(t *testing.T) {
	t.Parallel()
	k := newDeployment(t, retention.Options{MaxBytes: 20})
	keeper := k.keeper()
	k.add(t, keeper, "artifacts/a.pdf")
	k.advance(time.Minute)
	k.add(t, keeper, "artifacts/b.pdf")
	k.advance(2 * time.Hour)
	keeper.Touch("artifacts/a.pdf")

	ended, cancel := context.WithCancel(t.Context())
	cancel()

	if err := keeper.Sweep(ended); err == nil {
		t.Error("a sweep with an ended context succeeded")
	}
	k.add(t, keeper, "artifacts/c.pdf")
	sweep(t, keeper)
	k.wantObjects(t, "artifacts/a.pdf", "artifacts/c.pdf")
}

func TestSizeCapKeepsYoungObjects(t *testing.T) {
	t.Parallel()
	k := newDeployment(t, retention.Options{MaxBytes: 10})
	keeper := k.keeper()
	sweep(t, keeper)
	k.add(t, keeper, "artifacts/old.pdf")
	k.advance(time.Hour)

	var young []string
	for n := range 250 { // more than one batch
		young = append(young, fmt.Sprintf("artifacts/young%03d.pdf", n))
	}
	k.add(t, keeper, young...)
	// The old object was used last, but it is the only one that is old enough to be deleted.
	k.advance(time.Minute)
	keeper.Touch("artifacts/old.pdf")
	sweep(t, keeper)
	k.wantObjects(t, young...)
}

func TestFullWhenNoObjectMayBeDeleted(t *testing.T) {
	t.Parallel()
	k := newDeployment(t, retention.Options{MaxBytes: 20})
	keeper := k.keeper()
	k.add(t, keeper, "artifacts/1.pdf", "artifacts/2.pdf")

	if err := keeper.Full(t.Context()); err != nil {
		t.Errorf("at the cap: got %v, want nil", err)
	}
	k.add(t, keeper, "artifacts/3.pdf")

	if err := keeper.Full(t.Context()); err != nil {
		t.Errorf("over the cap within a second: got %v, want the cached nil", err)
	}
	k.advance(time.Second)

	if err := keeper.Full(t.Context()); fault.CodeOf(err) != fault.StoreFull {
		t.Errorf("over the cap and young: got %v, want store_full", err)
	}
	k.advance(time.Hour)

	if err := keeper.Full(t.Context()); err != nil {
		t.Errorf("with an object that a sweep may delete: got %v, want nil", err)
	}
	sweep(t, keeper)
	k.wantObjects(t, "artifacts/2.pdf", "artifacts/3.pdf")
}

func (unavailableStore) Delete(context.Context, string) error {
	return errors.New("the store is unavailable")
}

func (unavailableStore) Health(context.Context) error { return errors.New("the store is unavailable") }
