package api

import (
	"bufio"
	"fmt"
	"math"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"presswork/api/exchange"
	"presswork/api/openai"
	"presswork/internal/inference"
	"presswork/internal/inference/seal"
)

const (
	// maxCompletionBody is the largest request for a completion, images included, in bytes.
	maxCompletionBody = 32 << 20
	// maxSpeechBody is the largest request for speech, in bytes.
	maxSpeechBody = 1 << 20
)

// completeChat answers POST /v1/chat/completions.
func (s *Server) completeChat(c *fiber.Ctx) error {
	return s.complete(c, "a request for a completion", s.v1.ReadChat)
}

// completeText answers POST /v1/completions.
func (s *Server) completeText(c *fiber.Ctx) error {
	return s.complete(c, "a request for a completion", s.v1.ReadText)
}

// embed answers POST /v1/embeddings.
func (s *Server) embed(c *fiber.Ctx) error {
	return s.complete(c, "a request for embeddings", s.v1.ReadEmbedding)
}

// rerank answers POST /v1/rerank.
func (s *Server) rerank(c *fiber.Ctx) error {
	return s.complete(c, "a request to rank documents", s.v1.ReadReranking)
}

// draw answers POST /v1/images/generations.
func (s *Server) draw(c *fiber.Ctx) error {
	return s.complete(c, "a request for images", s.v1.ReadDrawing)
}

// moderate answers POST /v1/moderations.
func (s *Server) moderate(c *fiber.Ctx) error {
	return s.complete(c, "a request for a moderation", s.v1.ReadModeration)
}

// readCall reads the body of a request for a call.
type readCall = func(body []byte, h openai.Head) (*openai.Call, error)

// complete reads a request with read, runs the call, and sends the answer whole or as a stream. what names the body
// in errors. A stream outlives this handler and ends the call itself.
func (s *Server) complete(c *fiber.Ctx, what string, read readCall) error {
	call, err := s.readCall(c, maxCompletionBody, what, read)
	if err != nil {
		return err
	}

	if _, err := exchange.IdempotencyKey(c); err != nil {
		return err
	}
	streams := call.Streams()

	begun, err := s.beginCall(c, call)
	if err != nil {
		return err
	}
	answer := s.v1.Answer(call, begun.raw)

	if begun.raw.Joined {
		c.Set("Idempotent-Replayed", "true")
	}

	if !streams {
		defer begun.finish()

		body, queued, err := answer.Collect(begun.ctx)
		setQueueTime(c, queued)
		setFallback(c, answer)

		if err != nil {
			return err
		}

		return s.sendJSON(c, body)
	}

	events, queued, err := answer.Events(begun.ctx, begun.finish)
	if err != nil {
		begun.finish()
		return err
	}
	setQueueTime(c, queued)
	setFallback(c, answer)
	c.Set(fiber.HeaderContentType, "text/event-stream")
	c.Set(fiber.HeaderCacheControl, "no-cache, no-transform")
	setUnbuffered(c)
	c.Context().SetBodyStream(events, -1)

	return nil
}

// speak answers POST /v1/audio/speech: a call like a completion, whose frames are audio.
func (s *Server) speak(c *fiber.Ctx) error {
	call, err := s.readCall(c, maxSpeechBody, "a request for speech", s.v1.ReadSpeech)
	if err != nil {
		return err
	}

	begun, err := s.beginCall(c, call)
	if err != nil {
		return err
	}

	speech, err := s.v1.Answer(call, begun.raw).Speech(begun.ctx)
	if err != nil {
		begun.finish()
		return err
	}

	if speech.ContentType != "" {
		c.Set(fiber.HeaderContentType, speech.ContentType)
		setQueueTime(c, speech.Queued)
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	setUnbuffered(c)
	connection := c.Context().Conn()
	c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		defer begun.finish()

		if err := speech.Copy(begun.ctx, w); err != nil {
			// A regular end of the answer would look like the end of the audio.
			cut(connection)
		}
	})

	return nil
}

// cut closes a connection whose answer cannot be completed. The client then sees a broken transfer.
func cut(c net.Conn) { _ = c.Close() }

// setUnbuffered asks proxies such as nginx to forward an answer as it arrives.
func setUnbuffered(c *fiber.Ctx) { c.Set("X-Accel-Buffering", "no") }

// setQueueTime sets the header with the time that the request waited for a worker. A negative wait is unknown and
// sets no header.
func setQueueTime(c *fiber.Ctx, wait time.Duration) {
	if wait >= 0 {
		c.Set("X-Queue-Time-Ms", strconv.FormatFloat(math.Round(wait.Seconds()*1e6)/1e3, 'f', -1, 64))
	}
}

// setFallback sets the header with the model that answers in place of the requested one. Another header has the fields
// of the request that it does not know.
func setFallback(c *fiber.Ctx, answer *openai.Answer) {
	if id := answer.Fallback(); id != "" {
		c.Set("X-Fallback-Model", id)
	}

	if ignored := answer.Ignored(); len(ignored) > 0 {
		c.Append("X-Presswork-Warning", "fields_ignored: "+strings.Join(ignored, " "))
	}
}

// readCall reads a request for a call, whose body may have limit bytes. what names the body in errors.
func (s *Server) readCall(c *fiber.Ctx, limit int64, what string, read readCall) (*openai.Call, error) {
	body, head, err := s.readBody(c, limit, what)
	if err != nil {
		return nil, err
	}

	return read(body, head)
}

// readBody reads the body of a request for a call, and what the call needs of its head.
func (s *Server) readBody(c *fiber.Ctx, limit int64, what string) ([]byte, openai.Head, error) {
	began := time.Now()

	body, err := s.bodies.ReadJSON(c, limit, what)
	if err != nil {
		return nil, openai.Head{}, err
	}
	meta := exchange.Of(c.Context())

	return body, openai.Head{
		Caller:         meta.Caller,
		RequestID:      meta.ID,
		TraceParent:    meta.Trace,
		IdempotencyKey: c.Get("Idempotency-Key"),
		Began:          began,
		Betas:          betas(c),
		Timeout:        clientTimeout(c),
	}, nil
}

// beta matches a value of the header anthropic-beta.
var beta = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// maxBetas bounds the values of anthropic-beta that are passed on.
const maxBetas = 32

// betas returns the values of the header anthropic-beta. Those that are not names are left out.
func betas(c *fiber.Ctx) []string {
	var names []string

	for value := range strings.SplitSeq(c.Get("Anthropic-Beta"), ",") {
		if value = strings.TrimSpace(value); beta.MatchString(value) && len(names) < maxBetas {
			names = append(names, value)
		}
	}

	return names
}

// clientTimeout returns how long the client waits, by the header that its SDK sends; 0 when there is none.
func clientTimeout(c *fiber.Ctx) time.Duration {
	for _, header := range []string{"X-Stainless-Timeout", "X-Stainless-Read-Timeout"} {
		if seconds, err := strconv.ParseFloat(c.Get(header), 64); err == nil && seconds > 0 && seconds < 24*3600 {
			return time.Duration(seconds * float64(time.Second))
		}
	}

	return 0
}

// Inference configures the routes under /v1.
type Inference struct {
	// Calls queues completions and reads their answers.
	Calls openai.Calls
	// Models returns the current models.
	Models func() *inference.Catalogue
	// Vendor names the member x_<vendor> of answers.
	Vendor string
	// Lax ignores parameters that cannot be combined, instead of rejecting the request.
	Lax bool
	// Patience is how long the server withholds the status of a stream while it waits for the first chunk. An error
	// before the chunk can then set the status. It is also the time between two comments while no chunk arrives.
	// Default 10 s.
	Patience time.Duration
	// QueueTimeout is how long a request waits for a worker. Default: as long as its client waits.
	QueueTimeout time.Duration
}

// newV1 returns the service behind the routes under /v1; nil without Inference. secret is Options.TokenSecret.
func newV1(o *Inference, secret []byte) (*openai.Service, error) {
	if o == nil {
		return nil, nil
	}

	sealer, err := seal.New(secret)
	if err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}

	return openai.New(openai.Options{
		Calls:        o.Calls,
		Models:       o.Models,
		Vendor:       o.Vendor,
		Lax:          o.Lax,
		Patience:     o.Patience,
		QueueTimeout: o.QueueTimeout,
		Sealer:       sealer,
		PublicError:  exchange.InferenceError,
	}), nil
}

// sendJSON sends a body that is encoded already.
func (s *Server) sendJSON(c *fiber.Ctx, body []byte) error {
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Send(body)
}
