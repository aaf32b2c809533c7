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
		t.Errorf("the document was printed %d times, want once", n)
	}
}

// A retry of its task might be half a minute away.
func TestAJobContinuesWhenTheStoreIsBack(t *testing.T) {
	t.Parallel()

	for name, submit := range map[string]func(s *shop, id string) (runs int){
		"its source is in the store": func(s *shop, id string) int {
			s.submit(id, tasks.Convert{ContentKey: storage.SourceKey(id, id), Theme: "light"})
			return 1
		},
		"its source is in the task": func(s *shop, id string) int {
			s.submit(id, tasks.Convert{Content: "# x", Theme: "light"})
			return 1
		},
		"its theme is not chosen": func(s *shop, id string) int {
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
			if _, err := s.store.Put(
				t.Context(),
				storage.SourceKey(id, id),
				strings.NewReader("# x"),
				3,
				storage.Attrs{},
			); err != nil {
				t.Fatal(err)
			}
			s.store.away.Store(true)
			runs := submit(s, id)
			// Several tries of its task would be over by now.
			var began time.Time
			wait.Until(t, "the job runs", func() bool {
				rec, err := s.client.Job(t.Context(), id)
				if err == nil && rec.Status == presswork.Processing && began.IsZero() {
					began = time.Now()
				}

				return !began.IsZero() && time.Since(began) > 5*time.Second
			})
			s.store.away.Store(false)

			if rec := s.ended(id); rec.Status != presswork.Completed || len(rec.Workers) != runs {
				t.Errorf("the job is %s after %d runs, want %d: %v", rec.Status, len(rec.Workers), runs, rec.Error)
			}
		})
	}
}

func TestAJobWhoseSourceIsRefusedByAStoreThatWorksGivesItsSlotBack(t *testing.T) {
	t.Parallel()
	s := setup(t, wait.Patience)
	id := tasks.NewID()
	s.store.denied = storage.SourceKey(id, id)
	s.submit(id, tasks.Convert{ContentKey: s.store.denied, Theme: "light"})
	wait.Until(t, "the source was refused six times", func() bool { return s.store.refusals.Load() >= 6 })

	if rec, err := s.client.Job(t.Context(), id); err != nil || len(rec.Workers) < 2 {
		t.Errorf("all were of one run, in one slot: %v, %v", rec.Workers, err)
	}
}

// A result that is stored while Redis takes nothing is counted when it does, so that it goes
// when its time is over.
func TestAResultIsCountedWhenRedisTakesItAgain(t *testing.T) {
	t.Parallel()
	s := setup(t, wait.Patience)
	ctx, id := t.Context(), tasks.NewID()
	refused := func() (n int) {
		_, rest, _ := strings.Cut(s.index.Info(ctx, "errorstats").Val(), "errorstat_OOM:count=")
		fmt.Sscan(rest, &n)

		return n
	}
	s.store.afterPut = func(key string) {
		if key == storage.ArtifactKey(id) {
			s.index.ConfigSet(ctx, "maxmemory", "1")
		}
	}
	s.submit(id, tasks.Convert{Content: "# x", Theme: "light"})
	// By then everything that is sent only once has been sent: the page for the cache, the result and the end.
	wait.Until(t, "Redis has refused", func() bool { return refused() > 5 })
	s.index.ConfigSet(ctx, "maxmemory", "0")

	if rec := s.ended(id); rec.Status != presswork.Completed || rec.Attempts != 1 {
		t.Errorf("%+v", rec)
	}
	wait.Until(t, "the result is counted", func() bool {
		return s.index.HExists(ctx, "pw:{keep}:size", storage.ArtifactKey(id)).Val()
	})
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

// A store that is slow may take a result after its job was cancelled: the run
// waits for that, and deletes it then.
func TestLateObjectsOfACancelledJobAreDeleted(t *testing.T) {
	t.Parallel()
	s := setup(t, wait.Patience)
	id := tasks.NewID()
	sent, taken := make(chan struct{}), make(chan struct{})
	s.store.slowPut = func(ctx context.Context, key string) {
		if key != storage.ArtifactKey(id) {
			return
		}
		close(sent)

		select {
		case <-taken:
		case <-ctx.Done():
			t.Error("the try is broken off")
		}
	}
	s.submit(id, tasks.Convert{Content: "# slow", Theme: "light"})
	wait.Receive(t, "the result is sent", sent)

	if _, err := s.client.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	// Nothing says that the run knows of its end; a try that is broken off ends at once.
	time.AfterFunc(300*time.Millisecond, func() { close(taken) })
	wait.Until(t, "the run has ended", func() bool {
		return s.index.Exists(t.Context(), "asynq:{render}:active").Val() == 0
	})

	if s.stored(storage.ArtifactKey(id)) {
		t.Error("the artifact of a cancelled job is still stored")
	}
}
