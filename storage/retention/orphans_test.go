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
	k := newKeeping(t, retention.Options{MaxBytes: 20})
	keeper := k.keeper()
	sweep(t, keeper) // has compared the index: the next comparison is a day away
	// A submission notes its sources, stores two of three, and dies.
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
	k.pass(time.Hour + time.Minute)
	sweep(t, keeper)
	k.stored(t)

	if err := keeper.Full(t.Context()); err != nil {
		t.Errorf("after the sweep: %v", err)
	}
}

func TestKeeperDeletesTheSourcesOfAJob(t *testing.T) {
	t.Parallel()
	k := newKeeping(t, retention.Options{})
	keeper := k.keeper()
	k.add(
		t,
		keeper,
		"sources/one/a/content.md",
		"sources/one/b/assets/0",
		"sources/passing/one/c",
		"sources/other/a/content.md",
		"artifacts/one.pdf",
	)

	for range 2 {
		if err := keeper.DeleteSources(t.Context(), "one"); err != nil {
			t.Fatal(err)
		}
	}
	k.stored(t, "artifacts/one.pdf", "sources/other/a/content.md")
}

// stubborn is a store that does not delete while away is set.
type stubborn struct {
	storage.Store
	away bool
}

func (s *stubborn) Delete(ctx context.Context, key string) error {
	if s.away {
		return errors.New("the store is away")
	}

	return s.Store.Delete(ctx, key)
}

func TestSweepDeletesLaterWhatDeleteCouldNot(t *testing.T) {
	t.Parallel()
	k := newKeeping(t, retention.Options{})
	s := &stubborn{Store: k.store, away: true}
	k.opts.Store = s
	keeper := k.keeper()
	sweep(t, keeper) // has compared the index: the next comparison is a day away
	k.add(t, keeper, "sources/read/content.md", "artifacts/cancelled.pdf", "artifacts/other.pdf")

	if keeper.Delete(t.Context(), "sources/read/content.md") == nil ||
		keeper.Delete(t.Context(), "artifacts/cancelled.pdf") == nil {
		t.Error("nothing was deleted, and nothing is said of that")
	}
	s.away = false
	k.pass(2 * time.Hour)
	sweep(t, keeper)
	k.stored(t, "artifacts/cancelled.pdf", "artifacts/other.pdf")

	if err := keeper.Delete(t.Context(), "artifacts/cancelled.pdf"); err != nil {
		t.Fatal(err)
	}
	k.stored(t, "artifacts/other.pdf")
}

func TestSweepRebuildsALostIndex(t *testing.T) {
	t.Parallel()
	k := newKeeping(t, retention.Options{MaxBytes: 5_000})
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
	k.stored(t, append(keys, "artifacts/after.pdf", "sources/1/content.md")...)

	k.pass(31 * day)
	sweep(t, keeper)
	k.stored(t)
}

// crowd is a store that lists many renders and then measures the heap.
type crowd struct {
	storage.Store
	objects int
	grown   int64
}

func (c *crowd) List(ctx context.Context, prefix string) iter.Seq2[storage.Info, error] {
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

// Not in parallel: it measures the heap.
func TestReconcileNeedsLittleMemory(t *testing.T) {
	k := newKeeping(t, retention.Options{})
	many := &crowd{Store: k.store, objects: 60_000}
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
	k.indexed(t, many.objects, many.objects)
}

func TestSweepCallsLiveOncePerJob(t *testing.T) {
	t.Parallel()
	asked := 0
	k := newKeeping(
		t,
		retention.Options{Live: func(context.Context, string) (bool, error) { asked++; return true, nil }},
	)

	keeper := k.keeper()
	for n := range 250 {
		k.add(t, keeper, storage.AssetKey("job", "request", fmt.Sprint(n)))
	}
	k.pass(2 * time.Hour)
	sweep(t, keeper)

	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}

func TestPassingSourcesBelongToTheirJob(t *testing.T) {
	t.Parallel()
	live := map[string]bool{"waiting": true}
	k := newKeeping(
		t,
		retention.Options{Live: func(_ context.Context, job string) (bool, error) { return live[job], nil }},
	)
	keeper := k.keeper()
	k.add(t, keeper, storage.PassingKey("waiting", "request"))
	k.add(t, keeper, storage.PassingKey("ended", "request"))
	k.pass(2 * time.Hour)
	sweep(t, keeper)

	for job, want := range map[string]bool{"waiting": true, "ended": false} {
		if _, err := k.store.Stat(t.Context(), storage.PassingKey(job, "request")); (err == nil) != want {
			t.Errorf("%s: %v", job, err)
		}
	}
}

func TestReconcileForgetsDeletedObjects(t *testing.T) {
	t.Parallel()
	k := newKeeping(t, retention.Options{})
	keeper := k.keeper()
	k.add(t, keeper, "artifacts/1.pdf", "artifacts/2.pdf", "sources/2/content.md")

	for _, key := range []string{"artifacts/2.pdf", "sources/2/content.md"} {
		if err := k.store.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	sweep(t, keeper)
	k.stored(t, "artifacts/1.pdf")

	if n := k.rdb.ZCard(t.Context(), "pw:{keep}:sources").Val(); n != 0 {
		t.Errorf("%d sources in the index", n)
	}
	// Stored, and never recorded: a day later it is found.
	put(t, k.store, "artifacts/3.pdf", "0123456789")
	k.pass(25 * time.Hour)
	sweep(t, keeper)
	k.stored(t, "artifacts/1.pdf", "artifacts/3.pdf")
}
