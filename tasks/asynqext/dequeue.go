package asynqext

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/redis/go-redis/v9"
)

const (
	// DequeueWait is how long a dequeue waits for a task, ± 20 %. Asynq computes the lease before the wait, so a
	// new lease is shorter by up to this time.
	DequeueWait = time.Second
	// pollWait is the time between two polls without BLMOVE.
	pollWait = 20 * time.Millisecond
	// pausedWait is the time between two polls of a paused queue.
	pausedWait = 200 * time.Millisecond
	// outageWait is the pause after an error of Redis. Asynq itself would retry at once.
	outageWait = 250 * time.Millisecond
)

// Slots limits how many dequeued tasks run.
type Slots interface {
	// Acquire takes a slot for a task of this queue. It waits until ctx ends, and reports whether it got a slot.
	Acquire(ctx context.Context, q Queue) bool
	// Grant leaves an acquired slot to the handler of the task just dequeued.
	Grant(q Queue)
	// Release releases an acquired slot.
	Release(q Queue)
}

// DequeueOptions configure a Dequeuer. All fields except Announced and Begin are mandatory.
type DequeueOptions struct {
	// Redis is the client that the hook is added to. It also runs our dequeue script.
	Redis redis.UniversalClient
	// Blocking is a separate client: a waiting connection serves no other command. Its read time-out must exceed
	// DequeueWait by a fifth.
	Blocking redis.UniversalClient
	Slots    Slots
	// SetAside removes a task that has just been dequeued and cannot be run.
	SetAside func(q Queue, id string, why error)
	// Announced maps queues to the Channel in the Turn of their tasks. The dequeuer waits for messages on it
	// instead of BLMOVE. These queues have all tiers. Nil for none.
	Announced map[Queue]string
	// Begin runs together with each dequeue; nil for none.
	Begin *Begin
	// Log gets a warning when Redis refuses BLMOVE.
	Log *slog.Logger
}

// Begin is a Lua function that a dequeue also runs, in one round trip and one sync of the disk. The function
// computes the keys that it touches, so Begin cannot be used on a Redis Cluster.
type Begin struct {
	// Lua is the body of a function with the parameters id (of the task), type (of the task) and argv.
	Lua string
	// Argv is called before each dequeue with its nonce. When the response to a dequeue is lost, Argv may be
	// called again with the same nonce for the same task. begun gets the id of the dequeued task and the table
	// that the function returned, if any. When the function fails, its earlier writes stay.
	Argv func(nonce string) (argv []any, begun func(id string, answer []any))
}

// Dequeuer makes Asynq wait for work instead of polling. Its hook recognises Asynq's dequeue script. When the
// queue is empty, the hook blocks on BLMOVE from the right end of the pending list to the same end. That changes
// nothing and returns when a task arrives. A task is picked up within a quarter of a millisecond, and an idle
// queue costs one command a second.
//
// BLMOVE is a write: with appendfsync always it costs a sync of the disk. The queues of calls, whose callers wait
// for the first token, therefore have announcements. The enqueue publishes a message. If the message is lost, the
// dequeuer finds the task within about a second.
//
// The dequeue also takes the slot of the task. Without a recognised script or without BLMOVE, Asynq polls as
// usual.
type Dequeuer struct {
	o DequeueOptions
	// ctx ends when the dequeuer must take no more tasks.
	ctx context.Context

	// empty is the set of queues whose last dequeue found nothing.
	empty sync.Map
	// polled maps each queue to the time when Redis last answered a poll of it.
	polled sync.Map
	// announcements receive the messages of the announced queues.
	announcements map[Queue]chan struct{}
	// unsupported is set once Redis has refused BLMOVE.
	unsupported atomic.Bool
	// script is dequeueLua with the function of DequeueOptions.Begin.
	script *redis.Script

	// process is the name of this Dequeuer in Redis.
	process string
	// unanswered maps a queue to the nonce of a dequeue whose answer was lost. The next dequeue repeats it.
	unanswered sync.Map
}

// NewDequeuer returns a Dequeuer that takes tasks until ctx ends. Add its Hook to the client of Asynq's servers,
// and run Listen for each announced queue.
func NewDequeuer(ctx context.Context, o DequeueOptions) *Dequeuer {
	lua := "local begin\n" + dequeueLua
	if o.Begin != nil {
		lua = "local function begin(id, type, argv)\n" + o.Begin.Lua + "\nend\n" + dequeueLua
	}

	d := &Dequeuer{
		o:             o,
		ctx:           ctx,
		announcements: map[Queue]chan struct{}{},
		script:        redis.NewScript(lua),
		process:       ulid.Make().String(),
	}
	for q := range o.Announced {
		d.announcements[q] = make(chan struct{}, 1)
	}

	return d
}

// Hook returns the hook for the client of Asynq's servers. Each server has one queue.
func (d *Dequeuer) Hook() redis.Hook {
	return hook(func(ctx context.Context, cmd redis.Cmder, next redis.ProcessHook) error {
		if q, ok := dequeueOf(cmd); ok {
			return d.dequeue(ctx, cmd, q, next)
		}

		return next(ctx, cmd)
	})
}

// MarkPolled records that a queue was polled now. The server calls it at the start.
func (d *Dequeuer) MarkPolled(q Queue) { d.polled.Store(q, time.Now()) }

// LastPolls returns when each queue was last polled.
func (d *Dequeuer) LastPolls() map[Queue]time.Time {
	polls := map[Queue]time.Time{}
	d.polled.Range(func(q, at any) bool {
		polls[q.(Queue)] = at.(time.Time)
		return true
	})

	return polls
}

// dequeueOf returns the queue of a command that is Asynq's dequeue script. Its keys are pending, paused, active
// and lease of one queue.
func dequeueOf(cmd redis.Cmder) (Queue, bool) {
	keys, _ := scriptOf(cmd)
	if len(keys) != 4 {
		return "", false
	}
	q, ok := queueOf(keys[0], "pending")

	return q, ok && keys[1] == pausedKey(q) && keys[2] == activeKey(q) && keys[3] == leaseKey(q)
}

// dequeue runs a dequeue of Asynq. It answers redis.Nil ("the queue is empty") when there was no slot or no task
// within about a second. Each round has these steps:
//  1. If the last dequeue found the queue empty, wait until it may have a task.
//  2. Acquire a slot. It is released unless a task is taken.
//  3. Take a task. If none is there, remember that the queue is empty.
func (d *Dequeuer) dequeue(ctx context.Context, cmd redis.Cmder, q Queue, next redis.ProcessHook) error {
	slotWait, cancel := context.WithTimeout(d.ctx, DequeueWait)
	defer cancel()
	woken := false // whether a wait has shown that the queue may have a task

	for {
		if _, empty := d.empty.Load(q); empty && !d.unsupported.Load() {
			if woken = d.wait(q); !woken {
				return redis.Nil
			}
			d.empty.Delete(q)
		}

		if !d.o.Slots.Acquire(slotWait, q) {
			return redis.Nil
		}

		err := d.take(ctx, cmd, q, next)
		if err == nil || errors.Is(err, redis.Nil) {
			d.MarkPolled(q)
		}

		if err == nil {
			d.o.Slots.Grant(q)
			return nil
		}
		d.o.Slots.Release(q)

		switch {
		case errors.Is(err, errUnfit):
			continue
		case redis.HasErrorPrefix(err, "NOSCRIPT"):
			// Asynq sends the whole script next.
			return err
		case !errors.Is(err, redis.Nil):
			d.sleep(outageWait)
			return err
		}
		d.empty.Store(q, struct{}{})

		switch {
		case d.unsupported.Load():
			d.sleep(pollWait)
			return redis.Nil
		case woken && d.isPaused(ctx, q):
			d.sleep(pausedWait)
			return redis.Nil
		case slotWait.Err() != nil:
			return redis.Nil
		}
	}
}

// take dequeues by our own script, in which owners take turns, and stores the result in Asynq's command. It returns
// errUnfit when the task cannot be run; SetAside has removed it then.
func (d *Dequeuer) take(ctx context.Context, cmd redis.Cmder, q Queue, next redis.ProcessHook) error {
	answer, ok := cmd.(*redis.Cmd)
	if !ok {
		return next(ctx, cmd)
	}
	_, argv := scriptOf(cmd)
	nonce, _ := d.unanswered.LoadOrStore(q, ulid.Make().String())
	argv = []any{argv[0], argv[1], waitlistPrefix(q), nonce}
	begun := func(string, []any) {}

	if d.o.Begin != nil {
		var more []any
		more, begun = d.o.Begin.Argv(nonce.(string))
		argv = append(argv, more...)
	}

	// The order of the keys is that of dequeueLua.
	keys := []string{
		pendingKey(q), pausedKey(q), activeKey(q), leaseKey(q), ringKey(q), runningKey(q), takenKey(q, d.process),
	}
	if d.announcements[q] != nil {
		keys = append(keys, urgentRing(q), flexRing(q))
	}

	reply, err := d.script.Run(ctx, d.o.Redis, keys, argv...).Slice()
	if err == nil || errors.Is(err, redis.Nil) {
		d.unanswered.Delete(q)
	}

	if err != nil {
		answer.SetErr(err)
		return err
	}
	id, _ := reply[0].(string)

	message, _ := reply[1].(string)
	if why := whyUnfit(q, id, message); why != nil {
		d.o.SetAside(q, id, why)
		return errUnfit
	}

	if len(reply) > 2 {
		begunAnswer, _ := reply[2].([]any)
		begun(id, begunAnswer)
	}
	answer.SetVal(message)

	return nil
}

// isPaused reports whether the queue may be paused. A wait on a paused queue returns at once although no task can be
// taken, so the dequeuer must pause. A wait also returns without a task when another worker was quicker.
func (d *Dequeuer) isPaused(ctx context.Context, q Queue) bool {
	n, err := d.o.Blocking.Exists(ctx, pausedKey(q)).Result()
	return err != nil || n > 0
}

// wait blocks until the queue may have a task, for about a second at most. It reports whether it may have one.
func (d *Dequeuer) wait(q Queue) bool {
	if d.ctx.Err() != nil {
		return false
	}
	seconds := DequeueWait.Seconds() * (0.8 + 0.4*rand.Float64())

	if announcements := d.announcements[q]; announcements != nil {
		select {
		case <-announcements:
		case <-time.After(time.Duration(seconds * float64(time.Second))):
			return d.hasMissedTask(q)
		case <-d.ctx.Done():
			return false
		}

		return true
	}

	err := d.o.Blocking.Do(context.Background(), "blmove", pendingKey(q), pendingKey(q), "right", "right", seconds).
		Err()
	if errors.Is(err, redis.Nil) {
		d.MarkPolled(q)
	}

	switch {
	case err == nil:
		return true
	case errors.Is(err, redis.Nil) || d.ctx.Err() != nil:
		return false
	case isRefusal(err):
		d.unsupported.Store(true)
		d.o.Log.Warn("Redis refuses BLMOVE (it needs version 6.2): queues are polled instead", "err", err)

		return false
	}
	d.sleep(outageWait)

	return false
}

// hasMissedTask reports whether an announced queue may have a task whose message was lost.
func (d *Dequeuer) hasMissedTask(q Queue) bool {
	n, err := d.o.Redis.Exists(d.ctx, pendingKey(q)).Result()
	if err == nil && n == 0 {
		d.MarkPolled(q)
		return false
	}

	return d.ctx.Err() == nil
}

// Listen receives the announcements of a queue until ctx ends. Each announcement ends a wait. A new subscription also
// ends a wait, because announcements may have been lost.
func (d *Dequeuer) Listen(ctx context.Context, q Queue) {
	sub := d.o.Redis.Subscribe(ctx, d.o.Announced[q])
	defer sub.Close()
	announced := sub.ChannelWithSubscriptions()

	for {
		select {
		case <-ctx.Done():
			return
		case _, open := <-announced:
			if !open {
				return
			}
		}

		select {
		case d.announcements[q] <- struct{}{}:
		default:
		}
	}
}

// isRefusal reports whether the server refuses the command for good. It returns false when the server does not
// answer, is loading, or has no master.
func isRefusal(err error) bool {
	return redis.HasErrorPrefix(err, "ERR") || redis.HasErrorPrefix(err, "NOPERM")
}

// sleep waits, but not longer than the dequeuer may take tasks.
func (d *Dequeuer) sleep(t time.Duration) {
	select {
	case <-time.After(t):
	case <-d.ctx.Done():
	}
}
