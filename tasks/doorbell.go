package tasks

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// ringWait is how long one wait for the bell lasts, ± 20 %. It bounds how
	// old a dequeue's lease may be, which Asynq computes before the wait.
	ringWait = time.Second
	// deafWait is the time between two polls without BLMOVE.
	deafWait = 20 * time.Millisecond
	// pausedWait is how often a paused queue is looked at.
	pausedWait = 200 * time.Millisecond
	// outageWait is the brake that Asynq lacks when Redis does not answer.
	outageWait = 250 * time.Millisecond
)

// doorbell makes Asynq's polling wait for work instead. It is a go-redis hook
// that recognises Asynq's dequeue script. When the queue is empty it blocks on
// BLMOVE from the pending list's right end to the same end: that changes
// nothing and returns when something arrives. Pick-up takes a quarter of a
// millisecond and an idle queue costs one command a second.
//
// BLMOVE is a write, and where writes are synced it costs a sync of the disk. So
// Infer, where a caller waits for the first token, has a bell of its own: who
// issues a ticket publishes, and what was missed is found within a second.
//
// The dequeue is also where a task's slot is taken. Without a recognised script,
// or without BLMOVE, Asynq's own polling remains.
type doorbell struct {
	rdb redis.UniversalClient
	// blocking is a client of its own: a waiting connection serves nobody else.
	blocking redis.UniversalClient
	slots    *slots
	log      *slog.Logger
	// setAside removes a task that has just been dequeued and cannot be run.
	setAside func(q Queue, id string, why error)
	// ctx ends when the server stops taking tasks.
	ctx context.Context

	// empty holds the queues whose last dequeue found nothing.
	empty sync.Map
	// looked holds by queue when Redis last said what there is, or that there is
	// nothing.
	looked sync.Map
	// calls rings for Infer.
	calls chan struct{}
	// deaf: Redis refused BLMOVE.
	deaf atomic.Bool

	dequeues, rings atomic.Int64
}

func (d *doorbell) DialHook(next redis.DialHook) redis.DialHook { return next }

func (d *doorbell) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (d *doorbell) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if q, ok := dequeueOf(cmd); ok {
			d.dequeues.Add(1)
			return d.dequeue(ctx, cmd, q, next)
		}
		return next(ctx, cmd)
	}
}

// dequeueOf recognises Asynq's dequeue script by its keys: pending, paused,
// active, lease of one queue.
func dequeueOf(cmd redis.Cmder) (Queue, bool) {
	keys, _ := scriptOf(cmd)
	if len(keys) != 4 {
		return "", false
	}
	q, ok := queueOf(keys[0], "pending")
	return q, ok && keys[1] == asynqKey(q, "paused") && keys[2] == asynqActive(q) && keys[3] == asynqLease(q)
}

// scriptOf returns the keys and arguments of a script call.
func scriptOf(cmd redis.Cmder) (keys []string, argv []any) {
	args := cmd.Args()
	if name := cmd.Name(); (name != "evalsha" && name != "eval") || len(args) < 3 {
		return nil, nil
	}
	n, ok := args[2].(int)
	if !ok || n < 0 || len(args) < 3+n {
		return nil, nil
	}
	keys = make([]string, n)
	for i := range keys {
		if keys[i], ok = args[3+i].(string); !ok {
			return nil, nil
		}
	}
	return keys, args[3+n:]
}

// dequeue answers redis.Nil to Asynq, "the queue is empty", when within about a
// second there was no slot or no task.
func (d *doorbell) dequeue(ctx context.Context, cmd redis.Cmder, q Queue, next redis.ProcessHook) error {
	patience, cancel := context.WithTimeout(d.ctx, ringWait)
	defer cancel()
	rung := false
	for {
		if _, empty := d.empty.Load(q); empty && !d.deaf.Load() {
			if rung = d.wait(q); !rung {
				return redis.Nil
			}
			d.rings.Add(1)
			d.empty.Delete(q)
		}
		if !d.slots.acquire(patience, q) {
			return redis.Nil
		}
		err := d.take(ctx, cmd, q, next)
		if err == nil || errors.Is(err, redis.Nil) {
			d.looked.Store(q, time.Now())
		}
		if err == nil {
			d.slots.grant(q)
			return nil
		}
		d.slots.release(q)
		switch {
		case errors.Is(err, errUnfit):
			continue
		case redis.HasErrorPrefix(err, "NOSCRIPT"):
			// Asynq sends the script itself next.
			return err
		case !errors.Is(err, redis.Nil):
			d.sleep(outageWait)
			return err
		}
		d.empty.Store(q, struct{}{})
		switch {
		case d.deaf.Load():
			d.sleep(deafWait)
			return redis.Nil
		case rung && d.paused(ctx, q):
			d.sleep(pausedWait)
			return redis.Nil
		case patience.Err() != nil:
			return redis.Nil
		}
	}
}

// take dequeues: by our own script, which lets the owners take turns, except on
// Infer, where Asynq's own hands out tickets.
func (d *doorbell) take(ctx context.Context, cmd redis.Cmder, q Queue, next redis.ProcessHook) error {
	answer, ok := cmd.(*redis.Cmd)
	if q == Infer || !ok {
		return next(ctx, cmd)
	}
	_, argv := scriptOf(cmd)
	reply, err := dequeueScript.Run(ctx, d.rdb, []string{asynqPending(q), asynqKey(q, "paused"), asynqActive(q), asynqLease(q), turnRing(q)},
		argv[0], argv[1], turnPrefix(q)).Slice()
	if err != nil {
		answer.SetErr(err)
		return err
	}
	id, _ := reply[0].(string)
	message, _ := reply[1].(string)
	if why := unfit(q, id, message); why != nil {
		d.setAside(q, id, why)
		return errUnfit
	}
	answer.SetVal(message)
	return nil
}

// paused tells why the bell rang and yet there was nothing: a paused queue
// would ring for ever, while a quicker worker is no reason to wait.
func (d *doorbell) paused(ctx context.Context, q Queue) bool {
	n, err := d.blocking.Exists(ctx, asynqKey(q, "paused")).Result()
	return err != nil || n > 0
}

// wait blocks until the queue has something, for a second at most.
func (d *doorbell) wait(q Queue) bool {
	if d.ctx.Err() != nil {
		return false
	}
	seconds := ringWait.Seconds() * (0.8 + 0.4*rand.Float64())
	if q == Infer {
		select {
		case <-d.calls:
		case <-time.After(time.Duration(seconds * float64(time.Second))):
		case <-d.ctx.Done():
			return false
		}
		return true
	}
	err := d.blocking.Do(context.Background(), "blmove", asynqPending(q), asynqPending(q), "right", "right", seconds).Err()
	if errors.Is(err, redis.Nil) {
		d.looked.Store(q, time.Now())
	}
	switch {
	case err == nil:
		return true
	case errors.Is(err, redis.Nil) || d.ctx.Err() != nil:
		return false
	case isRefusal(err):
		d.deaf.Store(true)
		d.log.Warn("Redis refuses BLMOVE (it needs version 6.2): queues are polled instead", "err", err)
		return false
	}
	d.sleep(outageWait)
	return false
}

// hearCalls rings for Infer until ctx ends: at each ticket, and whenever the
// subscription stands anew, because some may have been missed.
func (d *doorbell) hearCalls(ctx context.Context, rdb redis.UniversalClient) {
	sub := rdb.Subscribe(ctx, callChannel)
	defer sub.Close()
	heard := sub.ChannelWithSubscriptions()
	for {
		select {
		case <-ctx.Done():
			return
		case _, open := <-heard:
			if !open {
				return
			}
		}
		select {
		case d.calls <- struct{}{}:
		default:
		}
	}
}

// isRefusal reports whether the server answered that it will not do this, as
// opposed to not answering, loading, or having no master.
func isRefusal(err error) bool {
	return redis.HasErrorPrefix(err, "ERR") || redis.HasErrorPrefix(err, "NOPERM")
}

func (d *doorbell) sleep(t time.Duration) {
	select {
	case <-time.After(t):
	case <-d.ctx.Done():
	}
}
