package exchange

import (
	"strings"

	"github.com/valyala/fasthttp"

	"presswork/api/messages"
	"presswork/internal/inference"
)

// MessagesClient reports whether a request is from a client of the Messages API. It expects Anthropic's form of errors
// and of models, and the header request-id.
func MessagesClient(ctx *fasthttp.RequestCtx) bool {
	path := strings.TrimPrefix(string(ctx.Path()), GroqPrefix)

	return path == "/v1/messages" || strings.HasPrefix(path, "/v1/messages/") ||
		InferencePath(path) && len(ctx.Request.Header.Peek("Anthropic-Version")) > 0
}

// writeMessagesError answers in the error format of the Messages API.
func writeMessagesError(ctx *fasthttp.RequestCtx, e *inference.Error) {
	ctx.SetStatusCode(messages.StatusOf(e))
	ctx.Response.SetBodyRaw(messages.AppendError(nil, e, Of(ctx).ID))
}

// GroqPrefix is the prefix that Groq's SDKs put before the paths under /v1.
const GroqPrefix = "/openai"

// InferencePath reports whether a path belongs to the inference API, which has OpenAI's error format.
func InferencePath(path string) bool {
	path = strings.TrimPrefix(path, GroqPrefix)
	return path == "/v1" || strings.HasPrefix(path, "/v1/")
}
