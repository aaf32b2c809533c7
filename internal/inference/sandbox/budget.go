package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
)

// share returns the most memory of one session in bytes: its processes and its files.
func (o PoolOptions) share() int64 {
	l, _ := (Limits{Memory: o.Memory}).withDefaults() // Memory is checked
	return l.total()
}

// withBudget returns o with its default budget. It returns an error if the budget does not suffice for one
// session.
func (o PoolOptions) withBudget() (PoolOptions, error) {
	share := o.share()

	o.Budget = cmp.Or(o.Budget, max(machineMemory()/4, share))
	if o.Budget < share {
		return o, fmt.Errorf(
			"sandbox: the budget of all sessions is %s; one session takes up to %s (its Memory and its files): "+
				"raise the budget, or lower the memory of one session", size(o.Budget), size(share))
	}

	return o, nil
}

// budget is the memory for all sessions of a pool. A session with a running cell has reserved its whole share.
// Between cells it holds only what its interpreter may use while idle. mu also guards the fields held, in and lost of
// idle sessions.
type budget struct {
	mu   sync.Mutex
	free int64
	// idle are the sessions with an interpreter but without a running cell, the longest idle first.
	idle []*Session
	// changed is closed, and replaced, when free or idle grows.
	changed chan struct{}
}

// reserve reserves a share for the session, which is then no longer idle. If the budget does not suffice, reserve
// ends the interpreters that have been idle longest, and then waits for running cells. The error is that of ctx.
func (b *budget) reserve(ctx context.Context, s *Session, share int64) error {
	b.mu.Lock()
	b.idle = slices.DeleteFunc(b.idle, func(other *Session) bool { return other == s })
	b.mu.Unlock()

	for {
		b.mu.Lock()
		if missing := share - s.held; b.free >= missing {
			b.free -= missing
			s.held = share
			b.mu.Unlock()

			return nil
		}

		if len(b.idle) > 0 {
			longest := b.idle[0]
			b.idle = b.idle[1:]
			in, held := longest.in, longest.held
			longest.in, longest.held, longest.lost = nil, 0, true
			b.mu.Unlock()
			// Its memory is free only when its processes have ended. stop waits for that, so mu is not held.
			in.stop()
			b.release(held)
			continue
		}
		changed := b.changed
		b.mu.Unlock()

		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// releaseTo releases all memory of the session except held bytes, and lists the session as idle if it holds any.
func (b *budget) releaseTo(s *Session, held int64) {
	b.mu.Lock()
	released := s.held - held

	s.held = held
	if held > 0 {
		b.idle = append(b.idle, s)
	}
	b.mu.Unlock()
	b.release(released)
}

// release returns memory to the budget and wakes sessions that wait for it.
func (b *budget) release(bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free += bytes
	close(b.changed)
	b.changed = make(chan struct{})
}

// removeIdle removes the session from the idle ones.
func (b *budget) removeIdle(s *Session) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.idle = slices.DeleteFunc(b.idle, func(other *Session) bool { return other == s })
}
