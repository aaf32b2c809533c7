package worker_test

import (
	"errors"
	"sync/atomic"
	"testing"

	"presswork"
	"presswork/internal/test/wait"
	"presswork/storage"
	"presswork/tasks"
)

// A store that is away or full for a while costs neither a second print nor a try.
func TestAResultIsKeptUntilTheStoreTakesIt(t *testing.T) {
	t.Parallel()
	s := setup(t, wait.Patience)
	var puts atomic.Int64
	s.store.beforePut = func(string) error {
		switch puts.Add(1) {
		case 1:
			return errors.New("connection refused")
		case 2:
			return storage.ErrFull
		}
		return nil
	}
	id := tasks.NewID()
	s.submit(id, tasks.Convert{Content: "# x", Theme: "light"})
	rec := s.ended(id)
	if rec.Status != presswork.Completed || rec.Attempts != 1 || rec.Cached {
		t.Errorf("%+v", rec)
	}
	if n := s.printer.prints.Load(); n != 1 {
		t.Errorf("it was printed %d times", n)
	}
}

// A run that waits for the store is ended by its job's cancellation.
func TestAJobThatWaitsForTheStoreCanBeCancelled(t *testing.T) {
	t.Parallel()
	s := setup(t, wait.Patience)
	asked := make(chan struct{}, 99)
	s.store.beforePut = func(string) error {
		asked <- struct{}{}
		return errors.New("connection refused")
	}
	id := tasks.NewID()
	s.submit(id, tasks.Convert{Content: "# x", Theme: "light"})
	wait.Receive(t, "the result is to be stored", asked)
	if _, err := s.client.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the run has ended", func() bool {
		return s.index.Exists(t.Context(), "asynq:{render}:active").Val() == 0
	})
}
