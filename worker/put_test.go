package worker_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"presswork"
	"presswork/internal/test/wait"
	"presswork/storage"
	"presswork/tasks"
)

// If the store is unavailable or full for a while, the worker neither prints again nor uses up an attempt.
func TestAResultIsKeptUntilTheStoreAcceptsIt(t *testing.T) {
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

	rec := s.waitForEnd(id)
	if rec.Status != presswork.Completed || rec.Attempts != 1 || rec.Cached {
		t.Errorf("got %+v, want completed after one attempt", rec)
	}

	if n := s.printer.prints.Load(); n != 1 {
		t.Errorf("the document was printed %d times, want once", n)
	}
}

// The run waits for the store: a retry of its task would start up to half a minute later.
func TestAJobContinuesWhenTheStoreIsBack(t *testing.T) {
	t.Parallel()

	for name, submit := range map[string]func(s *harness, id string) (runs int){
		"its source is in the store": func(s *harness, id string) int {
			s.submit(id, tasks.Convert{ContentKey: storage.SourceKey(id, id), Theme: "light"})
			return 1
		},
		"its source is in the task": func(s *harness, id string) int {
			s.submit(id, tasks.Convert{Content: "# x", Theme: "light"})
			return 1
		},
		"its theme is not chosen": func(s *harness, id string) int {
			task, err := tasks.ChooseTheme.Task(tasks.Choice{
				Convert: tasks.Convert{ContentKey: storage.SourceKey(id, id), Theme: "light"}, Queue: tasks.Render,
			})
			if err != nil {
				s.t.Fatal(err)
			}

			if _, _, err := s.client.Submit(s.t.Context(), tasks.Submission{ID: id, Kind: presswork.KindConversion, Task: task}); err != nil {
				s.t.Fatal(err)
			}

			return 2 // the choice and the conversion
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setup(t, wait.Patience)

			id := tasks.NewID()

			_, err := s.store.Put(t.Context(), storage.SourceKey(id, id), strings.NewReader("# x"), 3, storage.Attrs{})
			if err != nil {
				t.Fatal(err)
			}
			s.store.unavailable.Store(true)
			runs := submit(s, id)
			// Wait for longer than several retries of the task would take.
			var started time.Time
			wait.Until(t, "the job runs", func() bool {
				rec, err := s.client.Job(t.Context(), id)
				if err == nil && rec.Status == presswork.Processing && started.IsZero() {
					started = time.Now()
				}

				return !started.IsZero() && time.Since(started) > 5*time.Second
			})
			s.store.unavailable.Store(false)

			if rec := s.waitForEnd(id); rec.Status != presswork.Completed || len(rec.Workers) != runs {
				t.Errorf("got %s after %d runs, want completed after %d: %v", rec.Status, len(rec.Workers), runs,
					rec.Error)
			}
		})
	}
}

func TestAnUnreadableSourceInAWorkingStoreReleasesTheSlot(t *testing.T) {
	t.Parallel()
	s := setup(t, wait.Patience)
	id := tasks.NewID()
	s.store.denied = storage.SourceKey(id, id)
	s.submit(id, tasks.Convert{ContentKey: s.store.denied, Theme: "light"})
	wait.Until(t, "six reads of the source have failed", func() bool { return s.store.refusals.Load() >= 6 })

	if rec, err := s.client.Job(t.Context(), id); err != nil || len(rec.Workers) < 2 {
		t.Errorf("got runs of %v, %v; want at least two, each with a slot for a short time", rec.Workers, err)
	}
}

// A result that is stored while Redis accepts no writes is counted later. An uncounted object would never expire.
func TestAResultIsCountedWhenRedisAcceptsWritesAgain(t *testing.T) {
	t.Parallel()
	s := setup(t, wait.Patience)
	ctx, id := t.Context(), tasks.NewID()
	rejected := func() (n int) {
		_, rest, _ := strings.Cut(s.index.Info(ctx, "errorstats").Val(), "errorstat_OOM:count=")
		fmt.Sscan(rest, &n)

		return n
	}
	s.store.afterPut = func(key string) {
		if key == storage.ArtifactKeyOf(id, "") {
			s.index.ConfigSet(ctx, "maxmemory", "1")
		}
	}
	s.submit(id, tasks.Convert{Content: "# x", Theme: "light"})
	// After five errors, every write that is not repeated has failed: for the cached page, the result and the end.
	wait.Until(t, "Redis has rejected several writes", func() bool { return rejected() > 5 })
	s.index.ConfigSet(ctx, "maxmemory", "0")

	if rec := s.waitForEnd(id); rec.Status != presswork.Completed || rec.Attempts != 1 {
		t.Errorf("got %+v, want completed after one attempt", rec)
	}
	wait.Until(t, "the result is counted", func() bool {
		return s.index.HExists(ctx, "pw:{keep}:size", storage.ArtifactKeyOf(id, "")).Val()
	})
}

func TestAJobThatWaitsForTheStoreCanBeCancelled(t *testing.T) {
	t.Parallel()
	s := setup(t, wait.Patience)
	writes := make(chan struct{}, 99)
	s.store.beforePut = func(string) error {
		writes <- struct{}{}
		return errors.New("connection refused")
	}
	id := tasks.NewID()
	s.submit(id, tasks.Convert{Content: "# x", Theme: "light"})
	wait.Receive(t, "a write of the result", writes)

	if _, err := s.client.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the run has ended", func() bool {
		return s.index.Exists(t.Context(), "asynq:{render}:active").Val() == 0
	})
}

// A slow store may accept a result after its job was cancelled. The run waits for that and then deletes the result.
func TestLateObjectsOfACancelledJobAreDeleted(t *testing.T) {
	t.Parallel()
	s := setup(t, wait.Patience)
	id := tasks.NewID()
	sending, accept := make(chan struct{}), make(chan struct{})
	s.store.slowPut = func(ctx context.Context, key string) {
		if key != storage.ArtifactKeyOf(id, "") {
			return
		}
		close(sending)

		select {
		case <-accept:
		case <-ctx.Done():
			t.Error("the write was interrupted")
		}
	}
	s.submit(id, tasks.Convert{Content: "# slow", Theme: "light"})
	wait.Receive(t, "the write of the result", sending)

	if _, err := s.client.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	// The test cannot see that the run knows of the cancellation, so it allows for 300 ms. An interrupted write would
	// end in that time.
	time.AfterFunc(300*time.Millisecond, func() { close(accept) })
	wait.Until(t, "the run has ended", func() bool {
		return s.index.Exists(t.Context(), "asynq:{render}:active").Val() == 0
	})

	if s.isStored(storage.ArtifactKeyOf(id, "")) {
		t.Error("the artifact of a cancelled job is still stored")
	}
}
