package stream

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// sendAhead is how many bytes a run may send before Redis has received them.
	sendAhead = 1 << 20
	// gatherTime is how long frames of a run that gathers wait to be written, and gatherBytes how many bytes of them.
	gatherTime  = 100 * time.Millisecond
	gatherBytes = 64 << 10
	// keepBytes is how many of the last bytes of its answer a run keeps at least, to write them again when Redis has
	// lost them.
	keepBytes = 2 << 20
)

// Run is one attempt at a call.
type Run struct {
	// ID is the id of the call, and Call the request.
	ID   string
	Call Call
	// Attempt counts from 1.
	Attempt int
	// Begun reports whether an earlier run has sent a part of the answer, which the caller may have read.
	Begun bool
	// Waited is how long the call waited for this run, by the clock of Redis.
	Waited time.Duration

	// fence is the id of this run. Scripts refuse the frames of any other.
	fence string
	keys  []any  // callKeys, as arguments of a command
	ttl   string // how long the answer is kept after its end, in ms
	to    string // the channels of the waiters when the run began
	ctx   context.Context
	// end ends ctx, with errCallLost, ErrLeft, or the cause of the server's context.
	end    context.CancelCauseFunc
	writer *writer

	// mu guards the fields below.
	mu      sync.Mutex
	seq     int64         // of the last entry in Redis
	kept    [][]byte      // the last entries, up to seq
	bytes   int           // the bytes in kept
	missing bool          // Redis has lost the call
	lost    bool          // the run may not write any more
	failing time.Time     // when Redis stopped answering; zero while it answers
	pending []byte        // frames not yet sent to Redis
	sending []byte        // frames in the current write
	final   bool          // the last frame is pending, sending or written
	closing bool          // the last frame is sending
	over    bool          // the last frame is written
	dirty   bool          // the run is in the writer's list
	gathers bool          // see Gather
	later   *time.Timer   // queues the write of gathered frames; nil when none wait
	flushed chan struct{} // gets a message when a write has ended or the run has lost its call
	inputs  int64         // the number of the last input that was received
	arrived chan struct{} // an input may have arrived
}

// Send adds a frame to the answer: bytes without a line break. It returns at once unless the run is more than
// sendAhead ahead of Redis. Frames in quick succession share a write. The error is the cause of the run's end.
func (r *Run) Send(frame []byte) error {
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
	r.addFrame(frame, false)

	return nil
}

// Gather makes frames wait up to gatherTime for further ones, so that they share a write. It is for a caller who reads
// the answer only when it is complete. The last frame does not wait.
func (r *Run) Gather() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gathers = true
}

// Sent returns the frames that earlier runs have sent, in their order. Errors: QueueUnavailable.
func (r *Run) Sent(ctx context.Context) ([][]byte, error) {
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

// Current reports whether this run still has the call, as far as Redis knows. A superseded run must not record its
// usage. Errors: QueueUnavailable.
func (r *Run) Current(ctx context.Context) (bool, error) {
	fence, err := r.writer.rdb.HGet(ctx, callKey(r.ID), "fence").Result()
	if errors.Is(err, redis.Nil) {
		// Redis has lost the call.
		return !errors.Is(context.Cause(r.ctx), errCallLost), nil
	}

	if err != nil {
		return false, unavailable(err)
	}

	return fence == r.fence, nil
}

// Finish adds the last frame and waits until Redis has the complete answer. It also works after the run's context
// has ended. Errors: QueueUnavailable after an outage of outageLimit, or that another run has the call.
func (r *Run) Finish(frame []byte) error {
	r.mu.Lock()
	r.addFrame(frame, true)
	r.mu.Unlock()
	// The end of the run's context must not cancel the last frame.
	timeout := time.NewTimer(r.writer.outage)
	defer timeout.Stop()

	for {
		r.mu.Lock()
		over := r.over
		r.mu.Unlock()

		if over {
			return nil
		}

		select {
		case <-r.flushed:
		case <-timeout.C:
			r.endLost(errCallLost)
			return unavailable(errors.New("the last frame was not written in time"))
		}

		if r.isLost() {
			return errCallLost
		}
	}
}

// abandon ends the answer without a last frame.
func (r *Run) abandon() { _ = r.Finish(nil) }

// addFrame adds a frame to the pending ones. The caller holds the lock.
func (r *Run) addFrame(frame []byte, last bool) {
	if len(frame) > 0 {
		r.pending = append(append(r.pending, frame...), '\n')
	}
	r.final = r.final || last

	switch {
	case !r.gathers, last, len(r.pending) > gatherBytes:
		r.endGathering()
		r.queueWrite()
	case r.later == nil:
		r.later = time.AfterFunc(r.writer.gather, r.writeGathered)
	}
}

// endGathering stops the timer of writeGathered. The caller holds the lock.
func (r *Run) endGathering() {
	if r.later != nil {
		r.later.Stop()
		r.later = nil
	}
}

// writeGathered queues the frames that have waited for gatherTime.
func (r *Run) writeGathered() {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.endGathering()

	if len(r.pending) > 0 {
		r.queueWrite()
	}
}

// queueWrite puts the run into the writer's list. The caller holds the lock.
func (r *Run) queueWrite() {
	if !r.dirty {
		r.dirty = true
		r.writer.add(r)
	}
}

// restore makes the writer write the whole call again after Redis has lost it.
func (r *Run) restore() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.missing = true
	r.queueWrite()
}

// isLost is mayNotWrite for callers without the lock.
func (r *Run) isLost() bool {
	r.mu.Lock()
	defer r.mu.Unlock()

	return r.mayNotWrite()
}

// mayNotWrite reports whether the run must not write. When Redis has lost the frames of a run without callers,
// they are not written again. The caller holds the lock.
func (r *Run) mayNotWrite() bool {
	return r.lost || r.missing && errors.Is(context.Cause(r.ctx), ErrLeft)
}

// isFinished reports whether Finish was called.
func (r *Run) isFinished() bool {
	r.mu.Lock()
	defer r.mu.Unlock()

	return r.final
}

// hasSent reports whether this run or an earlier one has sent a frame.
func (r *Run) hasSent() bool {
	r.mu.Lock()
	defer r.mu.Unlock()

	return r.Begun || r.seq > 0 || len(r.pending)+len(r.sending) > 0
}

// endLostLocked ends a run that may not write any more, even if its context has already ended for another reason. The
// caller holds the lock.
func (r *Run) endLostLocked(cause error) {
	r.lost = true
	r.end(cause)
	r.notify()
}

// endLost is endLostLocked for callers without the lock.
func (r *Run) endLost(cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endLostLocked(cause)
}

// notify wakes Send and Finish.
func (r *Run) notify() {
	select {
	case r.flushed <- struct{}{}:
	default:
	}
}

// takeWrite starts the write of the pending frames and returns it. ok is false when there is nothing to write or the
// run must not write.
func (r *Run) takeWrite() (w write, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if r.over || r.mayNotWrite() {
		r.dirty = false
		r.notify()

		return write{}, false
	}

	if r.missing {
		w := write{run: r, restores: []any{
			r.fence, r.Attempt, r.ttl, callTTL.Milliseconds(), waiterTTL.Milliseconds(), r.seq, r.to,
		}}
		for _, entry := range r.kept {
			w.restores = append(w.restores, entry)
		}

		return w, true
	}

	if len(r.sending) == 0 && !r.closing {
		r.sending, r.pending = r.pending, nil
		r.closing = r.final
	}

	if len(r.sending) == 0 && !r.closing {
		r.dirty = false
		return write{}, false
	}

	return write{run: r, entry: r.sending, seq: r.seq + 1, last: r.closing}, true
}

// finishWrite completes the write that takeWrite started, by the answer of Redis. more reports whether the run has
// something to write again.
func (r *Run) finishWrite(w write) (more bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.notify()

	switch {
	case w.err != nil:
		if r.failing.IsZero() {
			r.failing = time.Now()
		}

		if time.Since(r.failing) >= r.writer.outage {
			r.endLostLocked(r.writer.outageError())
		}

		return true
	case w.answer == 0:
		r.endLostLocked(errCallLost)
		return true
	case w.answer < 0:
		r.missing = true
		return true
	case w.restores != nil:
		r.missing = false
	default:
		r.seq++
		r.over = r.closing
		r.keepEntry(r.sending)
		r.sending = nil
	}
	r.failing = time.Time{}
	more = !r.over && (len(r.sending) > 0 || len(r.pending) > 0 && r.later == nil || r.final)
	r.dirty = more

	return more
}

// keepEntry adds an entry to kept and drops the oldest ones beyond keepBytes. The caller holds the lock.
func (r *Run) keepEntry(entry []byte) {
	r.kept = append(r.kept, entry)

	r.bytes += len(entry)
	for r.bytes-len(r.kept[0]) >= keepBytes {
		r.bytes -= len(r.kept[0])
		r.kept = r.kept[1:]
	}
}

// IsStopping reports whether the context of a run has ended although its caller has not left. That happens when the
// worker stops, when another run has the call, and at the time-out.
func IsStopping(ctx context.Context) bool {
	return ctx.Err() != nil && !errors.Is(context.Cause(ctx), ErrLeft)
}
