package openai

import (
	"cmp"
	"errors"
	"time"

	"presswork/api/responses"
	"presswork/internal/inference"
)

// createdAfter is how long the status of a streamed response waits for the first chunk. Clients of responses close
// streams that have only comments, so the first event must not wait for Options.Patience.
const createdAfter = 500 * time.Millisecond

// responseFormat is the format of POST /v1/responses.
type responseFormat struct{ f *responses.Format }

func (r responseFormat) collector(id string) collector { return r.f.Collector(id) }
func (r responseFormat) events(id string) events       { return r.f.Events(id) }

// ReadResponse reads a request for a response. Errors are *inference.Error.
func (s *Service) ReadResponse(body []byte, h Head) (*Call, error) {
	request, format, _, err := s.parseResponse(body, h)
	if err != nil {
		return nil, err
	}

	call, err := s.completionCall(body, h, request)
	if e, ok := errors.AsType[*inference.Error](err); ok {
		return nil, responses.RenameFields(e)
	}

	if err != nil {
		return nil, err
	}
	format.Model, format.Created = request.Model, h.Began
	call.format, call.statusPatience = responseFormat{format}, min(createdAfter, s.o.Patience)

	return call, nil
}

// CountResponse reads a request for the number of tokens of a response's input. Errors are *inference.Error.
func (s *Service) CountResponse(body []byte, h Head) (*Count, error) {
	request, _, m, err := s.parseResponse(body, h)
	if err != nil {
		return nil, err
	}

	return s.newCount(h, m, request, responses.AppendCount), nil
}

// parseResponse reads a request for a response and shortens it to the context of its model.
func (s *Service) parseResponse(
	body []byte, h Head,
) (request *inference.Request, format *responses.Format, m *inference.Model, err error) {
	request, format, err = responses.Parse(body, responses.Options{
		CheckModel: s.checkModel(h.Caller, &m), Owner: h.Caller.Name, Sealer: s.o.Sealer,
	})
	if err != nil {
		return nil, nil, nil, err
	}

	if !m.Can(inference.CanReason) {
		request.ReasoningEffort = "" // agents send it to every model
	}

	if m.ContextWindow > 0 {
		format.Fit(request, m.ContextWindow-cmp.Or(request.MaxTokens, reserveAnswer))
	}

	return request, format, m, nil
}
