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
		"a fault of the document is final": {fault.Errorf(fault.ContentTooComplex, "too deep"), 1, fault.ContentTooComplex},
		"an outage of the browser may heal, and ends as render_failed": {
			fault.Errorf(fault.BrowserUnavailable, "gone"), 2, fault.RenderFailed,
		},
		"an unclassified error is retried": {errors.New("secret detail"), 2, fault.Internal},
		"a handler must come to a result":  {nil, 2, fault.Internal},
		"a wrapped fault is found": {
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

			rec := b.finished(t, b.submit(t, submissionOf(t, once)))
			if rec.Status != presswork.Failed || rec.Attempts != c.attempts || rec.Error == nil ||
				rec.Error.Code != c.code {
				t.Fatalf("%s after %d attempts: %+v", rec.Status, rec.Attempts, rec.Error)
			}

			if msg := rec.Error.Message; msg == "" ||
				slices.Contains([]string{"secret detail", "panic: secret detail"}, msg) {
				t.Errorf("message %q", msg)
			}
			wait.Until(
				t,
				"nothing of the task remains",
				func() bool { return b.rdb.Exists(t.Context(), tasks.AsynqTask(tasks.Render, rec.ID)).Val() == 0 },
			)
		})
	}
}

var errPanic = errors.New("panic, please")

func TestADependencyOutageBurnsNoAttempt(t *testing.T) {
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
			return errors.New("the one try that may fail")
		}

		return complete(ctx, run, c)
	})
	id := b.submit(t, submissionOf(t, once))

	rec := b.finished(t, id)
	if rec.Status != presswork.Completed || rec.Attempts != 4 {
		t.Errorf("%s after %d attempts: %+v", rec.Status, rec.Attempts, rec.Error)
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

	rec := b.finished(t, b.submit(t, submissionOf(t, short)))
	if rec.Status != presswork.Failed || rec.Error.Code != fault.RenderTimeout || rec.Attempts != 1 {
		t.Errorf("%s: %+v", rec.Status, rec.Error)
	}
}

func TestUnreadablePayloadFailsAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	b.serve(t, tasks.Options{}, complete)
	s := submission(t)
	s.Task.Payload = []byte(`{"content":7}`)

	rec := b.finished(t, b.submit(t, s))
	if rec.Status != presswork.Failed || rec.Error.Code != fault.Internal || rec.Attempts != 1 {
		t.Errorf("%+v", rec)
	}
}

func TestOfTwoRunsOfOneTaskOneCompletes(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	begun, goOn := make(chan string, 2), []chan struct{}{make(chan struct{}), make(chan struct{})}
	outcomes := make(chan error, 2)
	srv := b.serve(t, tasks.Options{RenderSlots: 2}, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		begun <- run.ID
		<-goOn[run.Attempt-1]
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

	goOn[0] <- struct{}{}

	if err := wait.Receive(t, "the first outcome", outcomes); !errors.Is(err, tasks.ErrSuperseded) {
		t.Errorf("the first run: %v", err)
	}
	wait.Until(t, "the first run's end", func() bool { return srv.Active() == 1 })

	// Asynq writes the end of the first run only after Active has counted it.
	looks := 0
	wait.Until(t, "the task stays active for a while", func() bool {
		if n := b.rdb.LLen(ctx, tasks.AsynqActive(tasks.Render)).Val(); n != 1 {
			t.Fatal("the end of the first run took the task from the second")
		}
		looks++

		return looks == 20
	})
	goOn[1] <- struct{}{}

	if err := wait.Receive(t, "the second outcome", outcomes); err != nil {
		t.Errorf("the second run: %v", err)
	}
	terminal := 0

	for _, e := range b.events(t, id, 0) {
		if e.Status.Terminal() {
			terminal++
		}
	}

	if terminal != 1 {
		t.Errorf("%d terminal events", terminal)
	}
	wait.Until(
		t,
		"the task is done",
		func() bool { return b.rdb.Exists(ctx, tasks.AsynqTask(tasks.Render, id)).Val() == 0 },
	)
}

func TestSlotsAreSharedAndInteractiveGoesFirst(t *testing.T) {
	t.Parallel()

	b := setup(t, tasks.Options{})
	for range 40 {
		s := submission(t)
		s.Task = s.Task.On(tasks.Bulk)
		b.submit(t, s)
	}
	var running, most atomic.Int32
	begun, goOn := make(chan string, 100), make(chan struct{})
	b.serve(t, tasks.Options{RenderSlots: 2}, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		n := running.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		begun <- run.ID
		<-goOn
		running.Add(-1)

		return complete(ctx, run, c)
	})
	// Four slots, of which bulk has one: it leaves one of two tabs.
	wait.Receive(t, "a bulk job", begun)

	for range 3 {
		id := b.submit(t, submission(t))
		if got := wait.Receive(t, "the interactive job", begun); got != id {
			t.Errorf("%s began before the interactive job", got)
		}
	}
	// Every slot is taken: of what waits, the interactive job goes first.
	second := b.submit(t, submission(t))

	select {
	case id := <-begun:
		t.Fatalf("%s began without a slot", id)
	case <-time.After(1500 * time.Millisecond):
	}

	if got := b.job(t, second).QueuePosition; got == nil {
		t.Error("a job without a slot left the queue")
	}
	goOn <- struct{}{}

	if got := wait.Receive(t, "the next job", begun); got != second {
		t.Errorf("%s began before the waiting interactive job", got)
	}
	close(goOn)
	wait.Until(t, "all are done", func() bool {
		page, err := b.client.Jobs(
			t.Context(),
			"ann",
			tasks.Query{Limit: 100, Statuses: []presswork.Status{presswork.Completed}},
		)

		return err == nil && len(page.Records) == 44
	})

	if m := most.Load(); m > 4 {
		t.Errorf("%d ran at a time", m)
	}
}

func TestServerTakesHandledTasksOnly(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	s := b.server(t, tasks.Options{Queues: []tasks.Queue{tasks.Text, tasks.Infer}})
	tasks.Handle(s, tasks.ConvertPDF, complete)

	if err := s.Start(t.Context()); err == nil {
		t.Error("started with nothing to serve")
	}

	if _, err := tasks.NewServer(b.address, tasks.Options{Queues: []tasks.Queue{"rendr"}}); err == nil {
		t.Error("a queue that does not exist was accepted")
	}
	down := b.server(t, tasks.Options{})
	down.Stop(t.Context())

	gone, err := tasks.NewServer("unix:///nowhere/s", tasks.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tasks.Handle(gone, tasks.ConvertPDF, complete)
	wantCode(t, gone.Start(t.Context()), fault.QueueUnavailable)
	gone.Stop(t.Context())
}

// If the worker died now, nothing would be left of the task.
func TestTheTaskOfACompletedJobEndsWithIt(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	left := make(chan int64, 1)
	s := b.serve(t, tasks.Options{}, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		err := complete(ctx, run, c)
		left <- b.rdb.Exists(ctx,
			tasks.AsynqActive(tasks.Render), tasks.AsynqLease(tasks.Render), tasks.AsynqTask(tasks.Render, run.ID),
		).Val()

		return err
	})
	b.submit(t, submission(t))

	if n := <-left; n != 0 {
		t.Errorf("%d keys hold the task of a job that is completed", n)
	}

	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}

	if n := b.rdb.Get(t.Context(), tasks.AsynqKey(tasks.Render, "processed")).Val(); n != "1" {
		t.Errorf("%s runs are counted, want one", n)
	}
	// The dequeue is one removal, the end the other.
	if stats := b.rdb.Info(t.Context(), "commandstats").Val(); !strings.Contains(stats, "cmdstat_lrem:calls=2,") {
		t.Errorf("the end of the task was written again: %s", stats)
	}
}
