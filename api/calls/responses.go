package calls

import (
	"github.com/gofiber/fiber/v2"

	"presswork/api/openai"
)

// Respond answers POST /v1/responses.
func (h *Handlers) Respond(c *fiber.Ctx) error {
	return h.complete(c, "a request for a response", h.Service.ReadResponse)
}

// CountResponse answers POST /v1/responses/input_tokens.
func (h *Handlers) CountResponse(c *fiber.Ctx) error {
	return h.count(c, "a request for a response", h.Service.CountResponse)
}

// count answers a request to count the tokens of a request. what names the body in errors. The answer is an
// estimate, and a header says so, if no upstream can count or no worker has time.
func (h *Handlers) count(c *fiber.Ctx, what string, read func([]byte, openai.Head) (*openai.Count, error)) error {
	body, head, err := h.readBody(c, maxCompletionBody, what)
	if err != nil {
		return err
	}

	count, err := read(body, head)
	if err != nil {
		return err
	}

	if count.Call != nil {
		begun, err := h.beginCall(c, count.Call)
		if err == nil {
			defer begun.finish()
			_, _, err = h.Service.Answer(count.Call, begun.raw).Collect(begun.ctx)
		}

		if err != nil {
			h.Log.Warn("the tokens of a request were estimated", "error", err)
		}
	}

	if count.Estimated() {
		c.Append("X-Presswork-Warning", "tokens_estimated")
	}

	return h.sendJSON(c, count.Append(nil))
}

// Message answers POST /v1/messages.
func (h *Handlers) Message(c *fiber.Ctx) error {
	return h.complete(c, "a request for a message", h.Service.ReadMessage)
}

// CountMessage answers POST /v1/messages/count_tokens.
func (h *Handlers) CountMessage(c *fiber.Ctx) error {
	return h.count(c, "a request for a message", h.Service.CountMessage)
}
