package tasks

import (
	"context"
	"sync"
)

// places bound how many calls of Infer wait for a model at a time in a process. A
// call whose tools run gives its place to another (see Idle), and has one again
// before calls that have not begun.
type places struct {
	mu      sync.Mutex
	changed sync.Cond
	free    int
	// resuming counts the calls that wait to go on.
	resuming int
	// granted counts places taken for dequeued tasks whose handlers have not begun.
	granted int
}

func newPlaces(n int) *places {
	p := &places{free: n}
	p.changed.L = &p.mu

	return p
}

// take gets a place for a call that has not begun; false when ctx ends before.
func (p *places) take(ctx context.Context) bool {
	defer p.wakeAfter(ctx)()
	p.mu.Lock()
	defer p.mu.Unlock()

	for ctx.Err() == nil && p.free-p.resuming <= 0 {
		p.changed.Wait()
	}

	if ctx.Err() != nil {
		return false
	}
	p.free--

	return true
}

// resume gets a place for a call that goes on. One whose context has ended gets it
// beyond the limit: it gives it back at once.
func (p *places) resume(ctx context.Context) {
	defer p.wakeAfter(ctx)()
	p.mu.Lock()
	defer p.mu.Unlock()

	p.resuming++
	for ctx.Err() == nil && p.free <= 0 {
		p.changed.Wait()
	}
	p.resuming--
	p.free--
	p.changed.Broadcast()
}

func (p *places) give() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free++
	p.changed.Broadcast()
}

// grant leaves a place to the handler of the task just dequeued.
func (p *places) grant() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.granted++
}

// claim gives a handler its place: the one granted at the dequeue, or, when the
// dequeuer did not see the dequeue, one it has to wait for.
func (p *places) claim() {
	p.mu.Lock()
	if p.granted > 0 {
		p.granted--
		p.mu.Unlock()

		return
	}
	p.mu.Unlock()
	p.take(context.Background())
}

// full reports whether a call that has not begun has to wait.
func (p *places) full() bool {
	p.mu.Lock()
	defer p.mu.Unlock()

	return p.free-p.resuming <= 0
}

// wakeAfter wakes those who wait when ctx ends; the function it returns ends that.
func (p *places) wakeAfter(ctx context.Context) (stop func()) {
	cancel := context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.changed.Broadcast()
	})

	return func() { cancel() }
}

// limits are those of all queues: slots where pages are printed, places where
// models answer.
type limits struct {
	slots  *slots
	places *places
}

// Acquire implements asynqext.Slots, as the next two do.
func (l limits) Acquire(ctx context.Context, q Queue) bool {
	if q == Infer {
		return l.places.take(ctx)
	}

	return l.slots.Acquire(ctx, q)
}

// Grant leaves what was acquired to the handler of the task just dequeued.
func (l limits) Grant(q Queue) {
	if q == Infer {
		l.places.grant()
		return
	}
	l.slots.Grant(q)
}

// Release gives back what was acquired.
func (l limits) Release(q Queue) {
	if q == Infer {
		l.places.give()
		return
	}
	l.slots.Release(q)
}

func (l limits) claim(q Queue) {
	if q == Infer {
		l.places.claim()
		return
	}
	l.slots.claim(q)
}

type placesKey struct{}

// Idle runs f, in which the call whose context ctx is waits for something other than a
// model, and lets another call have its place meanwhile; it returns when the call has a
// place again. Elsewhere it only runs f.
func Idle(ctx context.Context, f func()) {
	if p, ok := ctx.Value(placesKey{}).(*places); ok {
		p.give()
		defer p.resume(ctx)
	}
	f()
}
