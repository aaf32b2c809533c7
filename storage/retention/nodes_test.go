package retention_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"presswork/internal/test/wait"
	"presswork/storage"
	"presswork/storage/retention"
)

func TestOneNodeSweepsAtATime(t *testing.T) {
	t.Parallel()
	k := newKeeping(t, retention.Options{MaxBytes: 1})
	keeper := k.keeper()
	k.add(t, keeper, "artifacts/1.pdf")
	k.pass(2 * time.Hour)

	if err := k.rdb.Set(t.Context(), "pw:{keep}:lock", "another", time.Hour).Err(); err != nil {
		t.Fatal(err)
	}
	sweep(t, keeper)
	k.stored(t, "artifacts/1.pdf")

	if got := k.rdb.Get(t.Context(), "pw:{keep}:lock").Val(); got != "another" {
		t.Errorf("the lock is now %q", got)
	}

	if err := k.rdb.Del(t.Context(), "pw:{keep}:lock").Err(); err != nil {
		t.Fatal(err)
	}
	sweep(t, keeper)
	k.stored(t)

	if n := k.rdb.Exists(t.Context(), "pw:{keep}:lock").Val(); n != 0 {
		t.Error("the lock was not given back")
	}
}

func TestKeepersOfManyNodesShareOneIndex(t *testing.T) {
	t.Parallel()
	k := newKeeping(t, retention.Options{MaxBytes: 200, MinAge: time.Nanosecond})
	var wg sync.WaitGroup

	for node := range 4 {
		keeper := k.keeper()
		wg.Go(func() {
			for n := range 60 {
				k.pass(time.Millisecond)
				k.add(t, keeper, fmt.Sprintf("artifacts/%d-%d.pdf", node, n))

				if n%10 == 0 {
					sweep(t, keeper)
				}
			}
		})
	}
	wg.Wait()
	k.pass(time.Second)
	sweep(t, k.keeper())
	k.indexed(t, 20, 20)

	left := 0
	for range k.store.List(t.Context(), storage.Artifacts) {
		left++
	}

	if left != 20 {
		t.Errorf("%d objects are stored", left)
	}
}

// outage is a store whose Delete and Health fail.
type outage struct{ storage.Store }

func TestSweepKeepsEntriesDuringAnOutage(t *testing.T) {
	t.Parallel()
	k := newKeeping(t, retention.Options{MaxBytes: 1})
	k.add(t, k.keeper(), "artifacts/1.pdf")
	k.pass(2 * time.Hour)
	k.opts.Store = outage{k.store}

	keeper := k.keeper()
	if err := keeper.Sweep(t.Context()); err == nil {
		t.Error("the sweep says nothing of the outage")
	}

	if got, want := keeper.Counts(), (retention.Counts{Failed: 1}); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
	k.stored(t, "artifacts/1.pdf")
	k.opts.Store = k.store
	sweep(t, k.keeper())
	k.stored(t)
}

func TestKeeperSweepsUntilStop(t *testing.T) {
	t.Parallel()
	k := newKeeping(t, retention.Options{MaxBytes: 10, Interval: 5 * time.Millisecond})
	keeper := k.keeper()
	k.add(t, keeper, "artifacts/1.pdf", "artifacts/2.pdf")
	k.pass(2 * time.Hour)

	if err := keeper.Start(t.Context()); err != nil {
		t.Fatal(err)
	}

	wait.Until(t, "one object is left", func() bool {
		return k.rdb.HLen(t.Context(), "pw:{keep}:size").Val() == 1
	})

	for range 2 {
		if err := keeper.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
	k.stored(t, "artifacts/2.pdf")
}
