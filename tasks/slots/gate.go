package slots

import (
	"context"
	"sync"
	"time"
)

const (
	// turnHold is how long a queue that got no slot keeps its turn. Asynq tries again within milliseconds.
	turnHold = 100 * time.Millisecond
	// maxPassed is the number of slots that more urgent ranks may take while a rank waits. Then that rank is next.
	maxPassed = 8
)

// gate hands out the slots of one group. A slot is taken before a task is dequeued, so that a task
// that must wait stays on the queue for other machines. A free slot goes to the most urgent rank
// that waits. A rank that was passed over maxPassed times is next. The last rank also has its own
// limit.
type gate struct {
	total, lastLimit int // slots; lastLimit of them for the last rank

	// mu guards the fields below. changed wakes all waiters when a slot or a turn may be free.
	mu      sync.Mutex
	changed sync.Cond
	// used counts the slots in use, lastUsed those of the last rank.
	used, lastUsed int
	// ranks has the state of each rank, the most urgent first.
	ranks []rankState
}

// rankState counts the tasks of one rank.
type rankState struct {
	// waiting counts the tasks that wait for a slot.
	waiting int
	// passed counts the slots that went to a more urgent rank while this one waited.
	passed int
	// granted counts the slots of dequeued tasks whose handlers have not begun.
	granted int
}

// newGate returns a gate with the ranks 0 to last. The last rank may hold lastLimit slots.
func newGate(total, last, lastLimit int) *gate {
	g := &gate{total: total, lastLimit: lastLimit, ranks: make([]rankState, last+1)}
	g.changed.L = &g.mu

	return g
}

// usage returns the number of slots in use and the total.
func (g *gate) usage() (used, total int) {
	g.mu.Lock()
	defer g.mu.Unlock()

	return g.used, g.total
}

// isFull reports whether a task of any rank but the most urgent has to wait.
func (g *gate) isFull() bool {
	g.mu.Lock()
	defer g.mu.Unlock()

	return g.used+g.ranks[0].waiting >= g.total
}

// acquire waits for a slot until ctx ends, and reports whether it got one.
func (g *gate) acquire(ctx context.Context, rank int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()

	if !g.wait(ctx, rank) {
		// Stay in the count of waiting tasks meanwhile, so that the rank keeps its turn.
		time.AfterFunc(turnHold, func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.leave(rank)
		})

		return false
	}
	g.leave(rank)
	g.addUsed(rank, 1)

	return true
}

// resume takes a slot for an idle task of this rank. A task whose context has ended gets a slot beyond the
// limit, because it is about to release it.
func (g *gate) resume(ctx context.Context, rank int) {
	g.mu.Lock()
	defer g.mu.Unlock()

	g.wait(ctx, resumeRank)
	g.leave(resumeRank)
	g.addUsed(rank, 1)
}

// release releases a slot of the rank.
func (g *gate) release(rank int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.addUsed(rank, -1)
	g.changed.Broadcast()
}

// grant passes a slot in use on to the next handler of the rank.
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

// wait waits until it is a rank's turn or ctx ends, and reports whether the turn came. After it, also when it returned
// false, call leave once. The caller holds the lock, as for all methods below.
func (g *gate) wait(ctx context.Context, rank int) bool {
	stop := context.AfterFunc(ctx, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.changed.Broadcast()
	})
	defer stop()

	g.ranks[rank].waiting++
	for ctx.Err() == nil && g.nextRank() != rank {
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

// leave ends a wait that got a slot or gave up. It wakes the other waiters, because it may now be their turn.
func (g *gate) leave(rank int) {
	g.ranks[rank].waiting--
	g.changed.Broadcast()
}

// nextRank returns the rank whose turn it is to take a free slot; -1 for none.
func (g *gate) nextRank() int {
	best := -1

	for rank, w := range g.ranks {
		isLast := rank == len(g.ranks)-1
		belowLimit := g.used < g.total && (!isLast || g.lastUsed < g.lastLimit)

		if w.waiting > 0 && belowLimit && (best < 0 || w.passed >= maxPassed) {
			best = rank
		}
	}

	return best
}

// addUsed adds n to the slots that the rank uses.
func (g *gate) addUsed(rank, n int) {
	g.used += n
	if rank == len(g.ranks)-1 {
		g.lastUsed += n
	}
}
