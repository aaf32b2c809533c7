package stream_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"presswork/internal/test/wait"
	"presswork/tasks/stream"
)

// TestARunThatLostItsCallEnds takes a run's call away after its context has ended
// for another reason: it must not retry its last write without end.
func TestARunThatLostItsCallEnds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.serve(t, func(ctx context.Context, run *stream.Run) error {
		if err := run.Send([]byte("begun")); err != nil {
			return err
		}
		<-ctx.Done()
		b.rdb.HSet(context.Background(), stream.CallKey(run.ID), "fence", "another run's")

		return context.Cause(ctx)
	})
	begun(t, b.call(t, stream.Call{}))
	stopped := make(chan struct{})

	go func() {
		s.stop()
		close(stopped)
	}()
	wait.Receive(t, "the server stops", stopped)
}

// outage fails every pipeline while away is set. After that it drops the renewals of waiters, as if they had
// expired.
type outage struct {
	rdb         redis.UniversalClient
	away, after atomic.Bool
	failed      atomic.Int64
	looks       atomic.Int64
}

// waiters are the keys of such counts that commands name.
func waiters(cmds ...redis.Cmder) (keys []string) {
	for _, cmd := range cmds {
		for _, arg := range cmd.Args() {
			if key := fmt.Sprint(arg); strings.HasSuffix(key, ":waiters") {
				keys = append(keys, key)
			}
		}
	}

	return keys
}

func (o *outage) forget(keys []string) {
	if len(keys) > 0 && o.after.Load() {
		o.looks.Add(1)
		o.rdb.Del(context.Background(), keys...)
	}
}

func (o *outage) DialHook(next redis.DialHook) redis.DialHook { return next }

func (o *outage) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		o.forget(waiters(cmd))
		return next(ctx, cmd)
	}
}

func (o *outage) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if o.away.Load() {
			o.failed.Add(int64(len(waiters(cmds...))))
			return errors.New("Redis is away")
		}
		o.forget(waiters(cmds...))

		return next(ctx, cmds)
	}
}

// TestCallsOutliveExpiredWaiters: during an outage of Redis, waiters cannot be renewed.
func TestCallsOutliveExpiredWaiters(t *testing.T) {
	t.Parallel()
	b := setup(t)
	proceed := make(chan struct{})
	s := b.worker(t)
	o := &outage{rdb: b.rdb}
	s.rdb.AddHook(o)
	b.start(t, s, 2, func(ctx context.Context, run *stream.Run) error {
		if err := run.Send([]byte("begun")); err != nil {
			return err
		}

		select {
		case <-proceed:
			return run.Finish([]byte("end"))
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	runs := b.call(t, stream.Call{})
	begun(t, runs)
	o.away.Store(true)
	wait.Until(t, "the worker looks in vain", func() bool { return o.failed.Load() > 0 })
	o.after.Store(true)
	o.away.Store(false)
	waits := b.call(t, stream.Call{})
	begun(t, waits)
	before := o.looks.Load()
	wait.Until(t, "the worker looks twice", func() bool { return o.looks.Load() >= before+2 })
	close(proceed)

	for _, a := range []*stream.Answer{runs, waits} {
		if got := whole(t, a); got != "end" {
			t.Errorf("got %q", got)
		}
	}
}
