package openai

import (
	"errors"
	"slices"

	"presswork/api/access"
	"presswork/api/messages"
	"presswork/internal/inference"
)

// messageFormat is the format of POST /v1/messages.
type messageFormat struct{ f *messages.Format }

func (m messageFormat) collector(id string) collector { return m.f.Collector(id) }
func (m messageFormat) events(id string) events       { return m.f.Events(id) }

// ReadMessage reads a request for a message. Errors are *inference.Error.
func (s *Service) ReadMessage(body []byte, h Head) (*Call, error) {
	request, format, _, err := s.parseMessage(body, h, false)
	if err != nil {
		return nil, err
	}

	call, err := s.completionCall(body, h, request)
	if e, ok := errors.AsType[*inference.Error](err); ok {
		return nil, messages.RenameFields(e)
	}

	if err != nil {
		return nil, err
	}
	format.Model, format.RequestID, format.Tokens = request.Model, h.RequestID, request.EstimateTokens()
	call.format = messageFormat{format}

	return call, nil
}

// CountMessage reads a request for the number of tokens of a message's input. Errors are *inference.Error.
func (s *Service) CountMessage(body []byte, h Head) (*Count, error) {
	request, _, m, err := s.parseMessage(body, h, true)
	if err != nil {
		return nil, err
	}

	return s.newCount(h, m, request, messages.AppendCount), nil
}

// parseMessage reads a request for a message, or with counting one to count its tokens.
func (s *Service) parseMessage(
	body []byte, h Head, counting bool,
) (request *inference.Request, format *messages.Format, m *inference.Model, err error) {
	request, format, err = messages.Parse(body, messages.Options{
		CheckModel: s.checkModel(h.Caller, &m), Owner: h.Caller.Name, Sealer: s.o.Sealer, Counting: counting,
		Betas: h.Betas, Native: func() bool { return m.Speaks(inference.Anthropic) },
		PDFText: func(pdf []byte) (string, error) { return s.pdfs.text(h.Caller.Name, pdf) },
	})
	if err != nil {
		return nil, nil, nil, err
	}
	fitMessage(request, m)

	return request, format, m, nil
}

// fitMessage changes what agents send to every model to what m accepts: its longest answer, and its efforts.
func fitMessage(r *inference.Request, m *inference.Model) {
	if m.MaxCompletionTokens > 0 {
		r.MaxTokens = min(r.MaxTokens, m.MaxCompletionTokens)
	}

	efforts := m.Reasoning.Efforts
	if !m.Can(inference.CanReason) || efforts != nil && !slices.Contains(*efforts, r.ReasoningEffort) {
		r.ReasoningEffort = ""
	}
}

// AppendMessageModels appends the list of a caller's models in the form of the Messages API to dst.
func (s *Service) AppendMessageModels(dst []byte, caller access.Caller) []byte {
	return messages.AppendModels(dst, s.models(caller))
}
