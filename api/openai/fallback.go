package openai

import (
	"errors"
	"slices"

	"presswork/api/access"
	"presswork/internal/inference"
)

// setFallbacks replaces the names in the request's Fallbacks by ids. Without names it sets those that the model has and
// the caller may use. It returns the requested model. Errors are *inference.Error.
func (s *Service) setFallbacks(caller access.Caller, r *inference.Request) (*inference.Model, error) {
	m, err := s.Model(caller, r.Model)
	if err != nil {
		return nil, err
	}
	var ids []string

	for _, name := range r.Fallbacks {
		other, err := s.Model(caller, name)
		if err != nil {
			e := *inference.AsError(err)
			return nil, e.WithParam("models")
		}
		ids = append(ids, other.ID)
	}

	if len(r.Fallbacks) == 0 {
		ids = slices.DeleteFunc(slices.Clone(m.Fallbacks), func(id string) bool {
			_, err := s.Model(caller, id)
			return err != nil
		})
	}
	r.Fallbacks = slices.DeleteFunc(ids, func(id string) bool { return id == m.ID })

	return m, nil
}

// admit admits a request. If it is too long for its model, the first fallback that it fits takes it. The later
// fallbacks stay those of the request. Errors are *inference.Error of the requested model.
func (s *Service) admit(r *inference.Request) (*inference.Model, error) {
	requested := *r

	m, err := s.o.Models().Admit(r)
	for i, id := range requested.Fallbacks {
		if e, failed := errors.AsType[*inference.Error](err); !failed || e.Code != inference.ContextLength {
			break
		}
		other := requested
		other.Model, other.Fallbacks = id, requested.Fallbacks[i+1:]
		s.o.Models().Fit(&other)

		if longer, tooLong := s.o.Models().Admit(&other); tooLong == nil {
			*r = other
			return longer, nil
		}
	}

	return m, err
}

// Fallback returns the id of the model that answers in place of the requested one, "" as long as the requested model
// answers. It is known after the first frame.
func (a *Answer) Fallback() string {
	if a.model == a.call.requestedID {
		return ""
	}

	return a.model
}

// Ignored returns the fields of the request that the answering model does not know. It is known after the first frame.
func (a *Answer) Ignored() []string { return a.ignored }
