package api

import (
	"github.com/gofiber/fiber/v2"

	"presswork/api/openai"
)

// createResponse answers POST /v1/responses.
func (s *Server) createResponse(c *fiber.Ctx) error {
	return s.complete(c, "a request for a response", s.v1.ReadResponse)
}

// countResponse answers POST /v1/responses/input_tokens.
func (s *Server) countResponse(c *fiber.Ctx) error {
	return s.count(c, "a request for a response", s.v1.CountResponse)
}

// count answers a request to count the tokens of a request. what names the body in errors. The answer is the estimate,
// with a header, if no upstream can count or no worker has time.
func (s *Server) count(c *fiber.Ctx, what string, read func([]byte, openai.Head) (*openai.Count, error)) error {
	body, head, err := s.readBody(c, maxCompletionBody, what)
	if err != nil {
		return err
	}

	count, err := read(body, head)
	if err != nil {
		return err
	}

	if count.Call != nil {
		begun, err := s.beginCall(c, count.Call)
		if err == nil {
			defer begun.finish()
			_, _, err = s.v1.Answer(count.Call, begun.raw).Collect(begun.ctx)
		}

		if err != nil {
			s.Log.Warn("the tokens of a request were estimated", "error", err)
		}
	}

	if count.Estimated() {
		c.Append("X-Presswork-Warning", "tokens_estimated")
	}

	return s.sendJSON(c, count.Append(nil))
}

// createMessage answers POST /v1/messages.
func (s *Server) createMessage(c *fiber.Ctx) error {
	return s.complete(c, "a request for a message", s.v1.ReadMessage)
}

// countMessage answers POST /v1/messages/count_tokens.
func (s *Server) countMessage(c *fiber.Ctx) error {
	return s.count(c, "a request for a message", s.v1.CountMessage)
}
