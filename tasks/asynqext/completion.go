package asynqext

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Completion makes sure that Redis receives what Asynq writes at the end of a task. Asynq 0.26 repeats a failed
// write with a context that is already cancelled, so a finished task would run again after one lost packet. The
// hook repeats the write until the lease of the task ends.
//
// It also drops the write of a superseded run, because the task belongs to another run.
type Completion struct {
	log *slog.Logger

	// mu guards the fields below.
	mu sync.Mutex
	// dropped maps a task id to the numbers of the calls of Drop for it. Each call drops one end of the task.
	dropped map[string][]int
	// drops counts the calls of Drop.
	drops int
}

// The pauses between the repeats of a write double from firstRepeat to lastRepeat.
const (
	firstRepeat = 100 * time.Millisecond
	lastRepeat  = 2 * time.Second
)

// NewCompletion returns a Completion. Add its Hook to the client of Asynq's server.
func NewCompletion(log *slog.Logger) *Completion {
	return &Completion{log: log, dropped: map[string][]int{}}
}

// Hook returns the hook for the client of Asynq's server.
func (c *Completion) Hook() redis.Hook { return hook(c.process) }

// process repeats a script that ends a task until it succeeds or the lease expires.
func (c *Completion) process(ctx context.Context, cmd redis.Cmder, next redis.ProcessHook) error {
	id, ok := completedTask(cmd)
	if !ok {
		return next(ctx, cmd)
	}

	if c.useDrop(id) {
		return nil
	}

	err := c.retry(ctx, cmd, next)
	if err != nil && strings.Contains(err.Error(), "NOT FOUND") {
		// An earlier try has written the end and its reply was lost, or the task no longer exists.
		c.log.Debug("the end of a task was written already", "task_id", id)
		return nil
	}

	return err
}

// retry repeats the command during a network failure until the deadline of ctx, which is the end of the lease.
func (c *Completion) retry(ctx context.Context, cmd redis.Cmder, next redis.ProcessHook) error {
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(lastRepeat)
	}

	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	defer cancel()

	for wait := firstRepeat; ; wait = min(2*wait, lastRepeat) {
		err := next(ctx, cmd)
		if err == nil || !IsOutage(err) || time.Until(deadline) < wait {
			return err
		}
		time.Sleep(wait)
	}
}

// completedTask returns the task of a command that ends a run: done, complete, retry, archive or requeue. Only
// these scripts of Asynq name the active list and the lease of one queue and the task of their first argument. Our
// removeScript does as well, but it has three keys and each of Asynq's has at least four.
func completedTask(cmd redis.Cmder) (id string, ok bool) { return endedTask(scriptOf(cmd)) }

// endedTask is completedTask for the keys and arguments of a script.
func endedTask(keys []string, argv []any) (id string, ok bool) {
	if len(keys) < 4 || len(argv) == 0 {
		return "", false
	}
	// Retry and archive name the task before the lists.
	active := 0
	if !strings.HasSuffix(keys[0], "}:active") {
		active = 1
	}

	q, ok := queueOf(keys[active], "active")
	if !ok || keys[active+1] != leaseKey(q) {
		return "", false
	}
	id, ok = argv[0].(string)

	return id, ok && slices.Contains(keys[:4], taskKey(q, id))
}

// Drop prevents the next write of an end of this task.
func (c *Completion) Drop(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drops++
	c.dropped[id] = append(c.dropped[id], c.drops)
}

// Drops returns the number of calls of Drop so far. Pass it to Keep.
func (c *Completion) Drops() int {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.drops
}

// Keep cancels the drops of this task up to number drops, a result of Drops. Later drops stay.
func (c *Completion) Keep(id string, drops int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.setDropped(id, slices.DeleteFunc(c.dropped[id], func(n int) bool { return n <= drops }))
}

// useDrop reports whether this end of the task must not be written, and uses up one drop.
func (c *Completion) useDrop(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()

	if len(c.dropped[id]) == 0 {
		return false
	}
	c.setDropped(id, c.dropped[id][1:])

	return true
}

// setDropped replaces the drops of a task, and forgets the task without any. The caller holds the lock.
func (c *Completion) setDropped(id string, dropped []int) {
	if c.dropped[id] = dropped; len(dropped) == 0 {
		delete(c.dropped, id)
	}
}
