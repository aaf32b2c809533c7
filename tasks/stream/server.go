package stream

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// checkCallsEvery is how often a worker checks that its calls still have callers, in case a notification was lost.
const checkCallsEvery = 2 * time.Second

// Server runs the calls of a process.
type Server struct {
	rdb redis.UniversalClient
	log *slog.Logger
	// writer writes the frames of all runs.
	writer *writer

	watching sync.WaitGroup

	// mu guards the fields below.
	mu   sync.Mutex
	runs map[*Run]struct{}
	// lastFailure is when Redis last failed to respond. outageBegan is when the outage began; zero while Redis
	// responds. Callers cannot renew their waiters during an outage.
	lastFailure, outageBegan time.Time
}

// NewServer returns a server. It does not connect.
func NewServer(rdb redis.UniversalClient, log *slog.Logger) *Server {
	return &Server{rdb: rdb, log: log, writer: newWriter(rdb, log), runs: map[*Run]struct{}{}}
}

// Start begins to write frames. Until work ends, it also ends runs without callers.
func (s *Server) Start(work context.Context) {
	s.writer.start()
	s.watching.Go(func() { s.watch(work) })
}

// Stop stops writing frames. The context of Start and every Serve must have ended.
func (s *Server) Stop() {
	s.watching.Wait()
	s.writer.stop()
}

// Serve runs h for the call of a task, unless the call has ended or no caller waits for it. h must not panic.
// After an error of Serve the task must be served again.
func (s *Server) Serve(ctx context.Context, task string, h func(context.Context, *Run) error) error {
	run, err := s.beginRun(ctx, task)
	if run == nil {
		return err
	}

	return s.serveRun(ctx, run, h)
}

// beginRun begins a run; nil when the call is over or no caller waits for it.
func (s *Server) beginRun(ctx context.Context, task string) (*Run, error) {
	id, maker := callOf(task)
	fence := newID()

	// The order of the answer is that in beginCallScript.
	answer, err := beginCallScript.Run(ctx, s.rdb, []string{callKey(id), waitersKey(id)}, fence, s.afterOutage(), maker).
		StringSlice()
	if err != nil {
		return nil, unavailable(err)
	}

	if answer[0] != "" {
		s.log.Debug("a call needs no work", "call_id", id, "reason", answer[0])
		return nil, nil
	}

	run := &Run{
		ID:      id,
		fence:   fence,
		ttl:     answer[4],
		to:      answer[5],
		writer:  s.writer,
		flushed: make(chan struct{}, 1),
		arrived: make(chan struct{}, 1),
		keys:    []any{callKey(id), framesKey(id), waitersKey(id)},
	}
	if run.Attempt, err = strconv.Atoi(answer[1]); err == nil {
		run.seq, err = strconv.ParseInt(answer[2], 10, 64)
	}

	if err == nil {
		err = json.Unmarshal([]byte(answer[3]), &run.Call)
	}

	var now, created int64 // µs
	if err == nil {
		now, err = strconv.ParseInt(answer[6], 10, 64)
	}

	if err == nil {
		created, err = strconv.ParseInt(answer[7], 10, 64)
	}

	if err != nil {
		// Another worker could not read the call either, so the caller gets an error.
		s.log.Error("a call cannot be read", "call_id", id, "err", err)
		s.forgetCall(id, fence)

		return nil, nil
	}
	run.Call.ID = id
	run.Begun = run.seq > 0
	run.Waited = max(0, time.Duration(now-created)*time.Microsecond) // a failover may set the clock back

	return run, nil
}

// serveRun runs the handler for a call. After an error another run may answer the call.
func (s *Server) serveRun(ctx context.Context, run *Run, h func(context.Context, *Run) error) error {
	rctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	run.ctx, run.end = rctx, cancel
	s.mu.Lock()
	s.runs[run] = struct{}{}

	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.runs, run)
	}()
	err := h(rctx, run)

	cause := context.Cause(rctx)
	switch {
	case errors.Is(cause, ErrLeft):
		// Delete the call: a retry must not join it.
		s.forgetCall(run.ID, run.fence)
		return nil
	case run.isFinished(), errors.Is(cause, errCallLost):
		return nil
	case errors.Is(cause, ErrDraining) && !run.hasSent():
		return ErrDraining
	case errors.Is(err, ErrAgain) && !run.hasSent():
		return err
	}
	s.log.Error("a call ended without its last frame", "call_id", run.ID, "attempt", run.Attempt,
		"request_id", run.Call.RequestID, "err", err)
	run.abandon()

	return nil
}

// IsOpen reports whether Redis has the call with this id. Errors: QueueUnavailable.
func (s *Server) IsOpen(ctx context.Context, id string) (bool, error) {
	n, err := s.rdb.Exists(ctx, callKey(id)).Result()
	if err != nil {
		return false, unavailable(err)
	}

	return n > 0, nil
}

// Condemn ends the call of a task with an error for its caller, because no run of it can succeed. The caller gets the
// reason as the message. Condemn returns nil for a call that has ended.
func (s *Server) Condemn(ctx context.Context, task, reason string) error {
	id, maker := callOf(task)
	if err := condemnScript.Run(ctx, s.rdb, callKeys(id), reason, maker).Err(); err != nil {
		return unavailable(err)
	}

	return nil
}

// forgetCall deletes a call if its latest run has this fence.
func (s *Server) forgetCall(id, fence string) {
	ctx, cancel := context.WithTimeout(context.Background(), redisTimeout)
	defer cancel()

	if err := forgetScript.Run(ctx, s.rdb, callKeys(id), fence).Err(); err != nil {
		s.log.Warn("a call without callers stays in Redis until it expires", "call_id", id, "err", err)
	}
}

// afterOutage reports whether an outage of Redis ended so recently that waiters may not be renewed yet.
func (s *Server) afterOutage() bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	return time.Since(s.lastFailure) < waiterTTL
}

// recordOutage records that Redis does not answer. tooLong reports whether the outage has lasted longer than a call
// survives.
func (s *Server) recordOutage() (tooLong bool) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.lastFailure = time.Now()
	if s.outageBegan.IsZero() {
		s.outageBegan = s.lastFailure
	}

	return time.Since(s.outageBegan) >= s.writer.outage
}

// endOutage records that Redis answers.
func (s *Server) endOutage() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outageBegan = time.Time{}
}

// allRuns returns the runs.
func (s *Server) allRuns() []*Run {
	s.mu.Lock()
	defer s.mu.Unlock()

	runs := make([]*Run, 0, len(s.runs))
	for r := range s.runs {
		runs = append(runs, r)
	}

	return runs
}

// Left ends a run without callers. It takes the fence of the run instead of the call's id, because the call may
// have been created again. It does nothing if the run is in another process.
func (s *Server) Left(fence string) {
	for _, r := range s.allRuns() {
		if r.fence == fence {
			r.end(ErrLeft)
		}
	}
}

// Input makes the run of a call check for an input. It does nothing if the run is in another process.
func (s *Server) Input(id string) {
	for _, r := range s.allRuns() {
		if r.ID == id {
			r.wake()
		}
	}
}

// watch ends runs that have no callers or that another run has replaced. It writes calls again that Redis has
// lost.
func (s *Server) watch(ctx context.Context) {
	tick := time.NewTicker(checkCallsEvery)
	defer tick.Stop()

	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.checkCalls(ctx)
		}
	}
}

// checkCalls asks Redis about each running call. It ends runs that another run has replaced or that no client waits
// for. It restores calls that Redis has lost, and wakes runs that have new inputs.
func (s *Server) checkCalls(ctx context.Context) {
	runs := s.allRuns()
	if len(runs) == 0 {
		return
	}
	checks := make([]*redis.Cmd, len(runs))
	afterOutage := s.afterOutage()

	err := runAll(ctx, s.rdb, checkScript, func(p redis.Pipeliner) error {
		for i, r := range runs {
			checks[i] = checkScript.EvalSha(ctx, p, []string{callKey(r.ID), waitersKey(r.ID)}, r.fence, afterOutage)
		}

		return nil
	})
	if err != nil {
		// The next check decides, or the fence of the next frame.
		if s.recordOutage() {
			for _, r := range runs {
				r.endLost(s.writer.outageError())
			}
		}

		return
	}
	s.endOutage()

	for i, r := range runs {
		result, _ := checks[i].Text()
		switch result {
		case "gone":
			r.restore()
		case "lost":
			r.endLost(errCallLost)
		case "left":
			r.end(ErrLeft)
		case "":
		default:
			// The message about an input may have been lost.
			if n, err := strconv.ParseInt(result, 10, 64); err == nil && r.isNew(n) {
				r.wake()
			}
		}
	}
}
