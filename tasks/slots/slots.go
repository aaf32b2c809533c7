// Package slots limits the tasks that a process runs at the same time. The limit is shared by several queues and
// applies in addition to the concurrency of each.
package slots

import (
	"context"

	"presswork/tasks/asynqext"
)

// Queue is the name of an Asynq queue.
type Queue = asynqext.Queue

// Group is a set of queues that share slots.
type Group struct {
	// Queues are ordered by urgency, the most urgent first.
	Queues []Queue
	// Total is the number of slots.
	Total int
	// LastLimit is how many slots the last queue may hold.
	LastLimit int
	// Resumes is set if tasks of the group call Idle. A task that resumes gets its slot before tasks that have not
	// begun.
	Resumes bool
}

// Slots are the slots of a process. It implements asynqext.Slots and is safe for concurrent use.
type Slots struct{ queues map[Queue]gateRank }

// gateRank is the gate and the rank with which a queue gets its slots.
type gateRank struct {
	// gate is shared by all queues of the group. rank is that of this queue; a lower rank is more urgent.
	gate *gate
	rank int
	// first is the most urgent queue of the group; it identifies the group.
	first Queue
}

// resumeRank is the rank of resuming tasks in groups that have them.
const resumeRank = 0

// New returns slots for the groups. Queues without a group need no slot.
func New(groups ...Group) Slots {
	s := Slots{map[Queue]gateRank{}}

	for _, group := range groups {
		first := 0
		if group.Resumes {
			first = resumeRank + 1
		}
		g := newGate(group.Total, first+len(group.Queues)-1, group.LastLimit)

		for i, q := range group.Queues {
			s.queues[q] = gateRank{g, first + i, group.Queues[0]}
		}
	}

	return s
}

// Acquire takes a slot for a task of the queue before the task is dequeued. It waits until ctx
// ends and reports whether it got a slot.
func (s Slots) Acquire(ctx context.Context, q Queue) bool {
	if r, ok := s.queues[q]; ok {
		return r.gate.acquire(ctx, r.rank)
	}

	return ctx.Err() == nil
}

// Grant leaves an acquired slot to the handler of the task that was just dequeued.
func (s Slots) Grant(q Queue) {
	if r, ok := s.queues[q]; ok {
		r.gate.grant(r.rank)
	}
}

// Release releases an acquired slot, of a task that was not dequeued or whose handler has returned.
func (s Slots) Release(q Queue) {
	if r, ok := s.queues[q]; ok {
		r.gate.release(r.rank)
	}
}

// Claim gives a handler its slot: the one that was granted at the dequeue. If Asynq dequeued the
// task without the dequeuer, Claim waits for a free slot, so that the limit holds.
func (s Slots) Claim(q Queue) {
	if r, ok := s.queues[q]; ok && !r.gate.takeGrant(r.rank) {
		r.gate.acquire(context.Background(), r.rank)
	}
}

// Usage returns how many slots of a queue's group are in use, and the number of slots.
func (s Slots) Usage(q Queue) (used, total int) {
	if r, ok := s.queues[q]; ok {
		return r.gate.usage()
	}

	return 0, 0
}

// IsFull reports whether a task of the queue would have to wait for a slot. Resuming tasks that
// wait for a slot count as if they had it.
func (s Slots) IsFull(q Queue) bool {
	r, ok := s.queues[q]
	return ok && r.gate.isFull()
}

// First returns the most urgent queue of a queue's group, which identifies the group. It returns the
// queue itself if the queue has no group.
func (s Slots) First(q Queue) Queue {
	if r, ok := s.queues[q]; ok {
		return r.first
	}

	return q
}

// idleKey is the context key of WithIdle.
type idleKey struct{}

// WithIdle returns a context for the handler of a task. A call of Idle with this context releases the slot of the task
// for a while. The queue's group has Resumes set.
func (s Slots) WithIdle(ctx context.Context, q Queue) context.Context {
	return context.WithValue(ctx, idleKey{}, s.queues[q])
}

// Idle releases the slot of the task of ctx, runs f, and acquires a slot again. Another task may use the slot while f
// runs. Idle returns when the task has a slot, or when ctx has ended. Without WithIdle it only runs f.
func Idle(ctx context.Context, f func()) {
	if r, ok := ctx.Value(idleKey{}).(gateRank); ok {
		r.gate.release(r.rank)
		defer r.gate.resume(ctx, r.rank)
	}
	f()
}
