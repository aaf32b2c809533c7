package tasks

import (
	"context"
	"time"

	"presswork/internal/fault"
)

// stallAfter is how long a queue may go without a look at it while its server
// could take a task. An idle one is looked at every second.
const stallAfter = 30 * time.Second

// Progress returns an error when the server no longer takes tasks although it
// could run more of them, and nil before Start and while it stops.
func (s *Server) Progress(context.Context) error {
	if s.taking.Err() != nil {
		return nil
	}

	return s.progress(time.Now())
}

func (s *Server) progress(at time.Time) error {
	running := map[Queue]int{}
	for _, r := range s.active.all() {
		running[s.slots.First(r.queue)]++
	}
	// Queues that share slots wait for one another, so the last look at any of
	// them counts.
	last := map[Queue]time.Time{}
	for q, when := range s.dequeuer.LastLooks() {
		if p := s.slots.First(q); when.After(last[p]) {
			last[p] = when
		}
	}

	for p, when := range last {
		free := running[p] < s.concurrency(p) && !(p == Infer && s.slots.IsFull(Infer))
		if free && at.Sub(when) > stallAfter {
			return fault.Errorf(
				fault.Internal,
				"no task has been taken from the queue %s for %s",
				p,
				at.Sub(when).Round(time.Second),
			)
		}
	}

	return nil
}
