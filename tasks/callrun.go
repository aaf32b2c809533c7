package tasks

import (
	"context"
	"errors"
	"sync"
	"time"
)

// sendAhead is how many bytes a run may be ahead of Redis.
const sendAhead = 1 << 20

// MaxCallAttempts is how many runs a call is worth: a handler that finds itself
// beyond it answers with an error, because the ones before took their workers
// down.
const MaxCallAttempts = 3

// CallRun is one attempt at a call.
type CallRun struct {
	ID   string
	Call Call
	// Attempt counts from 1.
	Attempt int
	// Begun tells that an earlier run has sent a part of the answer, which the
	// caller has heard.
	Begun bool

	fence  string
	ctx    context.Context
	end    context.CancelCauseFunc
	writer *callWriter

	mu      sync.Mutex
	seq     int64  // of the last entry in Redis
	pending []byte // frames not yet given to Redis
	sending []byte // frames on their way there
	final   bool   // the last frame is pending, sending or written
	closing bool   // the last frame is sending
	over    bool   // the last frame is written
	dirty   bool   // the writer knows of this run
	flushed chan struct{}
}

// Send adds a frame to the answer: bytes without a line break. It returns at
// once, and waits only when the run is far ahead of Redis. Frames that come
// close together travel together. The error is the cause of the run's end.
func (r *CallRun) Send(frame []byte) error {
	r.mu.Lock()
	for len(r.pending) > sendAhead && r.ctx.Err() == nil {
		r.mu.Unlock()
		select {
		case <-r.flushed:
		case <-r.ctx.Done():
		}
		r.mu.Lock()
	}
	defer r.mu.Unlock()
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	r.add(frame, false)
	return nil
}

// Sent returns the frames that earlier runs have sent.
func (r *CallRun) Sent(ctx context.Context) ([][]byte, error) {
	entries, err := r.writer.rdb.XRange(ctx, framesKey(r.ID), "-", "+").Result()
	if err != nil {
		return nil, unavailable(err)
	}
	var frames [][]byte
	for _, e := range entries {
		data, _ := e.Values["d"].(string)
		frames = appendFrames(frames, []byte(data))
	}
	return frames, nil
}

// Finish adds the last frame and waits until the answer is whole.
func (r *CallRun) Finish(frame []byte) error {
	r.mu.Lock()
	r.add(frame, true)
	r.mu.Unlock()
	// The end of the run's context must not cut off its last word.
	patience := time.NewTimer(commitPatience)
	defer patience.Stop()
	for {
		r.mu.Lock()
		over := r.over
		r.mu.Unlock()
		if over {
			return nil
		}
		select {
		case <-r.flushed:
		case <-patience.C:
			r.lose()
			return unavailable(errors.New("the last frame was not written in time"))
		}
		if errors.Is(context.Cause(r.ctx), errCallLost) {
			return errCallLost
		}
	}
}

// abandon ends the answer without a word of its own.
func (r *CallRun) abandon() { _ = r.Finish(nil) }

// add is called with the lock held.
func (r *CallRun) add(frame []byte, last bool) {
	if len(frame) > 0 {
		r.pending = append(append(r.pending, frame...), '\n')
	}
	r.final = r.final || last
	if !r.dirty {
		r.dirty = true
		r.writer.mark(r)
	}
}

func (r *CallRun) isFinished() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.final
}

func (r *CallRun) hasSent() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Begun || r.seq > 0 || len(r.pending)+len(r.sending) > 0
}

// lose ends a run whose call is another's now.
func (r *CallRun) lose() {
	r.end(errCallLost)
	select {
	case r.flushed <- struct{}{}:
	default:
	}
}

// take moves what is pending on its way; ok is false when there is nothing, or
// when the run may not write any more.
func (r *CallRun) take() (seq int64, data []byte, last, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over || errors.Is(context.Cause(r.ctx), errCallLost) {
		r.dirty = false
		return 0, nil, false, false
	}
	if len(r.sending) == 0 && !r.closing {
		r.sending, r.pending = r.pending, nil
		r.closing = r.final
	}
	if len(r.sending) == 0 && !r.closing {
		r.dirty = false
		return 0, nil, false, false
	}
	return r.seq + 1, r.sending, r.closing, true
}

// written settles what take gave; more tells that there is something to write
// again.
func (r *CallRun) written(ok bool) (more bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ok {
		r.seq++
		r.over = r.closing
		r.sending = nil
	}
	more = !r.over && (len(r.sending)+len(r.pending) > 0 || r.final)
	r.dirty = more
	select {
	case r.flushed <- struct{}{}:
	default:
	}
	return more
}
