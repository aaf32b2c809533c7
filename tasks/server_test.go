package tasks_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/test/wait"
	"presswork/tasks"
)

func TestErrorsDecideWhetherAJobRunsAgain(t *testing.T) {
	t.Parallel()
	once := tasks.ConvertPDF
	once.Retries = 1
	once.Backoff = []time.Duration{10 * time.Millisecond}

	for name, c := range map[string]struct {
		err      error
		attempts int
		code     fault.Code
	}{
		"an error of the document is final": {fault.Errorf(fault.ContentTooComplex, "too deep"), 1, fault.ContentTooComplex},
		"an outage of the browser is retried, and fails as render_failed": {
			fault.Errorf(fault.BrowserUnavailable, "gone"), 2, fault.RenderFailed,
		},
		"an unclassified error is retried":      {errors.New("secret detail"), 2, fault.Internal},
		"a handler without a result is retried": {nil, 2, fault.Internal},
		"a wrapped error is final": {
			fmt.Errorf("x: %w", fault.Errorf(fault.RenderTimeout, "slow")), 1, fault.RenderTimeout,
		},
		"a panic is retried": {errPanic, 2, fault.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, tasks.Options{})
			b.serveKind(t, tasks.Options{}, once, func(context.Context, *tasks.Run, tasks.Convert) error {
				if errors.Is(c.err, errPanic) {
					panic("secret detail")
				}

				return c.err
			})

			rec := b.waitForEnd(t, b.submit(t, submissionOf(t, once)))
			if rec.Status != presswork.Failed || rec.Attempts != c.attempts || rec.Error == nil ||
				rec.Error.Code != c.code {
				t.Fatalf("got %s after %d attempts with %+v; want failed after %d with %s", rec.Status,
					rec.Attempts, rec.Error, c.attempts, c.code)
			}

			msg := rec.Error.Message
			if msg == "" || slices.Contains([]string{"secret detail", "panic: secret detail"}, msg) {
				t.Errorf("got message %q, want one without the secret detail", msg)
			}
			wait.Until(t, "nothing of the task remains",
				func() bool { return b.rdb.Exists(t.Context(), tasks.AsynqTask(tasks.Render, rec.ID)).Val() == 0 })
		})
	}
}

var errPanic = errors.New("the handler panics")

func TestADependencyOutageDoesNotUseUpARetry(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	once := tasks.ConvertPDF
	once.Retries = 1
	var runs atomic.Int32
	b.serveKind(t, tasks.Options{}, once, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		switch runs.Add(1) {
		case 1:
			return fault.Errorf(fault.StoreUnavailable, "down")
		case 3:
			return fault.Errorf(fault.BrowserUnavailable, "not here").
				WithCause(fmt.Errorf("%w: a full disk", fault.ErrUnfit))
		case 2:
			return errors.New("the only retry")
		}

		return complete(ctx, run, c)
	})
	id := b.submit(t, submissionOf(t, once))

	rec := b.waitForEnd(t, id)
	if rec.Status != presswork.Completed || rec.Attempts != 4 {
		t.Errorf("got %s after %d attempts with %+v; want completed after 4", rec.Status, rec.Attempts, rec.Error)
	}
}

func TestAJobThatTakesTooLongFailsWithTimeout(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	short := tasks.ConvertPDF
	short.Timeout = 100 * time.Millisecond
	b.serveKind(t, tasks.Options{}, short, func(ctx context.Context, _ *tasks.Run, _ tasks.Convert) error {
		<-ctx.Done()
		return ctx.Err()
	})

	rec := b.waitForEnd(t, b.submit(t, submissionOf(t, short)))
	if rec.Status != presswork.Failed || rec.Error.Code != fault.RenderTimeout || rec.Attempts != 1 {
		t.Errorf("got %s with %+v, want render_timeout after one attempt", rec.Status, rec.Error)
	}
}

func TestUnreadablePayloadFailsAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	b.serve(t, tasks.Options{}, complete)
	s := submission(t)
	s.Task.Payload = []byte(`{"content":7}`)

	rec := b.waitForEnd(t, b.submit(t, s))
	if rec.Status != presswork.Failed || rec.Error.Code != fault.Internal || rec.Attempts != 1 {
		t.Errorf("got %+v, want a job that failed internally after one attempt", rec)
	}
}

func TestOnlyOneOfTwoRunsCompletesATask(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	begun, proceed := make(chan string, 2), []chan struct{}{make(chan struct{}), make(chan struct{})}
	outcomes := make(chan error, 2)
	srv := b.serve(t, tasks.Options{RenderSlots: 2}, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		begun <- run.ID
		<-proceed[run.Attempt-1]
		err := complete(context.WithoutCancel(ctx), run, c)
		outcomes <- err

		return err
	})
	id := b.submit(t, submission(t))
	wait.Receive(t, "the first run", begun)
	// A reaper does this when it considers a slow worker dead.
	ctx := t.Context()
	b.rdb.LRem(ctx, tasks.AsynqActive(tasks.Render), 0, id)
	b.rdb.ZRem(ctx, tasks.AsynqLease(tasks.Render), id)
	b.rdb.RPush(ctx, tasks.AsynqPending(tasks.Render), id)
	wait.Receive(t, "the second run", begun)

	proceed[0] <- struct{}{}

	if err := wait.Receive(t, "the first outcome", outcomes); !errors.Is(err, tasks.ErrSuperseded) {
		t.Errorf("the first run ended with %v, want %v", err, tasks.ErrSuperseded)
	}
	wait.Until(t, "the first run's end", func() bool { return srv.Running() == 1 })

	// Asynq writes the end of the first run after Running has dropped, so look 20 times.
	looks := 0
	wait.Until(t, "the task stays active for a while", func() bool {
		if n := b.rdb.LLen(ctx, tasks.AsynqActive(tasks.Render)).Val(); n != 1 {
			t.Fatal("the end of the first run took the task from the second")
		}
		looks++

		return looks == 20
	})
	proceed[1] <- struct{}{}

	if err := wait.Receive(t, "the second outcome", outcomes); err != nil {
		t.Errorf("the second run ended with %v, want nil", err)
	}
	terminal := countTerminal(b.events(t, id, 0))

	if terminal != 1 {
		t.Errorf("got %d terminal events, want one", terminal)
	}
	wait.Until(t, "the task is done",
		func() bool { return b.rdb.Exists(ctx, tasks.AsynqTask(tasks.Render, id)).Val() == 0 })
}

func TestInteractiveJobsGetSlotsBeforeBulkJobs(t *testing.T) {
	t.Parallel()

	b := setup(t, tasks.Options{})
	for range 40 {
		s := submission(t)
		s.Task = s.Task.On(tasks.Bulk)
		b.submit(t, s)
	}
	var running, most atomic.Int32
	begun, proceed := make(chan string, 100), make(chan struct{})
	b.serve(t, tasks.Options{RenderSlots: 2}, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		n := running.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		begun <- run.ID
		<-proceed
		running.Add(-1)

		return complete(ctx, run, c)
	})
	// Two tabs make four slots. Bulk jobs get one of them.
	wait.Receive(t, "a bulk job", begun)

	for range 3 {
		id := b.submit(t, submission(t))
		if got := wait.Receive(t, "the interactive job", begun); got != id {
			t.Errorf("%s began before the interactive job", got)
		}
	}
	// Every slot is taken. The waiting interactive job gets the next one.
	waiting := b.submit(t, submission(t))

	select {
	case id := <-begun:
		t.Fatalf("%s began without a slot", id)
	case <-time.After(1500 * time.Millisecond):
	}

	if got := b.job(t, waiting).QueuePosition; got == nil {
		t.Error("the job has no queue position, want it to wait in the queue")
	}
	proceed <- struct{}{}

	if got := wait.Receive(t, "the next job", begun); got != waiting {
		t.Errorf("%s began before the waiting interactive job", got)
	}
	close(proceed)
	wait.Until(t, "all are done", func() bool {
		page, err := b.client.Jobs(t.Context(), "ann",
			tasks.Query{Limit: 100, Statuses: []presswork.Status{presswork.Completed}})

		return err == nil && len(page.Records) == 44
	})

	if m := most.Load(); m > 4 {
		t.Errorf("%d jobs ran at the same time, want at most 4", m)
	}
}

func TestServerTakesHandledTasksOnly(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	s := b.server(t, tasks.Options{Queues: []tasks.Queue{tasks.Text, tasks.Infer}})
	tasks.Handle(s, tasks.ConvertPDF, complete)

	if err := s.Start(t.Context()); err == nil {
		t.Error("Start of a server without a handler for its queues: got nil, want an error")
	}

	if _, err := tasks.NewServer(b.address, tasks.Options{Queues: []tasks.Queue{"rendr"}}); err == nil {
		t.Error("a queue that does not exist was accepted")
	}
	stopped := b.server(t, tasks.Options{})
	stopped.Stop(t.Context())

	unreachable, err := tasks.NewServer("unix:///nowhere/s", tasks.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tasks.Handle(unreachable, tasks.ConvertPDF, complete)
	wantCode(t, unreachable.Start(t.Context()), fault.QueueUnavailable)
	unreachable.Stop(t.Context())
}

// Otherwise a worker that dies here would leave the task of an ended job.
func TestCompletingAJobAlsoEndsItsTask(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	remaining := make(chan int64, 1)
	s := b.serve(t, tasks.Options{}, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		err := complete(ctx, run, c)
		remaining <- b.rdb.Exists(ctx,
			tasks.AsynqActive(tasks.Render), tasks.AsynqLease(tasks.Render), tasks.AsynqTask(tasks.Render, run.ID),
		).Val()

		return err
	})
	b.submit(t, submission(t))

	if n := <-remaining; n != 0 {
		t.Errorf("%d keys of the task remain, want none", n)
	}

	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}

	if n := b.rdb.Get(t.Context(), tasks.AsynqKey(tasks.Render, "processed")).Val(); n != "1" {
		t.Errorf("Asynq counts %s runs, want one", n)
	}
	// One LREM is from the dequeue, the other from the end.
	if stats := b.rdb.Info(t.Context(), "commandstats").Val(); !strings.Contains(stats, "cmdstat_lrem:calls=2,") {
		t.Errorf("the end of the task was written again: %s", stats)
	}
}
