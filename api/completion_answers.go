package api

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"presswork/internal/inference"
	"presswork/internal/inference/openai"
	"presswork/tasks/stream"
)

// frameReader decodes the frames a worker sends for a completion.
type frameReader struct {
	answer *stream.Answer
	// ended is set after the last frame, failure is what it said.
	ended   bool
	failure error
}

// next returns the frames that came, waiting for some. After the last it
// returns io.EOF. An error of the completion, and that of a reader who is too slow, is
// an *inference.Error.
func (f *frameReader) next(ctx context.Context) ([]inference.Frame, error) {
	if f.failure != nil {
		return nil, f.failure
	}

	if f.ended {
		return nil, io.EOF
	}

	raw, err := f.answer.Next(ctx)
	switch {
	case errors.Is(err, io.EOF):
		return nil, inference.GaveUp()
	case errors.Is(err, stream.ErrSlow):
		return nil, inference.Errorf(
			http.StatusServiceUnavailable,
			inference.ReaderTooSlow,
			"more than %d MB of the answer waited to be read; send the request again and read the answer as it comes",
			stream.MaxUnread>>20,
		).WithCause(err)
	case err != nil:
		return nil, err
	}
	frames, ended, err := inference.ReadFrames(raw)
	f.ended, f.failure = ended, err

	return frames, err
}

// patience bounds a wait by the client's own.
func (cmpl *completion) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	if cmpl.deadline.IsZero() {
		return context.WithCancel(ctx)
	}

	return context.WithDeadlineCause(
		ctx,
		cmpl.deadline,
		inference.Errorf(http.StatusGatewayTimeout, inference.UpstreamTimeout,
			"there was no answer within the time that the client gave"),
	)
}

// collectCompletion answers with the whole completion.
func (s *Server) collectCompletion(c *fiber.Ctx, ctx context.Context, cmpl *completion, answer *stream.Answer) error {
	ctx, cancel := cmpl.patience(ctx)
	defer cancel()
	whole := openai.NewCollector(cmpl.head)

	for h := (&frameReader{answer: answer}); ; {
		frames, err := h.next(ctx)
		if errors.Is(err, io.EOF) {
			return s.sendJSON(c, whole.Append(nil))
		}

		for _, f := range frames {
			if f.Chunk != nil {
				whole.Add(f.Chunk)
				setQueueTime(c, f)
			}
		}

		if err != nil {
			return whole.Failed(inferenceError(err))
		}
	}
}

func setQueueTime(c *fiber.Ctx, f inference.Frame) {
	if f.Chunk.First {
		setQueueMillis(c, time.Duration(f.QueueTime*float64(time.Second)))
	}
}

// setQueueMillis says how long the request waited for a worker.
func setQueueMillis(c *fiber.Ctx, wait time.Duration) {
	c.Set("X-Queue-Time-Ms", strconv.FormatFloat(math.Round(wait.Seconds()*1e6)/1e3, 'f', -1, 64))
}

// streamCompletion relays the completion as server-sent events. finish is
// called when the answer has ended.
func (s *Server) streamCompletion(
	c *fiber.Ctx,
	ctx context.Context,
	cmpl *completion,
	answer *stream.Answer,
	finish func(),
) error {
	h := &frameReader{answer: answer}

	first, err := cmpl.firstWords(ctx, s.Inference.Patience, h)
	if err != nil && len(first) == 0 {
		finish()
		return err
	}

	for _, f := range first {
		if f.Chunk != nil {
			setQueueTime(c, f)
		}
	}
	c.Set(fiber.HeaderContentType, "text/event-stream")
	c.Set(fiber.HeaderCacheControl, "no-cache, no-transform")
	// Proxies of the nginx kind hold back what they could buffer.
	c.Set("X-Accel-Buffering", "no")
	c.Context().SetBodyStream(&completionStream{
		ctx: ctx, finish: sync.OnceFunc(finish), events: openai.NewWriter(cmpl.head), frames: h,
		patience: s.Inference.Patience, came: first, err: err, fresh: true,
	}, -1)

	return nil
}

// firstWords waits for what decides the status: nothing and no error when it
// takes longer than a client or a proxy may be kept without headers.
func (cmpl *completion) firstWords(
	ctx context.Context,
	patience time.Duration,
	h *frameReader,
) ([]inference.Frame, error) {
	ctx, cancel := cmpl.patience(ctx)
	defer cancel()

	ctx, stop := context.WithTimeoutCause(ctx, patience, errNoWordYet)
	defer stop()

	frames, err := h.next(ctx)
	if errors.Is(err, errNoWordYet) {
		return nil, nil
	}

	return frames, err
}

var errNoWordYet = errors.New("no word yet")

// completionStream is one answer as server-sent events, as the connection reads it: a
// goroutine that writes them to a pipe would cost as much as the rest of a token's way.
type completionStream struct {
	ctx    context.Context
	finish func()
	events *openai.Writer
	frames *frameReader
	// patience is how long a stream may be silent before a comment is sent.
	patience time.Duration

	// came are frames with the error that followed them; fresh is set until they are
	// in the buffer.
	came  []inference.Frame
	err   error
	fresh bool
	// buffer is used again once all of it was read.
	buffer, unread []byte
	// waiting is ctx until the silence has lasted too long.
	waiting context.Context
	cancel  context.CancelFunc
}

// Read implements io.Reader. It waits for frames until the last word, the client's
// leaving or the server's end; while there are none it gives comments, so that nobody
// on the way takes the silence for the end.
func (r *completionStream) Read(p []byte) (int, error) {
	if len(r.unread) == 0 {
		if !r.fresh && (r.err != nil || r.frames.ended) {
			r.finish()
			return 0, io.EOF
		}

		if !r.fresh {
			r.wait()
		}
		r.fresh = false
		r.write()
	}
	n := copy(p, r.unread)
	r.unread = r.unread[n:]

	return n, nil
}

// Close implements io.Closer.
func (r *completionStream) Close() error {
	if r.cancel != nil {
		r.cancel()
	}
	r.finish()

	return nil
}

// write fills the buffer with the events of what came.
func (r *completionStream) write() {
	r.buffer = r.buffer[:0]
	for _, f := range r.came {
		if f.Chunk != nil {
			r.buffer = r.events.Append(r.buffer, f.Chunk)
		}
	}

	switch {
	case r.err != nil:
		r.buffer = openai.AppendErrorEvent(r.buffer, inferenceError(r.err))
	case r.frames.ended:
		r.buffer = append(r.buffer, openai.Done...)
	case len(r.buffer) == 0:
		r.buffer = append(r.buffer, openai.Ping...)
	}
	r.unread = r.buffer
}

// wait waits for frames; there are none when it is time for a comment. A context
// serves many waits: making one for each token is expensive, and a comment after half of
// the patience does no harm.
func (r *completionStream) wait() {
	if r.waiting == nil || r.silence() > r.patience/2 {
		if r.cancel != nil {
			r.cancel()
		}
		r.waiting, r.cancel = context.WithTimeoutCause(r.ctx, r.patience, errNoWordYet)
	}

	r.came, r.err = r.frames.next(r.waiting)
	if errors.Is(r.err, errNoWordYet) {
		r.came, r.err = nil, nil
	}
}

// silence is how much of the patience has passed since the last context was made.
func (r *completionStream) silence() time.Duration {
	until, _ := r.waiting.Deadline()
	return r.patience - time.Until(until)
}
