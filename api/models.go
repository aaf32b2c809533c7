package api

import (
	"net/url"

	"github.com/gofiber/fiber/v2"

	"presswork/api/exchange"
	"presswork/api/messages"
	"presswork/api/openai"
	"presswork/internal/fault"
	"presswork/internal/input"
)

// listModels answers GET /v1/models.
func (s *Server) listModels(c *fiber.Ctx) error {
	list := s.v1.AppendModels
	if exchange.MessagesClient(c.Context()) {
		list = s.v1.AppendMessageModels
	}

	return s.sendJSON(c, list(nil, exchange.Of(c.Context()).Caller))
}

// getModel answers GET /v1/models/{id}. The id may have slashes, encoded or not.
func (s *Server) getModel(c *fiber.Ctx) error {
	id, err := url.PathUnescape(c.Params("*"))
	if err != nil {
		return fault.Errorf(fault.InvalidRequest, "%s is not a percent-encoded model id", input.Quote(c.Params("*")))
	}

	m, err := s.v1.Model(exchange.Of(c.Context()).Caller, id)
	if err != nil {
		return err
	}

	if exchange.MessagesClient(c.Context()) {
		return s.sendJSON(c, messages.AppendModel(nil, m))
	}

	return s.sendJSON(c, openai.AppendModel(nil, m))
}
