package calls

import (
	"bufio"
	"net"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"presswork/api/exchange"
	"presswork/api/openai"
	"presswork/internal/lazyregexp"
)

const (
	// maxCompletionBody is the largest request for a completion, images included, in bytes.
	maxCompletionBody = 32 << 20
	// maxSpeechBody is the largest request for speech, in bytes.
	maxSpeechBody = 1 << 20
)

// Chat answers POST /v1/chat/completions.
func (h *Handlers) Chat(c *fiber.Ctx) error {
	return h.complete(c, "a request for a completion", h.Service.ReadChat)
}

// Text answers POST /v1/completions.
func (h *Handlers) Text(c *fiber.Ctx) error {
	return h.complete(c, "a request for a completion", h.Service.ReadText)
}

// Embed answers POST /v1/embeddings.
func (h *Handlers) Embed(c *fiber.Ctx) error {
	return h.complete(c, "a request for embeddings", h.Service.ReadEmbedding)
}

// Rerank answers POST /v1/rerank.
func (h *Handlers) Rerank(c *fiber.Ctx) error {
	return h.complete(c, "a request to rank documents", h.Service.ReadReranking)
}

// Draw answers POST /v1/images/generations.
func (h *Handlers) Draw(c *fiber.Ctx) error {
	return h.complete(c, "a request for images", h.Service.ReadDrawing)
}

// Moderate answers POST /v1/moderations.
func (h *Handlers) Moderate(c *fiber.Ctx) error {
	return h.complete(c, "a request for a moderation", h.Service.ReadModeration)
}

// readCall is a function that reads the body of a request for a call. Errors: *inference.Error.
type readCall = func(body []byte, head openai.Head) (*openai.Call, error)

// complete reads a request with read, runs the call, and sends the answer whole or as a stream. what names the body
// in errors. A stream outlives this handler and ends the call itself.
func (h *Handlers) complete(c *fiber.Ctx, what string, read readCall) error {
	call, err := h.readCall(c, maxCompletionBody, what, read)
	if err != nil {
		return err
	}

	if _, err := exchange.IdempotencyKey(c); err != nil {
		return err
	}
	streams := call.Streams()

	begun, err := h.beginCall(c, call)
	if err != nil {
		return err
	}
	answer := h.Service.Answer(call, begun.raw)
	exchange.SetReplayed(c, begun.raw.Joined)

	if !streams {
		defer begun.finish()

		body, queued, err := answer.Collect(begun.ctx)
		exchange.SetQueueTime(c, queued)
		setAnswerHeaders(c, answer)

		if err != nil {
			return err
		}

		return h.sendJSON(c, body)
	}

	events, queued, err := answer.Events(begun.ctx, begun.finish)
	if err != nil {
		begun.finish()
		return err
	}
	exchange.SetQueueTime(c, queued)
	setAnswerHeaders(c, answer)
	c.Set(fiber.HeaderContentType, "text/event-stream")
	c.Set(fiber.HeaderCacheControl, "no-cache, no-transform")
	exchange.SetUnbuffered(c)
	c.Context().SetBodyStream(events, -1)

	return nil
}

// Speak answers POST /v1/audio/speech: a call like a completion, whose frames are audio.
func (h *Handlers) Speak(c *fiber.Ctx) error {
	call, err := h.readCall(c, maxSpeechBody, "a request for speech", h.Service.ReadSpeech)
	if err != nil {
		return err
	}

	begun, err := h.beginCall(c, call)
	if err != nil {
		return err
	}

	speech, err := h.Service.Answer(call, begun.raw).Speech(begun.ctx)
	if err != nil {
		begun.finish()
		return err
	}

	if speech.ContentType != "" {
		c.Set(fiber.HeaderContentType, speech.ContentType)
		exchange.SetQueueTime(c, speech.Queued)
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	exchange.SetUnbuffered(c)
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

// setAnswerHeaders sets the header with the model that answers in place of the requested one. Another header has
// the fields of the request that it does not know.
func setAnswerHeaders(c *fiber.Ctx, answer *openai.Answer) {
	if id := answer.Fallback(); id != "" {
		c.Set("X-Fallback-Model", id)
	}

	if ignored := answer.Ignored(); len(ignored) > 0 {
		c.Append("X-Presswork-Warning", "fields_ignored: "+strings.Join(ignored, " "))
	}
}

// readCall reads a request for a call, whose body may have limit bytes. what names the body in errors.
func (h *Handlers) readCall(c *fiber.Ctx, limit int64, what string, read readCall) (*openai.Call, error) {
	body, head, err := h.readBody(c, limit, what)
	if err != nil {
		return nil, err
	}

	return read(body, head)
}

// readBody reads the body of a request for a call, and what the call needs of its head.
func (h *Handlers) readBody(c *fiber.Ctx, limit int64, what string) ([]byte, openai.Head, error) {
	began := time.Now()

	body, err := h.Bodies.ReadJSON(c, limit, what)
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
		Timeout:        exchange.ClientTimeout(c),
	}, nil
}

// beta matches a value of the header anthropic-beta.
var beta = lazyregexp.New(`^[A-Za-z0-9._-]{1,64}$`)

// maxBetas bounds the values of anthropic-beta that are passed on.
const maxBetas = 32

// betas returns the values of the header anthropic-beta. Those that are not names are left out.
func betas(c *fiber.Ctx) []string {
	var names []string

	for value := range strings.SplitSeq(c.Get("Anthropic-Beta"), ",") {
		if value = strings.TrimSpace(value); beta().MatchString(value) && len(names) < maxBetas {
			names = append(names, value)
		}
	}

	return names
}

// sendJSON sends a body that is encoded already.
func (h *Handlers) sendJSON(c *fiber.Ctx, body []byte) error {
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Send(body)
}
