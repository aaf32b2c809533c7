package tasks_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"presswork"
	"presswork/internal/test/wait"
	"presswork/tasks"
)

func TestStopWaitsForRunningJobs(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	begun, proceed := make(chan string, 10), make(chan struct{})
	s := b.serve(t, tasks.Options{RenderSlots: 1}, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		begun <- run.ID
		<-proceed

		return complete(ctx, run, c)
	})

	var ids []string
	for range 8 {
		ids = append(ids, b.submit(t, submission(t)))
	}
	running := []string{
		wait.Receive(t, "a run", begun),
		wait.Receive(t, "a run", begun),
		wait.Receive(t, "a run", begun),
	}

	stopped := make(chan error, 1)
	go func() { stopped <- s.Stop(context.Background()) }()
	wait.Until(t, "Stop has begun", func() bool {
		select {
		case err := <-stopped:
			t.Fatalf("Stop returned before the runs ended: %v", err)
		default:
		}

		return !s.Taking()
	})
	close(proceed)

	if err := wait.Receive(t, "Stop", stopped); err != nil {
		t.Fatal(err)
	}

	if err := s.Stop(t.Context()); err != nil {
		t.Errorf("second Stop: %v", err)
	}

	for _, id := range ids {
		want := presswork.Queued
		if slices.Contains(running, id) {
			want = presswork.Completed
		}

		if got := b.job(t, id).Status; got != want {
			t.Errorf("job %s is %s, want %s", id, got, want)
		}
	}
	b.serve(t, tasks.Options{}, complete)

	for _, id := range ids {
		b.wantCompleted(t, id, 1)
	}
}

func TestStopReturnsUnfinishedTasks(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	once := tasks.ConvertPDF
	once.Retries = 1
	id := b.submit(t, submissionOf(t, once))
	// More restarts than the job has retries: a stop does not use one up.
	for range 3 {
		begun := make(chan string, 1)
		s := b.serveKind(
			t,
			tasks.Options{DrainTimeout: 50 * time.Millisecond},
			once,
			func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
				begun <- run.ID
				<-ctx.Done()

				return context.Cause(ctx)
			},
		)
		wait.Receive(t, "the run", begun)

		if err := s.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}

		if rec := b.job(t, id); rec.Status != presswork.Processing {
			t.Fatalf("the job is %s, want processing", rec.Status)
		}
	}
	b.serveKind(t, tasks.Options{}, once, complete)

	b.wantCompleted(t, id, 4)
}

func TestStopAbandonsAHandlerThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	begun, proceed := make(chan string, 1), make(chan struct{})
	s := b.serve(t, tasks.Options{}, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		begun <- run.ID
		<-proceed

		return complete(context.WithoutCancel(ctx), run, c)
	})
	id := b.submit(t, submission(t))
	wait.Receive(t, "the run", begun)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	// Stop returns while the handler still runs. The handler may complete its job later.
	if err := s.Stop(ctx); err == nil {
		t.Error("Stop with a running handler: got nil, want an error")
	}
	close(proceed)

	b.waitForStatus(t, id, presswork.Completed)
}
