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

// activeRun is a running handler. The fence is "" for a task without a job.
type activeRun struct {
	task  string
	kind  string
	queue Queue
	began time.Time
	fence string
	ctx   context.Context
	end   context.CancelCauseFunc
}

// active is the set of runs in this process.
type active struct {
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

// jobRuns returns the runs that belong to a job.
func (a *active) jobRuns() []*activeRun {
	return slices.DeleteFunc(a.allRuns(), func(r *activeRun) bool { return r.fence == "" })
}

// watchCancels ends the runs of cancelled jobs. A message on the channel ends them at once. Reading their records
// ends them within half a second, and also shows that a newer run exists.
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

// Progress returns an error when the server has free slots but no longer takes tasks. It returns nil before Start
// and while the server stops.
func (s *Server) Progress(context.Context) error {
	if s.taking.Err() != nil {
		return nil
	}

	return s.progress(time.Now())
}

func (s *Server) progress(at time.Time) error {
	running := map[Queue]int{}
	for _, r := range s.active.allRuns() {
		running[s.slots.First(r.queue)]++
	}
	// Queues that share slots wait for one another, so a poll of any of them counts for all.
	last := map[Queue]time.Time{}
	for q, when := range s.dequeuer.LastPolls() {
		if p := s.slots.First(q); when.After(last[p]) {
			last[p] = when
		}
	}

	for p, when := range last {
		free := running[p] < s.concurrency(p) && !(p == Infer && s.slots.IsFull(Infer))
		if free && at.Sub(when) > stallAfter {
			return fault.Errorf(fault.Internal, "no task has been taken from the queue %s for %s", p,
				at.Sub(when).Round(time.Second))
		}
	}

	return nil
}
