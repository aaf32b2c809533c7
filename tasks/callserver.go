package tasks

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

// lookAtCalls is how often a worker looks whether somebody still waits for the
// calls that it runs, in case nobody could tell it.
const lookAtCalls = 2 * time.Second

// HandleCalls makes the server run calls. The handler sends the answer and ends
// it by CallRun.Finish; an error that it returns before it sent anything makes
// the call run again when the server stops, else it ends the answer. ctx ends
// when nobody waits any more (ErrLeft), when another run has the call, and when
// the server stops. Call HandleCalls before Start.
func HandleCalls(s *Server, h func(ctx context.Context, run *CallRun) error) {
	HandlePlain(s, ServeCall, func(ctx context.Context, t Ticket) error { return s.calls.serve(ctx, t, h) })
}

// calls are those at work in a process.
type calls struct {
	rdb    redis.UniversalClient
	log    *slog.Logger
	writer *callWriter

	mu   sync.Mutex
	runs map[*CallRun]struct{}
	// failed is when Redis did not answer last. Callers could not renew their
	// waiting then.
	failed time.Time
}

func newCalls(rdb redis.UniversalClient, log *slog.Logger) *calls {
	return &calls{rdb: rdb, log: log, writer: newCallWriter(rdb, log), runs: map[*CallRun]struct{}{}}
}

// serve runs the call whose turn it is. Calls that nobody waits for any more are
// passed over, so that a ticket is never spent on one while another waits.
func (c *calls) serve(ctx context.Context, t Ticket, h func(context.Context, *CallRun) error) error {
	keys := []string{claimsKey}
	for _, tier := range Tiers() {
		keys = append(keys, ringKey(tier))
	}
	done := ""
	for {
		id, err := claimScript.Run(ctx, c.rdb, keys, t.ID, linePrefix, done).Text()
		if err != nil {
			return unavailable(err)
		}
		if id == "" {
			return nil
		}
		run, err := c.begin(ctx, id)
		if err != nil {
			return err
		}
		if run == nil {
			done = id
			continue
		}
		if err := c.run(ctx, run, h); err != nil {
			return err
		}
		// When this is lost the ticket finds a call that is over, and goes on.
		if err := releaseScript.Run(context.WithoutCancel(ctx), c.rdb, []string{claimsKey}, t.ID).Err(); err != nil {
			c.log.Warn("a served call's claim could not be given back", "call_id", id, "err", err)
		}
		return nil
	}
}

// begin opens a run; nil when the call is over or nobody waits for it.
func (c *calls) begin(ctx context.Context, id string) (*CallRun, error) {
	fence := NewID()
	answer, err := beginCallScript.Run(ctx, c.rdb, []string{callKey(id), waitersKey(id)}, fence, c.afterOutage()).StringSlice()
	if err != nil {
		return nil, unavailable(err)
	}
	if answer[0] != "" {
		c.log.Debug("a call needs no work", "call_id", id, "reason", answer[0])
		return nil, nil
	}
	run := &CallRun{ID: id, fence: fence, memory: answer[4], writer: c.writer, flushed: make(chan struct{}, 1)}
	if run.Attempt, err = strconv.Atoi(answer[1]); err == nil {
		run.seq, err = strconv.ParseInt(answer[2], 10, 64)
	}
	if err == nil {
		err = json.Unmarshal([]byte(answer[3]), &run.Call)
	}
	if err != nil {
		// No other worker could read it either: the caller hears that it is lost.
		c.log.Error("a call cannot be read", "call_id", id, "err", err)
		c.forget(id, fence)
		return nil, nil
	}
	run.Call.ID = id
	run.Begun = run.seq > 0
	return run, nil
}

// run lets the handler answer a call. An error means that another run may.
func (c *calls) run(ctx context.Context, run *CallRun, h func(context.Context, *CallRun) error) error {
	rctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	run.ctx, run.end = rctx, cancel
	c.mu.Lock()
	c.runs[run] = struct{}{}
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.runs, run)
	}()
	err := guarded(func() error { return h(rctx, run) })
	cause := context.Cause(rctx)
	switch {
	case errors.Is(cause, ErrLeft):
		// What is there of the answer is nobody's: a retry gets one of its own.
		c.forget(run.ID, run.fence)
		return nil
	case run.isFinished(), errors.Is(cause, errCallLost):
		return nil
	case errors.Is(cause, errDraining) && !run.hasSent():
		return errDraining
	}
	c.log.Error("a call ended without its last frame", "call_id", run.ID, "attempt", run.Attempt, "request_id", run.Call.RequestID, "err", err)
	run.abandon()
	return nil
}

// forget drops a call in a run's name.
func (c *calls) forget(id, fence string) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*ioTimeout)
	defer cancel()
	if err := forgetScript.Run(ctx, c.rdb, callKeys(id), fence).Err(); err != nil {
		c.log.Warn("a call that nobody waits for stays for a while", "call_id", id, "err", err)
	}
}

// afterOutage reports whether Redis was away so shortly ago that those who wait
// may not be counted yet.
func (c *calls) afterOutage() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.failed) < waiterTTL
}

// all returns the runs.
func (c *calls) all() []*CallRun {
	c.mu.Lock()
	defer c.mu.Unlock()
	runs := make([]*CallRun, 0, len(c.runs))
	for r := range c.runs {
		runs = append(runs, r)
	}
	return runs
}

// left ends the run of a call that nobody waits for.
func (c *calls) left(id string) {
	for _, r := range c.all() {
		if r.ID == id {
			r.end(ErrLeft)
		}
	}
}

// watch ends runs that nobody waits for or that another run has replaced, and
// brings back those that Redis has lost.
func (c *calls) watch(ctx context.Context) {
	tick := time.NewTicker(lookAtCalls)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			c.look(ctx)
		}
	}
}

func (c *calls) look(ctx context.Context) {
	runs := c.all()
	if len(runs) == 0 {
		return
	}
	looks := make([]*redis.Cmd, len(runs))
	_, err := c.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, r := range runs {
			looks[i] = lookScript.Eval(ctx, p, []string{callKey(r.ID), waitersKey(r.ID)}, r.fence)
		}
		return nil
	})
	if err != nil {
		// An outage: the next look decides, or the fence of the next frame.
		c.mu.Lock()
		c.failed = time.Now()
		c.mu.Unlock()
		return
	}
	after := c.afterOutage()
	for i, r := range runs {
		switch looks[i].Val() {
		case "gone":
			r.restore()
		case "lost":
			r.giveUp()
		case "left":
			if !after {
				r.end(ErrLeft)
			}
		}
	}
}
