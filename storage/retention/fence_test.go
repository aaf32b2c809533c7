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

// copied returns a deployment on the same store with a copy of the Redis, as a restored
// backup is, and with the same clock.
func (k *keeping) copied(t *testing.T) *keeping {
	t.Helper()

	o, err := redis.ParseURL(redistest.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	c := &keeping{store: k.store, rdb: redis.NewClient(o), opts: k.opts}
	t.Cleanup(func() { c.rdb.Close() })

	for _, key := range k.rdb.Keys(t.Context(), "*").Val() {
		if err := c.rdb.Restore(t.Context(), key, 0, k.rdb.Dump(t.Context(), key).Val()).Err(); err != nil {
			t.Fatal(err)
		}
	}
	c.opts.Redis, c.opts.RedisName = c.rdb, "the copied Redis"

	return c
}

// begin starts a keeper whose next sweep comes after the end of the test.
func (k *keeping) begin(t *testing.T) error {
	t.Helper()
	keeper := k.keeper()
	t.Cleanup(func() { keeper.Stop(context.Background()) })

	return keeper.Start(t.Context())
}

func (k *keeping) has(t *testing.T, key string) bool {
	t.Helper()
	_, err := k.store.Stat(t.Context(), key)

	return err == nil
}

func TestARestoredRedisDoesNotDeleteWhatTheLiveDeploymentStored(t *testing.T) {
	t.Parallel()
	live := newKeeping(t, retention.Options{
		StoreName: "bucket a", RedisName: "the live Redis",
		Live: func(_ context.Context, job string) (bool, error) { return job == "new", nil },
	})
	keeper := live.keeper()
	sweep(t, keeper)
	drill := live.copied(t)
	drill.opts.Live = func(context.Context, string) (bool, error) { return false, nil }

	for range 3 {
		live.pass(time.Minute)
		sweep(t, keeper)
	}
	live.add(t, keeper, "sources/new/content.md", "artifacts/new.pdf")

	err := drill.begin(t)
	if err == nil {
		t.Fatal("a node of the drill started")
	}

	for i, want := range []string{"bucket a", "the live Redis", "the copied Redis", storage.Fence} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q is not in %q", want, err)
			}
		})
	}
	other := drill.keeper() // of a node that ran before

	for range 120 {
		live.pass(time.Minute)
		sweep(t, keeper)
		sweep(t, other)
	}
	live.left(t, "artifacts/new.pdf", "sources/new/content.md")

	if got := other.Counts(); got.Expired != 0 {
		t.Errorf("the drill counted %+v", got)
	}

	if err := live.begin(t); err != nil {
		t.Errorf("a further node of the live deployment: %v", err)
	}
}

func TestOneOfTwoCopiesOfARedisOwnsTheStore(t *testing.T) {
	t.Parallel()
	a := newKeeping(t, retention.Options{})
	var log strings.Builder
	a.opts.Log = slog.New(slog.NewTextHandler(&log, nil))
	first := a.keeper()
	sweep(t, first)
	b := a.copied(t) // and both go on at once
	second := b.keeper()

	for range 4 {
		a.pass(time.Minute)
		sweep(t, first)
		sweep(t, second)
	}

	if n := strings.Count(log.String(), "another deployment owns the store"); n < 2 || n > 4 {
		t.Errorf("%d of 8 sweeps found the other deployment; want those of one:\n%s", n, &log)
	}
}

func TestAStoreIsTakenOverWhenItsDeploymentHasEnded(t *testing.T) {
	t.Parallel()
	a, b := newKeeping(t, retention.Options{}), newKeeping(t, retention.Options{})
	b.store, b.opts.Store, b.opts.Now = a.store, a.store, a.opts.Now
	b.opts.Retention = time.Second
	first, second := a.keeper(), b.keeper()
	sweep(t, first) // its last
	a.add(t, first, "artifacts/kept.pdf")
	a.pass(time.Minute)
	sweep(t, second)

	for range 9 {
		if !a.has(t, "artifacts/kept.pdf") {
			t.Fatal("an artifact was deleted before the other deployment was seen to have ended")
		}
		a.pass(time.Minute)
		sweep(t, second)
	}
	a.pass(time.Minute)
	sweep(t, second)

	if a.has(t, "artifacts/kept.pdf") {
		t.Error("the store was not taken over")
	}

	a.opts.Now = time.Now // the clock of the store, which dates the fence
	if err := a.begin(t); err == nil {
		t.Error("a node of the former deployment started")
	}

	if err := b.begin(t); err != nil {
		t.Error(err)
	}
}

func TestARedisThatLostItsLastWritesOwnsItsStore(t *testing.T) {
	t.Parallel()
	k := newKeeping(t, retention.Options{Retention: time.Second})

	keeper := k.keeper()
	for range 3 {
		before := k.rdb.Dump(t.Context(), retention.FenceKey)
		sweep(t, keeper)

		if before.Err() == nil {
			if err := k.rdb.RestoreReplace(t.Context(), retention.FenceKey, 0, before.Val()).Err(); err != nil {
				t.Fatal(err)
			}
		}
		k.pass(time.Minute)
	}
	k.add(t, keeper, "artifacts/old.pdf")
	k.pass(time.Minute)
	sweep(t, keeper)
	k.stored(t)

	if err := k.begin(t); err != nil {
		t.Error(err)
	}
}

func TestNodesOnOneRedisWorkOnOneStore(t *testing.T) {
	t.Parallel()
	k := newKeeping(t, retention.Options{RedisName: "the Redis"})
	node := func(store storage.Store, name string) error {
		o := &keeping{store: k.store, rdb: k.rdb, opts: k.opts}
		o.opts.Store, o.opts.StoreName = store, name

		return o.begin(t)
	}

	var starts sync.WaitGroup
	for i := range 6 { // at once, by two addresses
		starts.Go(func() {
			if err := node(k.store, fmt.Sprint("bucket a ", i%2)); err != nil {
				t.Error(err)
			}
		})
	}
	starts.Wait()
	other := openDisk(t, t.TempDir())

	err := node(other, "bucket b")
	if err == nil {
		t.Fatal("a node with another store started")
	}

	for _, want := range []string{"bucket a", "bucket b", "the Redis"} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q is not in %q", want, err)
			}
		})
	}

	name := k.rdb.HGet(t.Context(), retention.FenceKey, "store").Val()
	if err := node(openDisk(t, t.TempDir()), name); err != nil {
		t.Errorf("the store was emptied: %v", err)
	}

	k.opts.Alone = true

	if err := node(openDisk(t, t.TempDir()), "folder c"); err != nil {
		t.Errorf("the only node changed its store: %v", err)
	}
	k.opts.Alone = false
	k.pass(11 * time.Minute)

	if err := node(other, "bucket b"); err != nil {
		t.Errorf("after the end of the others: %v", err)
	}
}

func TestDeploymentsMayShareARedisServer(t *testing.T) {
	t.Parallel()
	a := newKeeping(t, retention.Options{StoreName: "bucket a"})
	o := *a.rdb.Options()
	o.DB = 1
	b := &keeping{store: openDisk(t, t.TempDir()), rdb: redis.NewClient(&o), opts: a.opts}
	t.Cleanup(func() { b.rdb.Close() })

	b.opts.Redis, b.opts.Store, b.opts.StoreName = b.rdb, b.store, "bucket b"
	for _, k := range []*keeping{a, b} {
		if err := k.begin(t); err != nil {
			t.Error(err)
		}
	}
}

func TestAStoreHasOneFence(t *testing.T) {
	t.Parallel()
	k := newKeeping(t, retention.Options{})

	keeper := k.keeper()
	for range 5 {
		sweep(t, keeper)
		k.pass(time.Minute)
	}
	var fences []string

	for info, err := range k.store.List(t.Context(), storage.Fence) {
		if err != nil {
			t.Fatal(err)
		}
		fences = append(fences, info.Key)
	}

	if len(fences) != 1 || fences[0] != storage.Fence+"000000000005" {
		t.Errorf("the store has %q", fences)
	}
}

// full is a store without space.
type full struct{ storage.Store }

func (full) Put(context.Context, string, io.Reader, int64, storage.Attrs) (storage.Info, error) {
	return storage.Info{}, storage.ErrFull
}

func TestAStoreWithoutSpaceIsSwept(t *testing.T) {
	t.Parallel()
	k := newKeeping(t, retention.Options{})
	sweep(t, k.keeper()) // puts the fence
	k.opts.Store = full{k.store}
	keeper := k.keeper()
	k.add(t, keeper, "artifacts/old.pdf")
	k.pass(31 * day)
	sweep(t, keeper)

	if _, err := k.store.Stat(t.Context(), "artifacts/old.pdf"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("an expired object stayed in a full store: %v", err)
	}
}
