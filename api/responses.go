package api

import (
	"github.com/gofiber/fiber/v2"
)

// createResponse answers POST /v1/responses.
func (s *Server) createResponse(c *fiber.Ctx) error {
	return s.complete(c, "a request for a response", s.v1.ReadResponse)
}

// countTokens answers POST /v1/responses/input_tokens.
func (s *Server) countTokens(c *fiber.Ctx) error {
	body, head, err := s.readBody(c, maxCompletionBody, "a request for a response")
	if err != nil {
		return err
	}

	count, err := s.v1.CountTokens(body, head)
	if err != nil {
		return err
	}

	return s.sendJSON(c, count)
}
