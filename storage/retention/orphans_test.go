package retention_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"testing"
	"time"

	"presswork/internal/fault"
	"presswork/storage"
	"presswork/storage/retention"
)

func TestSweepFindsObjectsOfACrashedProcess(t *testing.T) {
	t.Parallel()
	k := newDeployment(t, retention.Options{MaxBytes: 20})
	keeper := k.keeper()
	sweep(t, keeper) // compares the index with the store; the next comparison is a day later
	// A submission records three sources, stores two of them, and dies.
	for n := range 3 {
		key := storage.AssetKey("job", "request", fmt.Sprint(n))
		if err := keeper.Record(t.Context(), key, 10); err != nil {
			t.Fatal(err)
		}

		if n < 2 {
			put(t, k.store, key, "0123456789")
		}
	}

	if err := keeper.Full(t.Context()); fault.CodeOf(err) != fault.StoreFull {
		t.Errorf("sources over the cap: got %v, want store_full", err)
	}
	k.advance(time.Hour + time.Minute)
	sweep(t, keeper)
	k.wantObjects(t)

	if err := keeper.Full(t.Context()); err != nil {
		t.Errorf("after the sweep: %v", err)
	}
}

func TestKeeperDeletesTheSourcesOfAJob(t *testing.T) {
	t.Parallel()
	k := newDeployment(t, retention.Options{})
	keeper := k.keeper()
	k.add(t, keeper, "sources/one/a/content.md", "sources/one/b/assets/0", "sources/passing/one/c",
		"sources/other/a/content.md", "artifacts/one.pdf")

	for range 2 {
		if err := keeper.DeleteSources(t.Context(), "one"); err != nil {
			t.Fatal(err)
		}
	}
	k.wantObjects(t, "artifacts/one.pdf", "sources/other/a/content.md")
}

// undeletable is a store that cannot delete while unavailable is set.
type undeletable struct {
	storage.Store
	unavailable bool
}

func (s *undeletable) Delete(ctx context.Context, key string) error {
	if s.unavailable {
		return errors.New("the store is unavailable")
	}

	return s.Store.Delete(ctx, key)
}

func TestASweepRetriesFailedDeletes(t *testing.T) {
	t.Parallel()
	k := newDeployment(t, retention.Options{})
	s := &undeletable{Store: k.store, unavailable: true}
	k.opts.Store = s
	keeper := k.keeper()
	sweep(t, keeper) // compares the index with the store; the next comparison is a day later
	k.add(t, keeper, "sources/read/content.md", "artifacts/cancelled.pdf", "artifacts/other.pdf")

	if keeper.Delete(t.Context(), "sources/read/content.md") == nil ||
		keeper.Delete(t.Context(), "artifacts/cancelled.pdf") == nil {
		t.Error("Delete in an unavailable store succeeded")
	}
	s.unavailable = false
	k.advance(2 * time.Hour)
	sweep(t, keeper)
	k.wantObjects(t, "artifacts/cancelled.pdf", "artifacts/other.pdf")

	if err := keeper.Delete(t.Context(), "artifacts/cancelled.pdf"); err != nil {
		t.Fatal(err)
	}
	k.wantObjects(t, "artifacts/other.pdf")
}

func TestSweepRebuildsALostIndex(t *testing.T) {
	t.Parallel()
	k := newDeployment(t, retention.Options{MaxBytes: 5_000})
	keeper := k.keeper()
	sweep(t, keeper)

	var keys []string
	for n := range 250 {
		keys = append(keys, fmt.Sprintf("artifacts/%03d.pdf", n))
	}
	k.add(t, keeper, keys...)
	k.add(t, keeper, "sources/1/content.md")

	if err := k.rdb.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	k.add(t, keeper, "artifacts/after.pdf")
	sweep(t, keeper)
	k.wantObjects(t, append(keys, "artifacts/after.pdf", "sources/1/content.md")...)

	k.advance(31 * day)
	sweep(t, keeper)
	k.wantObjects(t)
}

// crowdedStore is a store that lists many renders. It measures how much the heap grows meanwhile.
type crowdedStore struct {
	storage.Store
	objects int
	grown   int64 // in bytes
}

// List lists a large number of objects, and measures how the memory grows meanwhile.
func (c *crowdedStore) List(ctx context.Context, prefix string) iter.Seq2[storage.Info, error] {
	if prefix != storage.Renders {
		return c.Store.List(ctx, prefix)
	}

	return func(yield func(storage.Info, error) bool) {
		before := heap()

		for n := range c.objects {
			if !yield(
				storage.Info{Key: storage.RenderKey(fmt.Sprintf("%064x", n)), Size: 10, Modified: time.Now()},
				nil,
			) {
				return
			}
		}
		c.grown = heap() - before
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)

	return int64(m.HeapAlloc)
}

// The test measures the heap, so it does not run in parallel.
func TestReconcileNeedsLittleMemory(t *testing.T) {
	k := newDeployment(t, retention.Options{})
	many := &crowdedStore{Store: k.store, objects: 60_000}
	k.opts.Store = many
	keeper := k.keeper()
	k.add(t, keeper, "renders/gone.pdf")

	if err := k.store.Delete(t.Context(), "renders/gone.pdf"); err != nil {
		t.Fatal(err)
	}
	sweep(t, keeper)

	if limit := int64(2 << 20); many.grown > limit {
		t.Errorf("comparing %d objects holds %d KB, want at most %d", many.objects, many.grown>>10, limit>>10)
	}
	k.wantIndex(t, many.objects, many.objects)
}

func TestSweepCallsLiveOncePerJob(t *testing.T) {
	t.Parallel()
	calls := 0
	k := newDeployment(
		t,
		retention.Options{Live: func(context.Context, string) (bool, error) { calls++; return true, nil }},
	)

	keeper := k.keeper()
	for n := range 250 {
		k.add(t, keeper, storage.AssetKey("job", "request", fmt.Sprint(n)))
	}
	k.advance(2 * time.Hour)
	sweep(t, keeper)

	if calls != 1 {
		t.Errorf("Live was called %d times, want once", calls)
	}
}

func TestPassingSourcesBelongToTheirJob(t *testing.T) {
	t.Parallel()
	live := map[string]bool{"waiting": true}
	k := newDeployment(
		t,
		retention.Options{Live: func(_ context.Context, job string) (bool, error) { return live[job], nil }},
	)
	keeper := k.keeper()
	k.add(t, keeper, storage.PassingKey("waiting", "request"))
	k.add(t, keeper, storage.PassingKey("ended", "request"))
	k.advance(2 * time.Hour)
	sweep(t, keeper)

	for job, want := range map[string]bool{"waiting": true, "ended": false} {
		t.Run(job, func(t *testing.T) {
			if _, err := k.store.Stat(t.Context(), storage.PassingKey(job, "request")); (err == nil) != want {
				t.Errorf("Stat of the source of the job: got %v, want it stored: %t", err, want)
			}
		})
	}
}

func TestReconcileForgetsDeletedObjects(t *testing.T) {
	t.Parallel()
	k := newDeployment(t, retention.Options{})
	keeper := k.keeper()
	k.add(t, keeper, "artifacts/1.pdf", "artifacts/2.pdf", "sources/2/content.md")

	for _, key := range []string{"artifacts/2.pdf", "sources/2/content.md"} {
		if err := k.store.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	sweep(t, keeper)
	k.wantObjects(t, "artifacts/1.pdf")

	if n := k.rdb.ZCard(t.Context(), "pw:{keep}:sources").Val(); n != 0 {
		t.Errorf("the index has %d sources, want none", n)
	}
	// An object that was never recorded is found by the comparison a day later.
	put(t, k.store, "artifacts/3.pdf", "0123456789")
	k.advance(25 * time.Hour)
	sweep(t, keeper)
	k.wantObjects(t, "artifacts/1.pdf", "artifacts/3.pdf")
}
