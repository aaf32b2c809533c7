package tasks

import (
	"context"
	"sync"
	"time"
)

// slots is the one limit that Render, Export and Bulk share in a process. A
// slot is taken before a task is dequeued, so that a task which must wait stays
// on the queue for other machines. Render goes before Export, and Export before
// Bulk; but a queue that others have gone before maxPassed times is next. Bulk has
// bulkMax slots at most. The other queues are not limited here.
type slots struct {
	total, bulkMax int

	mu         sync.Mutex
	changed    sync.Cond
	used, bulk int
	// waiting counts who waits, by rank.
	waiting [3]int
	// passed counts, by rank, the slots that went to a more urgent queue while
	// this one waited.
	passed [3]int
	// granted counts slots taken for dequeued tasks whose handlers have not
	// begun.
	granted [3]int
}

// askAgain is how long a queue that got no slot keeps its turn: Asynq asks for it again
// after pollInterval.
const askAgain = 50 * pollInterval

// maxPassed bounds how long the owners of one queue can hold up those of another.
const maxPassed = 8

func newSlots(total, bulkMax int) *slots {
	s := &slots{total: total, bulkMax: bulkMax}
	s.changed.L = &s.mu

	return s
}

// taken returns how many slots are in use, of how many.
func (s *slots) taken() (used, total int) {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.used, s.total
}

// rank orders the limited queues; ok is false for the others.
func rank(q Queue) (n int, ok bool) {
	switch q {
	case Render:
		return 0, true
	case Export:
		return 1, true
	case Bulk:
		return 2, true
	}

	return 0, false
}

// Acquire takes a slot for the queue, waiting until ctx ends; false when it
// got none.
func (s *slots) Acquire(ctx context.Context, q Queue) bool {
	n, limited := rank(q)
	if !limited {
		return ctx.Err() == nil
	}

	stop := context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.changed.Broadcast()
	})
	defer stop()
	s.mu.Lock()
	defer s.mu.Unlock()

	s.waiting[n]++
	for ctx.Err() == nil && s.next() != n {
		s.changed.Wait()
	}

	if ctx.Err() != nil {
		time.AfterFunc(askAgain, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.leave(n)
		})

		return false
	}
	s.leave(n)

	s.used++
	if q == Bulk {
		s.bulk++
	}

	s.passed[n] = 0
	for worse := n + 1; worse < len(s.waiting); worse++ {
		if s.waiting[worse] > 0 {
			s.passed[worse]++
		}
	}

	return true
}

// leave ends a wait. Who waited behind it may go now, whether it got a slot or gave up.
func (s *slots) leave(n int) {
	s.waiting[n]--
	s.changed.Broadcast()
}

// next is the rank whose turn it is to take a free slot; -1 for none.
func (s *slots) next() int {
	best := -1

	for n := range s.waiting {
		free := s.used < s.total && s.waiting[n] > 0 && (n < 2 || s.bulk < s.bulkMax)
		if free && (best < 0 || s.passed[n] >= maxPassed) {
			best = n
		}
	}

	return best
}

// Release gives an acquired slot back.
func (s *slots) Release(q Queue) {
	if _, limited := rank(q); !limited {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	s.used--
	if q == Bulk {
		s.bulk--
	}
	s.changed.Broadcast()
}

// Grant leaves an acquired slot to the handler of the task just dequeued.
func (s *slots) Grant(q Queue) {
	if n, limited := rank(q); limited {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.granted[n]++
	}
}

// claim gives a handler its slot: the one granted at the dequeue, or, when the
// dequeuer did not see the dequeue, one it has to wait for.
func (s *slots) claim(q Queue) {
	n, limited := rank(q)
	if !limited {
		return
	}
	s.mu.Lock()
	if s.granted[n] > 0 {
		s.granted[n]--
		s.mu.Unlock()

		return
	}
	s.mu.Unlock()
	s.Acquire(context.Background(), q)
}
