package openai

import (
	"slices"

	"presswork/api/access"
	"presswork/internal/inference"
	"presswork/internal/inference/openai/wire"
)

// ReadDrawing reads a request for images. Errors are *inference.Error.
func (s *Service) ReadDrawing(body []byte, h Head) (*Call, error) {
	return s.readRelay(body, h, inference.CanDraw)
}

// ReadModeration reads a request for a moderation. Errors are *inference.Error.
func (s *Service) ReadModeration(body []byte, h Head) (*Call, error) {
	return s.readRelay(body, h, inference.CanModerate)
}

// readRelay reads a request that is passed on to a model with the capability. Clients may leave the model out.
func (s *Service) readRelay(body []byte, h Head, capability string) (*Call, error) {
	r, err := wire.ParseRelay(body, capability)
	if err != nil {
		return nil, err
	}

	if r.Model == "" {
		r.Model = s.firstWith(h.Caller, capability) // "" if there is none
	}

	if r.Model == "" {
		return nil, inference.Invalidf("model", "no model supports %s here; name a model with this capability, "+
			"which the operator adds to models.yaml", capability)
	}

	m, err := s.require(h.Caller, r.Model, capability)
	if err != nil {
		return nil, err
	}
	r.Model = m.ID
	call := s.vectorCall(body, h, m, inference.Job{Relay: r}, r.EstimateTokens())
	call.format = wholeFormat{&wire.RelayCollector{}}

	return call, nil
}

// firstWith returns the id of the caller's first model with the capability, "" if there is none.
func (s *Service) firstWith(caller access.Caller, capability string) string {
	models := s.models(caller)

	i := slices.IndexFunc(models, func(m *inference.Model) bool { return m.Can(capability) })
	if i < 0 {
		return ""
	}

	return models[i].ID
}
