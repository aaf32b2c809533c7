package tasks

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork"
)

// recheckEvery is how often the records of running jobs are looked at, in case the
// message of a cancellation was lost.
const recheckEvery = 500 * time.Millisecond

// activeRun is a handler at work. The fence is "" for a task without a job.
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

// add returns the function that takes the run out again.
func (a *active) add(r *activeRun) (remove func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.runs[r] = struct{}{}

	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.runs, r)
	}
}

// all returns the runs.
func (a *active) all() []*activeRun {
	a.mu.Lock()
	defer a.mu.Unlock()

	return slices.Collect(maps.Keys(a.runs))
}

// jobs returns the runs that belong to a job.
func (a *active) jobs() []*activeRun {
	return slices.DeleteFunc(a.all(), func(r *activeRun) bool { return r.fence == "" })
}

// watchCancels ends the runs of cancelled jobs: at once by the channel, and
// within half a second by their records, which also show a newer run.
func (s *Server) watchCancels(ctx context.Context) {
	sub := s.rdb.Subscribe(ctx, cancelChannel, inputChannel)
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

			for _, r := range s.active.jobs() {
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
	runs := s.active.jobs()
	if len(runs) == 0 {
		return
	}
	cmds := make([]*redis.SliceCmd, len(runs))

	_, err := s.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, r := range runs {
			cmds[i] = p.HMGet(ctx, jobKey(r.task), fieldStatus, "fence")
		}

		return nil
	})
	if err != nil {
		// An outage: the next check, or the fence at the run's end, decides.
		return
	}

	for i, r := range runs {
		status, _ := cmds[i].Val()[0].(string)

		fence, _ := cmds[i].Val()[1].(string)
		switch {
		case presswork.Status(status) == presswork.Cancelled:
			r.end(ErrCancelled)
		case fence != r.fence:
			r.end(ErrSuperseded)
		}
	}
}
