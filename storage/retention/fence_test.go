package retention_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/internal/test/redistest"
	"presswork/storage"
	"presswork/storage/retention"
)

// withRestoredRedis returns a deployment on the same store and clock with a copy of the Redis, as from a
// restored backup.
func (k *deployment) withRestoredRedis(t *testing.T) *deployment {
	t.Helper()

	o, err := redis.ParseURL(redistest.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	c := &deployment{store: k.store, rdb: redis.NewClient(o), opts: k.opts}
	t.Cleanup(func() { c.rdb.Close() })

	for _, key := range k.rdb.Keys(t.Context(), "*").Val() {
		if err := c.rdb.Restore(t.Context(), key, 0, k.rdb.Dump(t.Context(), key).Val()).Err(); err != nil {
			t.Fatal(err)
		}
	}
	c.opts.Redis, c.opts.RedisName = c.rdb, "the copied Redis"

	return c
}

// startKeeper starts a keeper whose next sweep comes after the end of the test.
func (k *deployment) startKeeper(t *testing.T) error {
	t.Helper()
	keeper := k.keeper()
	t.Cleanup(func() { keeper.Stop(context.Background()) })

	return keeper.Start(t.Context())
}

func (k *deployment) has(t *testing.T, key string) bool {
	t.Helper()
	_, err := k.store.Stat(t.Context(), key)

	return err == nil
}

func TestARestoredRedisDoesNotDeleteWhatTheLiveDeploymentStored(t *testing.T) {
	t.Parallel()
	live := newDeployment(t, retention.Options{
		StoreName: "bucket a", RedisName: "the live Redis",
		Live: func(_ context.Context, job string) (bool, error) { return job == "new", nil },
	})
	keeper := live.keeper()
	sweep(t, keeper)
	drill := live.withRestoredRedis(t)
	drill.opts.Live = func(context.Context, string) (bool, error) { return false, nil }

	for range 3 {
		live.advance(time.Minute)
		sweep(t, keeper)
	}
	live.add(t, keeper, "sources/new/content.md", "artifacts/new.pdf")

	err := drill.startKeeper(t)
	if err == nil {
		t.Fatal("a node of the restored deployment started, want an error")
	}

	for _, want := range []string{"bucket a", "the live Redis", "the copied Redis", storage.Fence} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %q, want %q in it", err, want)
		}
	}
	other := drill.keeper() // a node that was running before, and so does not start

	for range 120 {
		live.advance(time.Minute)
		sweep(t, keeper)
		sweep(t, other)
	}
	live.wantStored(t, "artifacts/new.pdf", "sources/new/content.md")

	if got := other.Counts(); got.Expired != 0 {
		t.Errorf("the restored deployment counted %+v, want nothing expired", got)
	}

	if err := live.startKeeper(t); err != nil {
		t.Errorf("another node of the live deployment: got %v, want nil", err)
	}
}

func TestOneOfTwoCopiesOfARedisOwnsTheStore(t *testing.T) {
	t.Parallel()
	a := newDeployment(t, retention.Options{})
	var log strings.Builder
	a.opts.Log = slog.New(slog.NewTextHandler(&log, nil))
	first := a.keeper()
	sweep(t, first)
	b := a.withRestoredRedis(t) // both deployments sweep from here
	second := b.keeper()

	for range 4 {
		a.advance(time.Minute)
		sweep(t, first)
		sweep(t, second)
	}

	if n := strings.Count(log.String(), "another deployment owns the store"); n < 2 || n > 4 {
		t.Errorf("%d of 8 sweeps found another owner, want 2 to 4, those of one deployment:\n%s", n, &log)
	}
}

func TestAStoreIsTakenOverWhenItsDeploymentHasEnded(t *testing.T) {
	t.Parallel()
	a, b := newDeployment(t, retention.Options{}), newDeployment(t, retention.Options{})
	b.store, b.opts.Store, b.opts.Now = a.store, a.store, a.opts.Now
	b.opts.Retention = time.Second
	first, second := a.keeper(), b.keeper()
	sweep(t, first) // the last sweep of the first deployment
	a.add(t, first, "artifacts/kept.pdf")
	a.advance(time.Minute)
	sweep(t, second)

	for range 9 {
		if !a.has(t, "artifacts/kept.pdf") {
			t.Fatal("an artifact was deleted before the other deployment counted as ended")
		}
		a.advance(time.Minute)
		sweep(t, second)
	}
	a.advance(time.Minute)
	sweep(t, second)

	if a.has(t, "artifacts/kept.pdf") {
		t.Error("the artifact remains, want it deleted after the store was taken over")
	}

	a.opts.Now = time.Now // the store dates the fence with this clock
	if err := a.startKeeper(t); err == nil {
		t.Error("a node of the former deployment started, want an error")
	}

	if err := b.startKeeper(t); err != nil {
		t.Error(err)
	}
}

func TestARedisThatLostItsLastWritesStillOwnsItsStore(t *testing.T) {
	t.Parallel()
	k := newDeployment(t, retention.Options{Retention: time.Second})

	keeper := k.keeper()
	for range 3 {
		before := k.rdb.Dump(t.Context(), retention.FenceKey)
		sweep(t, keeper)

		if before.Err() == nil {
			if err := k.rdb.RestoreReplace(t.Context(), retention.FenceKey, 0, before.Val()).Err(); err != nil {
				t.Fatal(err)
			}
		}
		k.advance(time.Minute)
	}
	k.add(t, keeper, "artifacts/old.pdf")
	k.advance(time.Minute)
	sweep(t, keeper)
	k.wantObjects(t)

	if err := k.startKeeper(t); err != nil {
		t.Error(err)
	}
}

func TestNodesOfOneRedisMustUseOneStore(t *testing.T) {
	t.Parallel()
	k := newDeployment(t, retention.Options{RedisName: "the Redis"})
	// startNode starts a keeper of the same Redis on another store.
	startNode := func(store storage.Store, name string) error {
		o := &deployment{store: k.store, rdb: k.rdb, opts: k.opts}
		o.opts.Store, o.opts.StoreName = store, name

		return o.startKeeper(t)
	}

	var starts sync.WaitGroup
	for i := range 6 { // at the same time, with two names of the same store
		starts.Go(func() {
			if err := startNode(k.store, fmt.Sprint("bucket a ", i%2)); err != nil {
				t.Error(err)
			}
		})
	}
	starts.Wait()
	other := openDisk(t, t.TempDir())

	err := startNode(other, "bucket b")
	if err == nil {
		t.Fatal("a node with another store started, want an error")
	}

	for _, want := range []string{"bucket a", "bucket b", "the Redis"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %q, want %q in it", err, want)
		}
	}

	name := k.rdb.HGet(t.Context(), retention.FenceKey, "store").Val()
	if err := startNode(openDisk(t, t.TempDir()), name); err != nil {
		t.Errorf("an empty store of the same name: got %v, want nil", err)
	}

	k.opts.Alone = true

	if err := startNode(openDisk(t, t.TempDir()), "folder c"); err != nil {
		t.Errorf("the only node, with another store: got %v, want nil", err)
	}
	k.opts.Alone = false
	k.advance(11 * time.Minute)

	if err := startNode(other, "bucket b"); err != nil {
		t.Errorf("after the other nodes have ended: got %v, want nil", err)
	}
}

func TestDeploymentsMayShareARedisServer(t *testing.T) {
	t.Parallel()
	a := newDeployment(t, retention.Options{StoreName: "bucket a"})
	o := *a.rdb.Options()
	o.DB = 1
	b := &deployment{store: openDisk(t, t.TempDir()), rdb: redis.NewClient(&o), opts: a.opts}
	t.Cleanup(func() { b.rdb.Close() })

	b.opts.Redis, b.opts.Store, b.opts.StoreName = b.rdb, b.store, "bucket b"
	for _, k := range []*deployment{a, b} {
		if err := k.startKeeper(t); err != nil {
			t.Error(err)
		}
	}
}

func TestAStoreHasOneFence(t *testing.T) {
	t.Parallel()
	k := newDeployment(t, retention.Options{})

	keeper := k.keeper()
	for range 5 {
		sweep(t, keeper)
		k.advance(time.Minute)
	}
	var fences []string

	for info, err := range k.store.List(t.Context(), storage.Fence) {
		if err != nil {
			t.Fatal(err)
		}
		fences = append(fences, info.Key)
	}

	if len(fences) != 1 || fences[0] != storage.Fence+"000000000005" {
		t.Errorf("the store has the fences %q, want the fifth alone", fences)
	}
}

// fullStore is a store on which every Put fails with ErrFull.
type fullStore struct{ storage.Store }

func (fullStore) Put(context.Context, string, io.Reader, int64, storage.Attrs) (storage.Info, error) {
	return storage.Info{}, storage.ErrFull
}

func TestAFullStoreIsSwept(t *testing.T) {
	t.Parallel()
	k := newDeployment(t, retention.Options{})
	sweep(t, k.keeper()) // creates the fence
	k.opts.Store = fullStore{k.store}
	keeper := k.keeper()
	k.add(t, keeper, "artifacts/old.pdf")
	k.advance(31 * day)
	sweep(t, keeper)

	if _, err := k.store.Stat(t.Context(), "artifacts/old.pdf"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("Stat of an expired object: got %v, want %v", err, storage.ErrNotFound)
	}
}
