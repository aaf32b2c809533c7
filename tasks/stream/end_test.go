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

// The run loses its call after its context has ended for another reason. It must not retry its last write forever.
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
	wantBegunFrame(t, b.call(t, stream.Call{}))
	stopped := make(chan struct{})

	go func() {
		s.stop()
		close(stopped)
	}()
	wait.Receive(t, "the server stops", stopped)
}

// outage is a hook that fails every pipeline while active is set. While expire is set, it deletes waiters before each
// command that reads them, as if they had expired.
type outage struct {
	rdb            redis.UniversalClient
	active, expire atomic.Bool
	failed         atomic.Int64 // reads of waiters that failed
	expired        atomic.Int64 // reads of waiters that found none
}

// waiterKeys returns the keys of waiters among the arguments of commands.
func waiterKeys(cmds ...redis.Cmder) (keys []string) {
	for _, cmd := range cmds {
		for _, arg := range cmd.Args() {
			if key := fmt.Sprint(arg); strings.HasSuffix(key, ":waiters") {
				keys = append(keys, key)
			}
		}
	}

	return keys
}

func (o *outage) expireWaiters(keys []string) {
	if len(keys) > 0 && o.expire.Load() {
		o.expired.Add(1)
		o.rdb.Del(context.Background(), keys...)
	}
}

func (o *outage) DialHook(next redis.DialHook) redis.DialHook { return next }

func (o *outage) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		o.expireWaiters(waiterKeys(cmd))
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook fails pipelines during the outage. Otherwise it first deletes waiters if expire is set.
func (o *outage) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if o.active.Load() {
			o.failed.Add(int64(len(waiterKeys(cmds...))))
			return errors.New("Redis is unavailable")
		}
		o.expireWaiters(waiterKeys(cmds...))

		return next(ctx, cmds)
	}
}

// Waiters cannot be renewed during an outage of Redis, so they may have expired after it.
func TestCallsSurviveExpiredWaiters(t *testing.T) {
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
	first := b.call(t, stream.Call{})
	wantBegunFrame(t, first)
	o.active.Store(true)
	wait.Until(t, "a check of the waiters fails", func() bool { return o.failed.Load() > 0 })
	o.expire.Store(true)
	o.active.Store(false)
	second := b.call(t, stream.Call{})
	wantBegunFrame(t, second)
	before := o.expired.Load()
	wait.Until(t, "the worker checks the waiters twice", func() bool { return o.expired.Load() >= before+2 })
	close(proceed)

	for _, a := range []*stream.Answer{first, second} {
		wantAnswer(t, a, "end")
	}
}
