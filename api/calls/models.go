package calls

import (
	"net/url"

	"github.com/gofiber/fiber/v2"

	"presswork/api/exchange"
	"presswork/api/messages"
	"presswork/api/openai"
	"presswork/internal/fault"
	"presswork/internal/input"
)

// Models answers GET /v1/models.
func (h *Handlers) Models(c *fiber.Ctx) error {
	list := h.Service.AppendModels
	if exchange.MessagesClient(c.Context()) {
		list = h.Service.AppendMessageModels
	}

	return h.sendJSON(c, list(nil, exchange.Of(c.Context()).Caller))
}

// Model answers GET /v1/models/{id}. The id may have slashes, encoded or not.
func (h *Handlers) Model(c *fiber.Ctx) error {
	id, err := url.PathUnescape(c.Params("*"))
	if err != nil {
		return fault.Errorf(fault.InvalidRequest, "%s is not a percent-encoded model id", input.Quote(c.Params("*")))
	}

	m, err := h.Service.Model(exchange.Of(c.Context()).Caller, id)
	if err != nil {
		return err
	}

	if exchange.MessagesClient(c.Context()) {
		return h.sendJSON(c, messages.AppendModel(nil, m))
	}

	return h.sendJSON(c, openai.AppendModel(nil, m))
}
