package tasks

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"presswork"
	"presswork/internal/fault"
	"presswork/tasks/record"
)

// recheckEvery is how often the records of running jobs are read, in case the message of a cancellation was lost.
const recheckEvery = 500 * time.Millisecond

// activeRun is a running handler.
type activeRun struct {
	// task is the id of the task, which is also the id of its job.
	task string
	// kind and queue are those of the task.
	kind  string
	queue Queue
	// began is when the run began, by the clock of Redis.
	began time.Time
	// fence is the fence of the run; "" for a task without a job.
	fence string
	// ctx is the context of the handler.
	ctx context.Context
	// end ends ctx with a cause.
	end context.CancelCauseFunc
}

// active is the set of runs in this process.
type active struct {
	// mu guards runs.
	mu   sync.Mutex
	runs map[*activeRun]struct{}
}

// addRun adds a run and returns the function that removes it again.
func (a *active) addRun(r *activeRun) (remove func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.runs[r] = struct{}{}

	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.runs, r)
	}
}

// allRuns returns the runs.
func (a *active) allRuns() []*activeRun {
	a.mu.Lock()
	defer a.mu.Unlock()

	return slices.Collect(maps.Keys(a.runs))
}

// jobRuns returns the runs that belong to a job. Only their records can be cancelled: package stream checks calls,
// and webhooks have no record.
func (a *active) jobRuns() []*activeRun {
	return slices.DeleteFunc(a.allRuns(), func(r *activeRun) bool { return r.fence == "" })
}

// watchCancels ends the runs of cancelled jobs. A message on record.CancelChannel ends a run at once. If the
// message was lost, checkActive ends the run within recheckEvery. It also ends runs that a newer run has
// superseded.
//
// The same subscription has two kinds of message about calls. A message on inputChannel is the id of a call that has
// an input. The other is the fence of a run whose callers have left.
func (s *Server) watchCancels(ctx context.Context) {
	sub := s.rdb.Subscribe(ctx, record.CancelChannel, inputChannel)
	defer sub.Close()
	messages := sub.Channel()

	tick := time.NewTicker(recheckEvery)
	defer tick.Stop()

	for {
		select {
		case <-ctx.Done():
			return
		case m, open := <-messages:
			if !open {
				return
			}

			if m.Channel == inputChannel {
				s.calls.Input(m.Payload)
				continue
			}

			// The payload is the id of a job, or the fence of a call's run. Both are ULIDs, so they never collide.
			for _, r := range s.active.jobRuns() {
				if r.task == m.Payload {
					r.end(ErrCancelled)
				}
			}
			s.calls.Left(m.Payload)
		case <-tick.C:
			s.checkActive(ctx)
		}
	}
}

// checkActive reads the records of the running jobs, if there are any.
func (s *Server) checkActive(ctx context.Context) {
	runs := s.active.jobRuns()
	if len(runs) == 0 {
		return
	}

	ids := make([]string, len(runs))
	for i, r := range runs {
		ids[i] = r.task
	}

	holders, err := s.records.Holders(ctx, ids)
	if err != nil {
		// During an outage the next check decides, or the fence at the run's end.
		return
	}

	for i, r := range runs {
		switch {
		case holders[i].Status == presswork.Cancelled:
			r.end(ErrCancelled)
		case holders[i].Fence != r.fence:
			r.end(ErrSuperseded)
		}
	}
}

// stallAfter is how long a server with free slots may go without polling its queue. An idle queue is polled every
// second.
const stallAfter = 30 * time.Second

// Progress returns an error when the server has free slots but no longer takes tasks, so that a health check can
// restart the process. It returns nil before Start and while the server stops.
func (s *Server) Progress(context.Context) error {
	if s.taking.Err() != nil {
		return nil
	}

	return s.progressAt(time.Now())
}

// progressAt is Progress at the time now.
func (s *Server) progressAt(now time.Time) error {
	// Queues that share slots wait for one another, so a poll of any of them counts for all. Both maps have one
	// entry per group of such queues, under the first queue of the group.
	running, lastPoll := map[Queue]int{}, map[Queue]time.Time{}
	for _, r := range s.active.allRuns() {
		running[s.slots.First(r.queue)]++
	}

	for q, polled := range s.dequeuer.LastPolls() {
		if first := s.slots.First(q); polled.After(lastPoll[first]) {
			lastPoll[first] = polled
		}
	}

	for q, polled := range lastPoll {
		hasFreeSlot := running[q] < s.concurrency(q)
		if q == Infer { // its concurrency includes idle runs, which hold no slot
			hasFreeSlot = hasFreeSlot && !s.slots.IsFull(Infer)
		}

		if idle := now.Sub(polled); hasFreeSlot && idle > stallAfter {
			return fault.Errorf(fault.Internal, "no task has been taken from the queue %s for %s", q,
				idle.Round(time.Second))
		}
	}

	return nil
}
