package tasks_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/test/wait"
	"presswork/tasks"
)

// A cancellation is sent as a message and written to the record. Either of them ends the run.
func TestCancelReachesARunningHandler(t *testing.T) {
	t.Parallel()

	for _, by := range []string{"the message", "the record", "both"} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			b := setup(t, tasks.Options{})
			begun, ended := make(chan *tasks.Run, 1), make(chan error, 1)
			b.serve(t, tasks.Options{}, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
				begun <- run
				<-ctx.Done()
				ended <- context.Cause(ctx)

				return ctx.Err()
			})
			id := b.submit(t, submission(t))
			run := wait.Receive(t, "the run", begun)

			switch by {
			case "the message":
				wait.Until(t, "the server receives the message",
					func() bool { return b.rdb.Publish(t.Context(), tasks.CancelChannel, id).Val() > 0 })
			case "the record":
				b.rdb.HSet(t.Context(), tasks.JobKey(id), "status", "cancelled")
			case "both":
				if _, err := b.client.Cancel(t.Context(), id); err != nil {
					t.Fatal(err)
				}
			}

			if cause := wait.Receive(t, "the handler's end", ended); !errors.Is(cause, tasks.ErrCancelled) {
				t.Errorf("the run ended with %v, want %v", cause, tasks.ErrCancelled)
			}

			if by == "the message" { // the record still says that the job runs
				return
			}

			if err := run.Complete(t.Context(), artifact(id), false); !errors.Is(err, tasks.ErrCancelled) {
				t.Errorf("Complete of a cancelled run: got %v, want ErrCancelled", err)
			}

			if err := run.Progress(t.Context(), presswork.StageDone, 100, ""); !errors.Is(err, tasks.ErrCancelled) {
				t.Errorf("Progress of a cancelled run: got %v, want ErrCancelled", err)
			}

			if rec := b.job(t, id); rec.Status != presswork.Cancelled || rec.Artifact != nil || rec.Attempts != 1 {
				t.Errorf("got %+v, want a cancelled job without an artifact after one attempt", rec)
			}
			wait.Until(t, "the task is done",
				func() bool { return b.rdb.Exists(t.Context(), tasks.AsynqTask(tasks.Render, id)).Val() == 0 })
		})
	}
}

func TestACancelledJobNeverCompletes(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	var completed sync.Map
	s := b.serve(t, tasks.Options{}, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		err := complete(ctx, run, c)
		if err == nil {
			completed.Store(run.ID, true)
		}

		return err
	})
	var ids []string
	cancelled := map[string]bool{}

	for i := range 150 {
		id := b.submit(t, submission(t))
		ids = append(ids, id)

		if i%3 == 0 {
			// After some round trips to Redis, the job is at another step.
			for range i / 20 {
				b.rdb.Ping(t.Context())
			}
		}

		_, err := b.client.Cancel(t.Context(), id)
		if err != nil {
			wantCode(t, err, fault.JobFinished)
		}
		cancelled[id] = err == nil
	}

	if err := s.Stop(t.Context()); err != nil { // after Stop, every run has ended
		t.Fatal(err)
	}

	for _, id := range ids {
		events := b.events(t, id, 0)
		rec := b.job(t, id)

		_, won := completed.Load(id)
		if cancelled[id] == (rec.Status == presswork.Completed) || cancelled[id] && (won || rec.Artifact != nil) {
			t.Errorf("cancelled: %v, completed by the run: %v, but the job is %s", cancelled[id], won, rec.Status)
		}
		terminal := countTerminal(events)

		if terminal != 1 {
			t.Errorf("got %d terminal events, want one", terminal)
		}
	}
}
