package tasks

import (
	"context"
	"sync"
	"time"
)

const (
	// askAgain is how long a queue that got no slot keeps its turn: Asynq asks for it again
	// after pollInterval.
	askAgain = 50 * pollInterval
	// maxPassed bounds how long the owners of one queue can hold up those of another.
	maxPassed = 8
)

// slots are the limits that the queues of a process have beyond their concurrency. Render,
// Export and Bulk share the slots for printing, and go in this order. Infer has the slots of
// calls that wait for a model: calls that go on after they were idle go before calls that
// have not begun.
type slots struct{ printing, infer *gate }

// The ranks of the gates, the most urgent first.
const (
	renderRank = iota
	exportRank
	bulkRank

	resumeRank = 0
	beginRank  = 1
)

// newSlots returns the slots of a process: how many are for printing, how many of these Bulk
// may hold, and how many are for calls.
func newSlots(printing, bulk, infer int) slots {
	return slots{newGate(printing, bulkRank, bulk), newGate(infer, beginRank, infer)}
}

// gateOf returns the gate of a queue and the queue's rank there, nil for a queue that needs
// no slots.
func (s slots) gateOf(q Queue) (g *gate, rank int) {
	switch q {
	case Render:
		return s.printing, renderRank
	case Export:
		return s.printing, exportRank
	case Bulk:
		return s.printing, bulkRank
	case Infer:
		return s.infer, beginRank
	}

	return nil, 0
}

// Acquire implements asynqext.Slots, as the next two methods do.
func (s slots) Acquire(ctx context.Context, q Queue) bool {
	if g, rank := s.gateOf(q); g != nil {
		return g.acquire(ctx, rank)
	}

	return ctx.Err() == nil
}

// Grant leaves an acquired slot to the handler of the task just dequeued.
func (s slots) Grant(q Queue) {
	if g, rank := s.gateOf(q); g != nil {
		g.grant(rank)
	}
}

// Release gives an acquired slot back.
func (s slots) Release(q Queue) {
	if g, rank := s.gateOf(q); g != nil {
		g.release(rank)
	}
}

// claim gives a handler its slot: the one granted at the dequeue, or, when the
// dequeuer did not see the dequeue, one that it has to wait for.
func (s slots) claim(q Queue) {
	if g, rank := s.gateOf(q); g != nil && !g.takeGrant(rank) {
		g.acquire(context.Background(), rank)
	}
}

type gateKey struct{}

// Idle runs f, in which the call whose context ctx is waits for something other than a
// model, and lets another call have its slot meanwhile. It returns when the call has a slot
// again, or when ctx has ended. Elsewhere it only runs f.
func Idle(ctx context.Context, f func()) {
	if g, ok := ctx.Value(gateKey{}).(*gate); ok {
		g.release(beginRank)
		defer g.resume(ctx)
	}
	f()
}

// gate gives out slots. A slot is taken before a task is dequeued, so that a task which must
// wait stays on the queue for other machines. A slot goes to the most urgent rank that
// waits; but a rank that was passed over maxPassed times is next. The last rank has a limit
// of its own.
type gate struct {
	total, lastMost int

	mu      sync.Mutex
	changed sync.Cond
	// used counts the slots in use, lastUsed those of the last rank.
	used, lastUsed int
	ranks          []waiters
}

// waiters are those of one rank.
type waiters struct {
	// waiting counts those who wait for a slot.
	waiting int
	// passed counts the slots that went to a more urgent rank while this one waited.
	passed int
	// granted counts the slots of dequeued tasks whose handlers have not begun.
	granted int
}

// newGate returns a gate with the ranks from 0 to last, which may hold lastMost slots.
func newGate(total, last, lastMost int) *gate {
	g := &gate{total: total, lastMost: lastMost, ranks: make([]waiters, last+1)}
	g.changed.L = &g.mu

	return g
}

// usage returns how many slots are in use, of how many.
func (g *gate) usage() (used, total int) {
	g.mu.Lock()
	defer g.mu.Unlock()

	return g.used, g.total
}

// isFull reports whether all but the most urgent rank have to wait.
func (g *gate) isFull() bool {
	g.mu.Lock()
	defer g.mu.Unlock()

	return g.used+g.ranks[0].waiting >= g.total
}

// acquire takes a slot for a rank, waiting until ctx ends; false when it got none.
func (g *gate) acquire(ctx context.Context, rank int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()

	if !g.wait(ctx, rank) {
		time.AfterFunc(askAgain, func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.leave(rank)
		})

		return false
	}
	g.leave(rank)
	g.count(rank, 1)

	return true
}

// resume takes the slot of a call that goes on. A call whose context has ended gets it
// beyond the limit: it gives it back at once.
func (g *gate) resume(ctx context.Context) {
	g.mu.Lock()
	defer g.mu.Unlock()

	g.wait(ctx, resumeRank)
	g.leave(resumeRank)
	g.count(beginRank, 1)
}

func (g *gate) release(rank int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count(rank, -1)
	g.changed.Broadcast()
}

func (g *gate) grant(rank int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ranks[rank].granted++
}

// takeGrant takes a grant, and reports whether there was one.
func (g *gate) takeGrant(rank int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()

	if g.ranks[rank].granted == 0 {
		return false
	}
	g.ranks[rank].granted--

	return true
}

// wait waits for a rank's turn until ctx ends; false when the turn did not come. It is
// called with the lock held, as the following methods are. leave ends what it begins.
func (g *gate) wait(ctx context.Context, rank int) bool {
	stop := context.AfterFunc(ctx, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.changed.Broadcast()
	})
	defer stop()

	g.ranks[rank].waiting++
	for ctx.Err() == nil && g.next() != rank {
		g.changed.Wait()
	}

	if ctx.Err() != nil {
		return false
	}

	g.ranks[rank].passed = 0
	for i := rank + 1; i < len(g.ranks); i++ {
		if g.ranks[i].waiting > 0 {
			g.ranks[i].passed++
		}
	}

	return true
}

// leave ends a wait. Others may go now, whether it got a slot or gave up.
func (g *gate) leave(rank int) {
	g.ranks[rank].waiting--
	g.changed.Broadcast()
}

// next returns the rank whose turn it is to take a free slot; -1 for none.
func (g *gate) next() int {
	best := -1

	for rank, w := range g.ranks {
		last := rank == len(g.ranks)-1

		free := g.used < g.total && w.waiting > 0 && (!last || g.lastUsed < g.lastMost)
		if free && (best < 0 || w.passed >= maxPassed) {
			best = rank
		}
	}

	return best
}

// count adds slots in use.
func (g *gate) count(rank, n int) {
	g.used += n
	if rank == len(g.ranks)-1 {
		g.lastUsed += n
	}
}
