package tasks_test

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/internal/test/wait"
	"presswork/tasks"
)

// leaseOutage is a hook through which leases are neither read nor renewed during an outage,
// and from then on not before after is closed.
type leaseOutage struct {
	// phase is 0 before the outage, 1 during it, and 2 since.
	phase *atomic.Int64
	// after is nil for at once.
	after <-chan struct{}
	// failed counts the looks for dead workers during the outage, reaps those that were
	// answered since, answered all commands that were.
	failed, reaps, answered atomic.Int64
}

func (*leaseOutage) DialHook(next redis.DialHook) redis.DialHook { return next }

func (*leaseOutage) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (o *leaseOutage) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		args, reap := cmd.Args(), isReap(cmd)
		if !reap && (len(args) < 4 || args[3] != tasks.AsynqLease(tasks.Render)) {
			return next(ctx, cmd)
		}

		phase := o.phase.Load()
		if phase == 1 {
			if reap { // Asynq looks at leases too
				o.failed.Add(1)
			}
			cmd.SetErr(io.EOF)

			return io.EOF
		}

		if phase == 2 && o.after != nil {
			<-o.after
		}

		err := next(ctx, cmd)
		if phase == 2 && err == nil {
			o.answered.Add(1)

			if reap {
				o.reaps.Add(1)
			}
		}

		return err
	}
}

func TestARunOutlivesAnOutageLongerThanItsLease(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	var phase atomic.Int64
	seen, done := make(chan struct{}), make(chan struct{})

	lookedAt := sync.OnceFunc(func() { close(seen) })
	defer lookedAt()
	begun := make(chan int, 9)
	handler := func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		begun <- run.Attempt

		select {
		case <-done:
		case <-ctx.Done():
		}

		return complete(ctx, run, c)
	}
	// The worker that runs the job reaches Redis after the other one.
	busy, idle := &leaseOutage{phase: &phase, after: seen}, &leaseOutage{phase: &phase}
	for _, o := range []*leaseOutage{busy, idle} {
		s := b.server(t, tasks.Options{})
		s.AddHook(o)
		tasks.Handle(s, tasks.ConvertPDF, handler)

		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}

		if o == busy {
			b.submit(t, submission(t))
			wait.Receive(t, "the run", begun)
		}
	}
	phase.Store(1)
	wait.Until(t, "the idle worker notices", func() bool { return idle.failed.Load() > 0 })
	lease := tasks.AsynqLease(tasks.Render)
	id := b.rdb.ZRange(t.Context(), lease, 0, -1).Val()[0]
	b.rdb.ZAddXX(t.Context(), lease, redis.Z{Score: float64(time.Now().Unix()), Member: id})
	phase.Store(2)
	wait.Until(t, "the idle worker is answered", func() bool { return idle.answered.Load() > 0 })
	lookedAt()
	wait.Until(t, "the idle worker looks for the dead", func() bool { return idle.reaps.Load() > 1 })
	close(done)

	if rec := b.finished(t, id); rec.Status != presswork.Completed || rec.Attempts != 1 {
		t.Errorf("%s after %d attempts", rec.Status, rec.Attempts)
	}
}
