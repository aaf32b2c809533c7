package openai

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"presswork/internal/inference"
	"presswork/tasks/stream"
)

// Answer turns the frames that a worker sends for a call into the answer to its client. It is not safe for concurrent
// use.
type Answer struct {
	service *Service
	call    *Call
	// raw has the frames of the worker, or of an earlier call with the same idempotency key.
	raw *stream.Answer
	// model is the id of the model that answers, ignored are the fields of the request that it does not know.
	model   string
	ignored []string
	// ended is set after the last frame. failure is the error that the last frame carries, nil for none.
	ended   bool
	failure error
}

// Answer returns the answer to a call, read from raw. Its id is that of raw, which is an earlier call if the client
// repeated an idempotency key.
func (s *Service) Answer(call *Call, raw *stream.Answer) *Answer {
	a := &Answer{service: s, call: call, raw: raw}
	// Only calls with fallbacks must tell which model answers.
	if call.requestedID != "" {
		a.model = call.model.ID
	}

	return a
}

// next waits for frames. It may return frames together with the error that ended the answer; later calls return the
// error again. Errors: io.EOF after the last frame, the cause of ctx, and an *inference.Error if the call failed or the
// client reads too slowly.
func (a *Answer) next(ctx context.Context) ([]inference.Frame, error) {
	if a.failure != nil {
		return nil, a.failure
	}

	if a.ended {
		return nil, io.EOF
	}

	raw, err := a.raw.Next(ctx)
	switch {
	case errors.Is(err, io.EOF):
		return nil, inference.NoResult()
	case errors.Is(err, stream.ErrSlow):
		return nil, inference.Errorf(http.StatusServiceUnavailable, inference.ReaderTooSlow,
			"more than %d MiB of the answer waited to be read; send the request again and read the answer as it comes",
			stream.MaxUnread>>20).WithCause(err)
	case err != nil:
		return nil, err
	}
	frames, ended, err := inference.ReadFrames(raw)
	a.ended, a.failure = ended, err

	for i := range frames {
		c := frames[i].Chunk
		if c == nil || !c.First {
			continue
		}

		a.ignored = c.Ignored
		if c.Model != "" {
			a.model = c.Model
		}
	}

	return frames, err
}

// Collect waits for the whole answer and returns its body. queued is how long the call waited for a worker,
// negative when no worker took it. Errors are *inference.Error, in the public form.
func (a *Answer) Collect(ctx context.Context) (body []byte, queued time.Duration, err error) {
	ctx, cancel := a.call.untilDeadline(ctx)
	defer cancel()
	whole := a.call.format.collector(a.raw.ID)
	queued = -1

	for {
		frames, err := a.next(ctx)
		if errors.Is(err, io.EOF) {
			return whole.Append(nil), queued, nil
		}

		for i := range frames {
			whole.Add(&frames[i])
		}
		queued = max(queued, queueTime(frames))

		if err != nil {
			return nil, queued, whole.Failed(a.service.o.PublicError(err))
		}
	}
}

// queueTime returns how long the call waited for a worker. It is in the first frame of the answer; without that frame
// it is -1.
func queueTime(frames []inference.Frame) time.Duration {
	for _, f := range frames {
		if f.Chunk != nil && f.Chunk.First || f.Ranking != nil || f.Vectors != nil && f.Vectors.First ||
			f.Relayed != nil && f.Relayed.First {
			return time.Duration(f.QueueTime * float64(time.Second))
		}
	}

	return -1
}

// Events waits for the first chunk and returns the completion as server-sent events. queued is how long the call waited
// for a worker, negative when that is not known. An error before the first chunk is returned, so that the answer can
// have its status. A later error is sent as an event. Events returns the stream without a chunk after the call's
// statusPatience, or after Patience if that is 0: proxies close requests that get no headers. The stream calls finish
// once, at its end. After an error the caller must call finish.
func (a *Answer) Events(ctx context.Context, finish func()) (events io.ReadCloser, queued time.Duration, err error) {
	patience := a.service.o.Patience

	first, err := a.firstFrames(ctx, cmp.Or(a.call.statusPatience, patience))
	if err != nil && len(first) == 0 {
		return nil, -1, err
	}

	return &eventStream{
		ctx: ctx, finish: sync.OnceFunc(finish), events: a.call.format.events(a.raw.ID), answer: a,
		patience: patience, received: first, err: err, fresh: true,
	}, queueTime(first), nil
}

// firstFrames waits for the first frames. When they take longer than patience, it returns no frames and no error.
func (a *Answer) firstFrames(ctx context.Context, patience time.Duration) ([]inference.Frame, error) {
	ctx, cancel := a.call.untilDeadline(ctx)
	defer cancel()

	ctx, stop := context.WithTimeoutCause(ctx, patience, errNoFrame)
	defer stop()

	frames, err := a.next(ctx)
	if errors.Is(err, errNoFrame) {
		return nil, nil
	}

	return frames, err
}

// errNoFrame ends a wait for frames that took too long.
var errNoFrame = errors.New("no frame arrived in time")

// eventStream is an answer as server-sent events. The connection reads it directly: a goroutine that writes to a pipe
// would double the CPU time for a token.
type eventStream struct {
	ctx    context.Context
	finish func()
	events events
	answer *Answer
	// patience is the time without a frame after which a keep-alive event is sent.
	patience time.Duration

	// begun reports that the start of the stream was written.
	begun bool
	// received are the last frames, err is the error after them. fresh is set until fillBuffer has put both into the
	// buffer.
	received []inference.Frame
	err      error
	fresh    bool
	// buffer holds the encoded events, unread the part that Read has not returned. The buffer is reused once all of
	// it was read.
	buffer, unread []byte
	// waiting ends patience after its creation. waitForFrames renews it after half of that time.
	waiting context.Context
	cancel  context.CancelFunc
}

// Read implements io.Reader. It waits for frames until the completion ends, the client leaves or the server stops.
// When no frame arrives for patience it returns a keep-alive event, so that proxies do not close
// the idle stream.
func (r *eventStream) Read(p []byte) (int, error) {
	if len(r.unread) == 0 {
		if !r.fresh && (r.err != nil || r.answer.ended) {
			r.finish()
			return 0, io.EOF
		}

		if !r.fresh {
			r.waitForFrames()
		}
		r.fresh = false
		r.fillBuffer()
	}
	n := copy(p, r.unread)
	r.unread = r.unread[n:]

	return n, nil
}

// Close implements io.Closer.
func (r *eventStream) Close() error {
	if r.cancel != nil {
		r.cancel()
	}
	r.finish()

	return nil
}

// fillBuffer fills the buffer with the events of the received frames.
func (r *eventStream) fillBuffer() {
	r.buffer = r.buffer[:0]
	if !r.begun {
		r.buffer, r.begun = r.events.Begin(r.buffer), true
	}

	for _, f := range r.received {
		if f.Chunk != nil {
			r.buffer = r.events.Append(r.buffer, f.Chunk)
		}
	}

	switch {
	case r.err != nil:
		r.buffer = r.events.Fail(r.buffer, r.answer.service.o.PublicError(r.err))
	case r.answer.ended:
		r.buffer = r.events.End(r.buffer)
	case len(r.buffer) == 0:
		r.buffer = r.events.Idle(r.buffer)
	}
	r.unread = r.buffer
}

// waitForFrames sets received and err. It leaves received empty when it is time for a keep-alive event. One
// context serves many waits, because a new one for each token is expensive. So the keep-alive event may come after only
// patience/2 without a frame.
func (r *eventStream) waitForFrames() {
	if r.waiting == nil || r.sinceContext() > r.patience/2 {
		if r.cancel != nil {
			r.cancel()
		}
		r.waiting, r.cancel = context.WithTimeoutCause(r.ctx, r.patience, errNoFrame)
	}

	r.received, r.err = r.answer.next(r.waiting)
	if errors.Is(r.err, errNoFrame) {
		r.received, r.err = nil, nil
	}
}

// sinceContext returns the time since r.waiting was created.
func (r *eventStream) sinceContext() time.Duration {
	until, _ := r.waiting.Deadline()
	return r.patience - time.Until(until)
}

// Speech is the audio of an answer. It is sent while the engine still generates the rest.
type Speech struct {
	// ContentType is the media type of the audio; "" when the worker sent none.
	ContentType string
	// Queued is how long the call waited for a worker; 0 if ContentType is "".
	Queued time.Duration

	answer *Answer
	// first are the frames that arrived with the first audio; Copy writes them first.
	first []inference.Frame
}

// Speech waits for the first audio. It returns an error that comes before the audio, so that the answer can have its
// status.
func (a *Answer) Speech(ctx context.Context) (*Speech, error) {
	ctx, cancel := a.call.untilDeadline(ctx)
	defer cancel()

	first, err := a.next(ctx)
	if len(first) == 0 && err != nil {
		return nil, err
	}
	// If an error came with the first frames, next returns it again to Copy.
	speech := &Speech{answer: a, first: first}

	for _, f := range first {
		if f.Sound != nil && f.Sound.ContentType != "" {
			speech.ContentType = f.Sound.ContentType
			speech.Queued = time.Duration(f.QueueTime * float64(time.Second))
		}
	}

	return speech, nil
}

// Flusher is a writer with a buffer.
type Flusher interface {
	io.Writer
	Flush() error
}

// Copy writes and flushes each piece of audio when it arrives. It returns an error when the audio is not complete:
// that of w, of the completion, or the cause of ctx.
func (sp *Speech) Copy(ctx context.Context, w Flusher) error {
	frames := sp.first
	for {
		for _, f := range frames {
			if f.Sound == nil {
				continue
			}

			if _, err := w.Write(f.Sound.Data); err != nil {
				return err
			}
		}

		if err := w.Flush(); err != nil || sp.answer.ended && sp.answer.failure == nil {
			return err
		}

		var err error
		if frames, err = sp.answer.next(ctx); err != nil {
			return err
		}
	}
}
