package api

import (
	"github.com/gofiber/fiber/v2"

	"presswork/api/openai"
)

// createResponse answers POST /v1/responses.
func (s *Server) createResponse(c *fiber.Ctx) error {
	return s.complete(c, "a request for a response", s.v1.ReadResponse)
}

// countTokens answers POST /v1/responses/input_tokens.
func (s *Server) countTokens(c *fiber.Ctx) error {
	return s.count(c, "a request for a response", s.v1.CountTokens)
}

// count answers a request to count the tokens of a request. what names the body in errors.
func (s *Server) count(c *fiber.Ctx, what string, tokensOf func([]byte, openai.Head) ([]byte, error)) error {
	body, head, err := s.readBody(c, maxCompletionBody, what)
	if err != nil {
		return err
	}

	count, err := tokensOf(body, head)
	if err != nil {
		return err
	}

	return s.sendJSON(c, count)
}
