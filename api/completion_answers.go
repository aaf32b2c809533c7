package api

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
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
		return nil, inference.Errorf(http.StatusServiceUnavailable, inference.ReaderTooSlow,
			"more than %d MB of the answer waited to be read; send the request again and read the answer as it comes", stream.MaxUnread>>20).WithCause(err)
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
	return context.WithDeadlineCause(ctx, cmpl.deadline, inference.Errorf(http.StatusGatewayTimeout, inference.UpstreamTimeout,
		"there was no answer within the time that the client gave"))
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
func (s *Server) streamCompletion(c *fiber.Ctx, ctx context.Context, cmpl *completion, answer *stream.Answer, finish func()) error {
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
	c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		defer finish()
		(&completionStream{out: w, events: openai.NewWriter(cmpl.head), frames: h, patience: s.Inference.Patience}).run(ctx, first, err)
	})
	return nil
}

// firstWords waits for what decides the status: nothing and no error when it
// takes longer than a client or a proxy may be kept without headers.
func (cmpl *completion) firstWords(ctx context.Context, patience time.Duration, h *frameReader) ([]inference.Frame, error) {
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

// completionStream writes one answer as server-sent events.
type completionStream struct {
	out    *bufio.Writer
	events *openai.Writer
	frames *frameReader
	buffer []byte
	// patience is how long a stream may be silent before a comment is sent.
	patience time.Duration
}

// run writes frames until the last word, the client's leaving or the server's
// end; while there are none it writes comments, so that nobody on the way takes
// the silence for the end.
func (r *completionStream) run(ctx context.Context, frames []inference.Frame, err error) {
	for {
		r.buffer = r.buffer[:0]
		for _, f := range frames {
			if f.Chunk != nil {
				r.buffer = r.events.Append(r.buffer, f.Chunk)
			}
		}
		last := err != nil || r.frames.ended
		switch {
		case err != nil:
			r.buffer = openai.AppendErrorEvent(r.buffer, inferenceError(err))
		case r.frames.ended:
			r.buffer = append(r.buffer, openai.Done...)
		case len(r.buffer) == 0:
			r.buffer = append(r.buffer, openai.Ping...)
		}
		if r.flush() != nil || last {
			return
		}
		frames, err = r.wait(ctx)
	}
}

// flush sends the buffer. What is on its way to the connection is counted in writes, so
// that large ones would let a slow reader hold a lot of memory.
func (r *completionStream) flush() error {
	for piece := range slices.Chunk(r.buffer, writePiece) {
		if _, err := r.out.Write(piece); err != nil {
			return err
		}
	}
	return r.out.Flush()
}

// wait returns nothing at all when it is time for a comment.
func (r *completionStream) wait(ctx context.Context) ([]inference.Frame, error) {
	waiting, cancel := context.WithTimeoutCause(ctx, r.patience, errNoWordYet)
	defer cancel()
	frames, err := r.frames.next(waiting)
	if errors.Is(err, errNoWordYet) {
		return nil, nil
	}
	return frames, err
}
