package tasks_test

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/internal/test/wait"
	"presswork/tasks"
)

// leaseOutage is a hook that fails the commands about leases during an outage. After the outage they wait until after
// is closed; nil means that they do not wait.
type leaseOutage struct {
	phase *atomic.Int64 // beforeOutage, duringOutage or afterOutage
	after <-chan struct{}

	failedReaps atomic.Int64 // lease checks that failed during the outage
	reaps       atomic.Int64 // lease checks that succeeded after it
	answered    atomic.Int64 // all commands about leases that succeeded after it
}

const (
	beforeOutage = iota
	duringOutage
	afterOutage
)

func (*leaseOutage) DialHook(next redis.DialHook) redis.DialHook { return next }

func (*leaseOutage) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// ProcessHook fails the renewal of leases during the outage.
func (o *leaseOutage) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		args, reap := cmd.Args(), isReap(cmd)
		if !reap && (len(args) < 4 || args[3] != tasks.AsynqLease(tasks.Render)) {
			return next(ctx, cmd)
		}

		phase := o.phase.Load()
		if phase == duringOutage {
			if reap { // not a command of Asynq itself
				o.failedReaps.Add(1)
			}
			cmd.SetErr(io.EOF)

			return io.EOF
		}

		if phase == afterOutage && o.after != nil {
			<-o.after
		}

		err := next(ctx, cmd)
		if phase == afterOutage && err == nil {
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
	idleConnected, done := make(chan struct{}), make(chan struct{})

	connectBusy := sync.OnceFunc(func() { close(idleConnected) })
	defer connectBusy()
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
	busy, idle := &leaseOutage{phase: &phase, after: idleConnected}, &leaseOutage{phase: &phase}
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
	phase.Store(duringOutage)
	wait.Until(t, "the idle worker notices the outage", func() bool { return idle.failedReaps.Load() > 0 })
	lease := tasks.AsynqLease(tasks.Render)
	id := b.rdb.ZRange(t.Context(), lease, 0, -1).Val()[0]
	b.rdb.ZAddXX(t.Context(), lease, redis.Z{Score: float64(time.Now().Unix()), Member: id})
	phase.Store(afterOutage)
	wait.Until(t, "the idle worker reaches Redis again", func() bool { return idle.answered.Load() > 0 })
	connectBusy()
	wait.Until(t, "the idle worker checks the leases", func() bool { return idle.reaps.Load() > 1 })
	close(done)

	b.wantCompleted(t, id, 1)
}
