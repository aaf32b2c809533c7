package tasks_test

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/internal/test/wait"
	"presswork/tasks"
)

// wrongClock is a go-redis hook that simulates a clock that is ahead by the given time. It shifts every number that looks
// like a current time, in commands of Asynq and of this project.
type wrongClock struct {
	ahead time.Duration
	reaps atomic.Int64 // number of lease checks
}

func (w *wrongClock) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessPipelineHook shifts the times in a pipeline.
func (w *wrongClock) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		for _, cmd := range cmds {
			w.shift(cmd)
		}

		return next(ctx, cmds)
	}
}

func (w *wrongClock) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		w.shift(cmd)
		return next(ctx, cmd)
	}
}

// isReap reports whether a command checks the leases of the render queue.
func isReap(cmd redis.Cmder) bool {
	args := cmd.Args()
	return len(args) > 5 && args[3] == tasks.AsynqActive(tasks.Render) && args[5] == tasks.AsynqPending(tasks.Render)
}

// shift changes all times in a command, as a machine with a wrong clock would send them.
func (w *wrongClock) shift(cmd redis.Cmder) {
	if isReap(cmd) {
		w.reaps.Add(1)
	}

	args := cmd.Args()
	for i, arg := range args {
		var n float64

		switch arg := arg.(type) {
		case int64:
			n = float64(arg)
		case float64:
			n = arg
		case string:
			n, _ = strconv.ParseFloat(arg, 64)
		}

		for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Nanosecond} {
			at := n * float64(unit)
			if off := time.Duration(at) - time.Duration(time.Now().UnixNano()); n != 0 && off.Abs() < time.Hour {
				args[i] = int64(n) + int64(w.ahead/unit)
			}
		}
	}
}

func TestJobsCompleteOnceDespiteAWrongClock(t *testing.T) {
	t.Parallel()

	for _, ahead := range []time.Duration{20 * time.Second, 5 * time.Minute, -20 * time.Second, -5 * time.Minute} {
		t.Run(ahead.String(), func(t *testing.T) {
			t.Parallel()
			b := setup(t, tasks.Options{})
			const each = 4 // render slots of a server; a queue has two more
			begun, proceed := make(chan string, 100), make(chan struct{})
			var ids []string
			var clocks []*wrongClock

			for _, by := range []time.Duration{0, ahead} {
				w := &wrongClock{ahead: by}
				clocks = append(clocks, w)
				s := b.server(t, tasks.Options{RenderSlots: each})
				s.AddHook(w)
				tasks.Handle(s, tasks.ConvertPDF, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
					begun <- run.ID

					select {
					case <-proceed:
						return complete(ctx, run, c)
					case <-ctx.Done():
						return context.Cause(ctx)
					}
				})

				if err := s.Start(t.Context()); err != nil {
					t.Fatal(err)
				}

				for range each + 2 {
					ids = append(ids, b.submit(t, submission(t)))
				}

				for range each + 2 {
					wait.Receive(t, "a run", begun)
				}
			}
			wait.Until(t, "both have checked the leases several times", func() bool {
				return clocks[0].reaps.Load() >= 12 && clocks[1].reaps.Load() >= 12
			})

			for _, id := range ids {
				before := float64(time.Now().Unix())

				until := b.rdb.ZScore(t.Context(), tasks.AsynqLease(tasks.Render), id).Val()

				after := float64(time.Now().Unix())
				if until < before+18 || until > after+31 { // the reaper renews a lease with 18 s left
					t.Errorf("job %s is leased for %.0f s, want 18 to 31", id, until-before)
				}
			}
			close(proceed)

			for _, id := range ids {
				b.wantCompleted(t, id, 1)
			}
		})
	}
}

func TestAWorkerWithAWrongClockIsCountedAndRetriesInTime(t *testing.T) {
	t.Parallel()

	for _, ahead := range []time.Duration{5 * time.Minute, -5 * time.Minute} {
		t.Run(ahead.String(), func(t *testing.T) {
			t.Parallel()
			b := setup(t, tasks.Options{})
			s := b.server(t, tasks.Options{})
			s.AddHook(&wrongClock{ahead: ahead})
			slow := tasks.ConvertPDF
			slow.Backoff = []time.Duration{10 * time.Minute}
			tasks.Handle(s, slow,
				func(context.Context, *tasks.Run, tasks.Convert) error { return errors.New("not this time") })

			if err := s.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			id := b.submit(t, submission(t))
			retry := tasks.AsynqKey(tasks.Render, "retry")
			wait.Until(t, "the job waits for its second try",
				func() bool { return b.rdb.ZCard(t.Context(), retry).Val() == 1 })

			in := time.Until(time.Unix(int64(b.rdb.ZScore(t.Context(), retry, id).Val()), 0))
			if in < 9*time.Minute || in > 12*time.Minute {
				t.Errorf("the second try is due in %s, want about 10m", in)
			}
			wait.Until(t, "the worker is counted", func() bool {
				n, err := b.client.Workers(t.Context())
				return err == nil && n == 1
			})
		})
	}
}
