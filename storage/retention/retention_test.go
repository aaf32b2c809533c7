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

// keeping is a store, its index and a clock that a test moves.
type keeping struct {
	store *storage.Disk
	rdb   *redis.Client
	now   atomic.Int64
	opts  retention.Options
}

func newKeeping(t *testing.T, o retention.Options) *keeping {
	t.Helper()

	ro, err := redis.ParseURL(redistest.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	k := &keeping{store: openDisk(t, t.TempDir()), rdb: redis.NewClient(ro), opts: o}
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

func (k *keeping) keeper() *retention.Keeper { return retention.New(k.opts) }

func (k *keeping) pass(d time.Duration) { k.now.Add(d.Milliseconds()) }

// add stores and records objects of 10 bytes.
func (k *keeping) add(t *testing.T, keeper *retention.Keeper, keys ...string) {
	t.Helper()

	for _, key := range keys {
		put(t, k.store, key, "0123456789")

		if err := keeper.Record(t.Context(), key, 10); err != nil {
			t.Fatal(err)
		}
	}
}

// stored checks that the store and the index have exactly these objects.
func (k *keeping) stored(t *testing.T, want ...string) {
	t.Helper()
	k.indexed(t, k.left(t, want...), len(want))
}

// left checks that the store has exactly these objects. It returns the number of capped ones.
func (k *keeping) left(t *testing.T, want ...string) (capped int) {
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

// indexed checks the number of objects in the index and of capped ones among them.
func (k *keeping) indexed(t *testing.T, capped, all int) {
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
		t.Errorf("%d objects, %d for the cap; the index has %d + %d + %d sources of %d bytes in all, its total is %d",
			all, capped, made, used, sources, sum, total)
	}
}

func sweep(t *testing.T, k *retention.Keeper) {
	t.Helper()

	if err := k.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestKeeperCountsEachObjectOnce(t *testing.T) {
	t.Parallel()
	k := newKeeping(t, retention.Options{})
	keeper := k.keeper()
	k.add(t, keeper, "artifacts/1.pdf", "renders/h.pdf", "sources/1/content.md")

	for range 3 {
		if err := keeper.Record(t.Context(), "artifacts/1.pdf", 10); err != nil {
			t.Fatal(err)
		}
	}
	k.indexed(t, 2, 3)

	for range 2 {
		for _, key := range []string{"artifacts/1.pdf", "artifacts/none.pdf", "sources/1/content.md"} {
			t.Run(key, func(t *testing.T) {
				if err := keeper.Forget(t.Context(), key); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
	k.indexed(t, 1, 1)
}

func TestSweepDeletesExpiredObjects(t *testing.T) {
	t.Parallel()
	k := newKeeping(t, retention.Options{
		Retention: 30 * day,
		Live: func(_ context.Context, job string) (bool, error) {
			if job == "unknown" {
				return false, errors.New("redis is away")
			}

			return job == "live", nil
		},
	})
	keeper := k.keeper()
	sweep(t, keeper) // has compared the index: from here it is trusted
	k.add(
		t,
		keeper,
		"artifacts/old.pdf",
		"renders/old.pdf",
		"sources/live/assets/0",
		"sources/live/content.md",
		"sources/old/content.md",
		"sources/unknown/content.md",
	)
	k.pass(20 * day)
	k.add(t, keeper, "artifacts/new.pdf", "sources/new/content.md")
	k.pass(10*day - time.Minute)
	sweep(t, keeper)
	k.stored(
		t,
		"artifacts/new.pdf",
		"artifacts/old.pdf",
		"renders/old.pdf",
		"sources/live/assets/0",
		"sources/live/content.md",
		"sources/unknown/content.md",
	)
	k.add(t, keeper, "sources/fresh/content.md")
	k.pass(2 * time.Minute)
	sweep(t, keeper)
	k.stored(
		t,
		"artifacts/new.pdf",
		"sources/fresh/content.md",
		"sources/live/assets/0",
		"sources/live/content.md",
		"sources/unknown/content.md",
	)
	k.pass(time.Hour)
	sweep(t, keeper)
	k.stored(t, "artifacts/new.pdf", "sources/live/assets/0", "sources/live/content.md", "sources/unknown/content.md")

	if got, want := keeper.Counts(), (retention.Counts{Sweeps: 4, Expired: 5}); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
}

func TestSweepDeletesObjectsThatExpireEarly(t *testing.T) {
	t.Parallel()
	k := newKeeping(t, retention.Options{Retention: 30 * day})
	keeper := k.keeper()
	sweep(t, keeper) // has compared the index: from here it is trusted
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
	// No node recorded lost.pdf: the comparison with the store finds it.
	k.pass(9 * time.Minute)
	sweep(t, keeper)
	k.left(t, "artifacts/known.pdf", "artifacts/lost.pdf", "artifacts/stays.pdf")
	k.pass(2 * time.Minute)
	sweep(t, keeper)
	k.left(t, "artifacts/lost.pdf", "artifacts/stays.pdf")

	if n := k.rdb.ZCard(t.Context(), "pw:{keep}:until").Val(); n != 0 {
		t.Errorf("%d entries are left", n)
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
	k.stored(t, "artifacts/stays.pdf")
}

func TestSweepDeletesTheLeastRecentlyUsedUntilTheCapIsKept(t *testing.T) {
	t.Parallel()
	// The jobs live: their sources stay, and count all the same.
	k := newKeeping(
		t,
		retention.Options{MaxBytes: 80, Live: func(context.Context, string) (bool, error) { return true, nil }},
	)

	keeper := k.keeper()
	for _, key := range []string{"artifacts/a.pdf", "renders/b.pdf", "artifacts/c.pdf", "renders/d.pdf"} {
		k.add(t, keeper, key, "sources/"+key[len(key)-5:len(key)-4]+"/content.md")
		k.pass(time.Minute)
	}
	k.pass(2 * time.Hour)
	keeper.Touch("artifacts/a.pdf")
	sweep(t, keeper)
	k.stored(t, "artifacts/a.pdf", "artifacts/c.pdf", "renders/b.pdf", "renders/d.pdf",
		"sources/a/content.md", "sources/b/content.md", "sources/c/content.md", "sources/d/content.md")
	k.add(t, keeper, "artifacts/e.pdf", "artifacts/f.pdf")
	sweep(t, keeper)

	if got, want := keeper.Counts(), (retention.Counts{Sweeps: 2, Shrunk: 2}); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
	k.stored(t, "artifacts/a.pdf", "artifacts/e.pdf", "artifacts/f.pdf", "renders/d.pdf",
		"sources/a/content.md", "sources/b/content.md", "sources/c/content.md", "sources/d/content.md")
}

func TestTouchesSurviveAnOutage(t *testing.T) {
	t.Parallel()
	k := newKeeping(t, retention.Options{MaxBytes: 20})
	keeper := k.keeper()
	k.add(t, keeper, "artifacts/a.pdf")
	k.pass(time.Minute)
	k.add(t, keeper, "artifacts/b.pdf")
	k.pass(2 * time.Hour)
	keeper.Touch("artifacts/a.pdf")

	gone, cancel := context.WithCancel(t.Context())
	cancel()

	if err := keeper.Sweep(gone); err == nil {
		t.Error("a sweep without Redis succeeds")
	}
	k.add(t, keeper, "artifacts/c.pdf")
	sweep(t, keeper)
	k.stored(t, "artifacts/a.pdf", "artifacts/c.pdf")
}

func TestSizeCapKeepsYoungObjects(t *testing.T) {
	t.Parallel()
	k := newKeeping(t, retention.Options{MaxBytes: 10})
	keeper := k.keeper()
	sweep(t, keeper)
	k.add(t, keeper, "artifacts/old.pdf")
	k.pass(time.Hour)

	var young []string
	for n := range 250 { // more than one batch
		young = append(young, fmt.Sprintf("artifacts/young%03d.pdf", n))
	}
	k.add(t, keeper, young...)
	// Used last, and still the only one that may go.
	k.pass(time.Minute)
	keeper.Touch("artifacts/old.pdf")
	sweep(t, keeper)
	k.stored(t, young...)
}

func TestFullWhenNoObjectMayBeDeleted(t *testing.T) {
	t.Parallel()
	k := newKeeping(t, retention.Options{MaxBytes: 20})
	keeper := k.keeper()
	k.add(t, keeper, "artifacts/1.pdf", "artifacts/2.pdf")

	if err := keeper.Full(t.Context()); err != nil {
		t.Errorf("at the cap: got %v", err)
	}
	k.add(t, keeper, "artifacts/3.pdf")

	if err := keeper.Full(t.Context()); err != nil {
		t.Errorf("within a second the answer may be old, and should be: got %v", err)
	}
	k.pass(time.Second)

	if err := keeper.Full(t.Context()); fault.CodeOf(err) != fault.StoreFull {
		t.Errorf("over the cap and young: got %v, want store_full", err)
	}
	k.pass(time.Hour)

	if err := keeper.Full(t.Context()); err != nil {
		t.Errorf("a sweep can make room: got %v", err)
	}
	sweep(t, keeper)
	k.stored(t, "artifacts/2.pdf", "artifacts/3.pdf")
}

func (outage) Delete(context.Context, string) error { return errors.New("the store is away") }

func (outage) Health(context.Context) error { return errors.New("the store is away") }
