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

// lookAtCalls is how often a worker looks whether a caller still waits for the
// calls that it runs, in case it was not notified.
const lookAtCalls = 2 * time.Second

// Server runs the calls of a process.
type Server struct {
	rdb    redis.UniversalClient
	log    *slog.Logger
	writer *writer

	watching sync.WaitGroup

	mu   sync.Mutex
	runs map[*Run]struct{}
	// failed is when Redis did not answer last, away since when it has not. Callers could
	// not renew their waiting then.
	failed, away time.Time
}

// NewServer makes a server.
func NewServer(rdb redis.UniversalClient, log *slog.Logger) *Server {
	return &Server{rdb: rdb, log: log, writer: newWriter(rdb, log), runs: map[*Run]struct{}{}}
}

// Start begins to write frames; until work ends it looks for runs that are to end.
func (s *Server) Start(work context.Context) {
	s.writer.start()
	s.watching.Go(func() { s.watch(work) })
}

// Stop ends the writing of frames, once the context of Start and every Serve have
// ended.
func (s *Server) Stop() {
	s.watching.Wait()
	s.writer.stop()
}

// Serve runs the call of a task. A call that has ended or has no waiters needs no run.
// The handler must not panic. An error means that the task is to be served again.
func (s *Server) Serve(ctx context.Context, task string, h func(context.Context, *Run) error) error {
	run, err := s.begin(ctx, task)
	if run == nil {
		return err
	}

	return s.run(ctx, run, h)
}

// begin opens a run; nil when the call is over or no caller waits for it.
func (s *Server) begin(ctx context.Context, task string) (*Run, error) {
	id, maker := callOf(task)
	fence := newID()

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
		memory:  answer[4],
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

	var now, made int64
	if err == nil {
		now, err = strconv.ParseInt(answer[6], 10, 64)
	}

	if err == nil {
		made, err = strconv.ParseInt(answer[7], 10, 64)
	}

	if err != nil {
		// No other worker could read it either: the caller gets an error.
		s.log.Error("a call cannot be read", "call_id", id, "err", err)
		s.forget(id, fence)

		return nil, nil
	}
	run.Call.ID = id
	run.Begun = run.seq > 0
	run.Waited = max(0, time.Duration(now-made)*time.Microsecond) // a failover may set the clock back

	return run, nil
}

// run lets the handler answer a call. An error means that another run may.
func (s *Server) run(ctx context.Context, run *Run, h func(context.Context, *Run) error) error {
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
		// A retry gets an answer of its own.
		s.forget(run.ID, run.fence)
		return nil
	case run.isFinished(), errors.Is(cause, errCallLost):
		return nil
	case errors.Is(cause, ErrDraining) && !run.hasSent():
		return ErrDraining
	case errors.Is(err, ErrAgain) && !run.hasSent():
		return err
	}
	s.log.Error(
		"a call ended without its last frame",
		"call_id",
		run.ID,
		"attempt",
		run.Attempt,
		"request_id",
		run.Call.RequestID,
		"err",
		err,
	)
	run.abandon()

	return nil
}

// IsOpen reports whether Redis has the call with this id.
func (s *Server) IsOpen(ctx context.Context, id string) (bool, error) {
	n, err := s.rdb.Exists(ctx, callKey(id)).Result()
	if err != nil {
		return false, unavailable(err)
	}

	return n > 0, nil
}

// Condemn ends the call of a task with an error for its caller, because no run of it can
// succeed. The reason is what the caller reads. A call that has ended is no error.
func (s *Server) Condemn(ctx context.Context, task, reason string) error {
	id, maker := callOf(task)
	if err := condemnScript.Run(ctx, s.rdb, callKeys(id), reason, maker).Err(); err != nil {
		return unavailable(err)
	}

	return nil
}

// forget drops a call in a run's name.
func (s *Server) forget(id, fence string) {
	ctx, cancel := context.WithTimeout(context.Background(), redisTimeout)
	defer cancel()

	if err := forgetScript.Run(ctx, s.rdb, callKeys(id), fence).Err(); err != nil {
		s.log.Warn("a call without callers stays for a while", "call_id", id, "err", err)
	}
}

// afterOutage reports whether Redis was away so shortly ago that those who wait
// may not be counted yet.
func (s *Server) afterOutage() bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	return time.Since(s.failed) < waiterTTL
}

// isAwayForLong notes that Redis does not answer, and reports whether no call lives
// through it any more.
func (s *Server) isAwayForLong() bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.failed = time.Now()
	if s.away.IsZero() {
		s.away = s.failed
	}

	return time.Since(s.away) >= s.writer.outage
}

func (s *Server) isBack() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = time.Time{}
}

// all returns the runs.
func (s *Server) all() []*Run {
	s.mu.Lock()
	defer s.mu.Unlock()

	runs := make([]*Run, 0, len(s.runs))
	for r := range s.runs {
		runs = append(runs, r)
	}

	return runs
}

// Left ends a run without callers. It is not named by its call, which may have been made
// again meanwhile.
func (s *Server) Left(run string) {
	for _, r := range s.all() {
		if r.fence == run {
			r.end(ErrLeft)
		}
	}
}

// Input makes the run of a call look for an input.
func (s *Server) Input(id string) {
	for _, r := range s.all() {
		if r.ID == id {
			r.wake()
		}
	}
}

// watch ends runs that have no callers or that another run has replaced, and
// brings back those that Redis has lost.
func (s *Server) watch(ctx context.Context) {
	tick := time.NewTicker(lookAtCalls)
	defer tick.Stop()

	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.look(ctx)
		}
	}
}

func (s *Server) look(ctx context.Context) {
	runs := s.all()
	if len(runs) == 0 {
		return
	}
	looks := make([]*redis.Cmd, len(runs))
	after := s.afterOutage()

	err := runAll(ctx, s.rdb, lookScript, func(p redis.Pipeliner) error {
		for i, r := range runs {
			looks[i] = lookScript.EvalSha(ctx, p, []string{callKey(r.ID), waitersKey(r.ID)}, r.fence, after)
		}

		return nil
	})
	if err != nil {
		// The next look decides, or the fence of the next frame.
		if s.isAwayForLong() {
			for _, r := range runs {
				r.giveUp(s.writer.outageLasts())
			}
		}

		return
	}
	s.isBack()

	for i, r := range runs {
		look, _ := looks[i].Text()
		switch look {
		case "gone":
			r.restore()
		case "lost":
			r.giveUp(errCallLost)
		case "left":
			r.end(ErrLeft)
		case "":
		default:
			// The announcement of an input may have been missed.
			if n, err := strconv.ParseInt(look, 10, 64); err == nil && r.isNew(n) {
				r.wake()
			}
		}
	}
}
