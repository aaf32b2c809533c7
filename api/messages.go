package api

import (
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"presswork/api/messages"
	"presswork/internal/inference"
)

// createMessage answers POST /v1/messages.
func (s *Server) createMessage(c *fiber.Ctx) error {
	return s.complete(c, "a request for a message", s.v1.ReadMessage)
}

// countMessage answers POST /v1/messages/count_tokens.
func (s *Server) countMessage(c *fiber.Ctx) error {
	return s.count(c, "a request for a message", s.v1.CountMessage)
}

// messagesClient reports whether a request is from a client of the Messages API. It expects Anthropic's form of errors
// and of models, and the header request-id.
func messagesClient(ctx *fasthttp.RequestCtx) bool {
	path := strings.TrimPrefix(string(ctx.Path()), groqPrefix)

	return path == "/v1/messages" || strings.HasPrefix(path, "/v1/messages/") ||
		inferencePath(path) && len(ctx.Request.Header.Peek("Anthropic-Version")) > 0
}

// writeMessagesError answers in the error format of the Messages API.
func writeMessagesError(ctx *fasthttp.RequestCtx, e *inference.Error) {
	ctx.SetStatusCode(messages.StatusOf(e))
	ctx.Response.SetBodyRaw(messages.AppendError(nil, e, metadataOf(ctx).id))
}
