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
	k := newDeployment(t, retention.Options{MaxBytes: 1})
	keeper := k.keeper()
	k.add(t, keeper, "artifacts/1.pdf")
	k.advance(2 * time.Hour)

	if err := k.rdb.Set(t.Context(), "pw:{keep}:lock", "another", time.Hour).Err(); err != nil {
		t.Fatal(err)
	}
	sweep(t, keeper)
	k.wantObjects(t, "artifacts/1.pdf")

	if got := k.rdb.Get(t.Context(), "pw:{keep}:lock").Val(); got != "another" {
		t.Errorf("the lock is %q, want it kept by the other node", got)
	}

	if err := k.rdb.Del(t.Context(), "pw:{keep}:lock").Err(); err != nil {
		t.Fatal(err)
	}
	sweep(t, keeper)
	k.wantObjects(t)

	if n := k.rdb.Exists(t.Context(), "pw:{keep}:lock").Val(); n != 0 {
		t.Error("the lock was not released")
	}
}

func TestKeepersOfManyNodesShareOneIndex(t *testing.T) {
	t.Parallel()
	k := newDeployment(t, retention.Options{MaxBytes: 200, MinAge: time.Nanosecond})
	var wg sync.WaitGroup

	for node := range 4 {
		keeper := k.keeper()
		wg.Go(func() {
			for n := range 60 {
				k.advance(time.Millisecond)
				k.add(t, keeper, fmt.Sprintf("artifacts/%d-%d.pdf", node, n))

				if n%10 == 0 {
					sweep(t, keeper)
				}
			}
		})
	}
	wg.Wait()
	k.advance(time.Second)
	sweep(t, k.keeper())
	k.wantIndex(t, 20, 20)

	stored := 0
	for range k.store.List(t.Context(), storage.Artifacts) {
		stored++
	}

	if stored != 20 {
		t.Errorf("the store has %d objects, want 20", stored)
	}
}

// unavailableStore is a store whose Delete and Health fail.
type unavailableStore struct{ storage.Store }

func TestSweepKeepsEntriesDuringAnOutage(t *testing.T) {
	t.Parallel()
	k := newDeployment(t, retention.Options{MaxBytes: 1})
	k.add(t, k.keeper(), "artifacts/1.pdf")
	k.advance(2 * time.Hour)
	k.opts.Store = unavailableStore{k.store}

	keeper := k.keeper()
	if err := keeper.Sweep(t.Context()); err == nil {
		t.Error("a sweep during an outage succeeded")
	}

	if got, want := keeper.Counts(), (retention.Counts{Failed: 1}); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
	k.wantObjects(t, "artifacts/1.pdf")
	k.opts.Store = k.store
	sweep(t, k.keeper())
	k.wantObjects(t)
}

func TestKeeperSweepsUntilStop(t *testing.T) {
	t.Parallel()
	k := newDeployment(t, retention.Options{MaxBytes: 10, Interval: 5 * time.Millisecond})
	keeper := k.keeper()
	k.add(t, keeper, "artifacts/1.pdf", "artifacts/2.pdf")
	k.advance(2 * time.Hour)

	if err := keeper.Start(t.Context()); err != nil {
		t.Fatal(err)
	}

	wait.Until(t, "one object remains", func() bool {
		return k.rdb.HLen(t.Context(), "pw:{keep}:size").Val() == 1
	})

	for range 2 {
		if err := keeper.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
	k.wantObjects(t, "artifacts/2.pdf")
}
