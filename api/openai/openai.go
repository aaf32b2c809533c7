// Package openai does the part of the routes under /v1 that needs no HTTP server. It reads requests for
// completions, speech and transcripts, and checks them against the models and the caller's rights. It also turns
// the frames of workers into answers in OpenAI's format.
//
// A Service has a Read method per route. It returns a Call: the request for a worker, its limits and the format of its
// answer. Package api/calls queues it. Service.Answer then reads the frames of the worker, and writes them whole
// (Answer.Collect), as events (Answer.Events) or as sound (Answer.Speech). Packages api/responses and api/messages read
// and write the two other APIs as chats; their formats are behind the interface format.
package openai

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"presswork/api/access"
	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/inference/meter"
	"presswork/internal/inference/openai/wire"
	"presswork/internal/inference/seal"
	"presswork/tasks/stream"
)

const (
	// maxFlexWaiting is how many calls may wait before a flex request is rejected.
	maxFlexWaiting = 100
	// flexRetryAfter is when a rejected flex request may be sent again.
	flexRetryAfter = 5 * time.Second
	// capacityExceeded is the code of a rejected flex request, as Groq has it.
	capacityExceeded fault.Code = "capacity_exceeded"
)

// statusCapacityExceeded is the HTTP status of a rejected flex request, as Groq has it.
const statusCapacityExceeded = 498

// Calls is the queue of calls: *tasks.Client.
type Calls interface {
	// Call queues a call and returns its answer, which the caller closes. A call whose id is already queued is
	// joined. Errors: IdempotencyConflict, QueueUnavailable.
	Call(ctx context.Context, call stream.Call) (*stream.Answer, error)
	// Waiting returns how many calls wait for a worker. Errors: QueueUnavailable.
	Waiting(ctx context.Context) (int64, error)
}

// Options configure a Service. The zero values of Lax, Patience and QueueTimeout are valid; the other fields are
// mandatory.
type Options struct {
	Calls Calls
	// Models returns the current models.
	Models func() *inference.Catalogue
	// Vendor names the member x_<vendor> of answers.
	Vendor string
	// Lax ignores parameters that cannot be combined, instead of rejecting the request.
	Lax bool
	// Patience is how long the status of a stream waits for the first chunk. It is also the time between two comments
	// while no chunk arrives. Default 10 s.
	Patience time.Duration
	// QueueTimeout is how long a request waits for a worker. Default: as long as its client waits.
	QueueTimeout time.Duration
	// Sealer encrypts the reasoning in responses and messages.
	Sealer *seal.Sealer
	// PublicError converts any error to the form that clients of /v1 receive.
	PublicError func(error) *inference.Error
}

// Service reads the requests of /v1 and writes their answers.
type Service struct {
	o    Options
	pdfs *pdfReader
}

// New returns a service. Its methods are safe for concurrent use.
func New(o Options) *Service {
	o.Patience = cmp.Or(o.Patience, 10*time.Second)
	return &Service{o: o, pdfs: newPDFReader()}
}

// Model returns a model that the caller may use. For other models the error is the same as for unknown ones.
// It suggests no names, so that a key cannot find out what others may use. Errors are *inference.Error.
func (s *Service) Model(caller access.Caller, name string) (*inference.Model, error) {
	m, err := s.o.Models().Find(name)
	if len(caller.Models) > 0 && (err != nil || !mayUse(caller, m)) {
		err = inference.Errorf(http.StatusNotFound, inference.ModelNotFound,
			"The model `%.120s` does not exist or you do not have access to it.", name).WithParam("model")
	}

	return m, err
}

// mayUse reports whether the caller may use a model by its id or an alias.
func mayUse(caller access.Caller, m *inference.Model) bool {
	return caller.MayUse(append([]string{m.ID}, m.Aliases...)...)
}

// FirstModel returns the first model of a caller that has a capability. Errors are *inference.Error.
func (s *Service) FirstModel(caller access.Caller, capability string) (string, error) {
	if id := s.firstWith(caller, capability); id != "" {
		return id, nil
	}

	return "", inference.Errorf(http.StatusNotFound, inference.ModelNotFound,
		"no model here has the capability %s; docs/inference.md says how to name one", capability)
}

// AppendModels appends the body of the list of a caller's models to dst.
func (s *Service) AppendModels(dst []byte, caller access.Caller) []byte {
	return wire.AppendModels(dst, s.models(caller))
}

// models returns the models that a caller may use.
func (s *Service) models(caller access.Caller) []*inference.Model {
	return slices.DeleteFunc(s.o.Models().Models(), func(m *inference.Model) bool { return !mayUse(caller, m) })
}

// AppendModel appends the body that describes a model to dst.
func AppendModel(dst []byte, m *inference.Model) []byte { return wire.AppendModel(dst, m) }

// AppendError appends the body of an error to dst.
func AppendError(dst []byte, e *inference.Error) []byte { return wire.AppendError(dst, e) }

// CheckCapacity rejects a flex request while too many calls wait. Errors: *inference.Error with the time to wait,
// QueueUnavailable.
func (s *Service) CheckCapacity(ctx context.Context, call *Call) error {
	if call.Tier != stream.Flex {
		return nil
	}

	waiting, err := s.o.Calls.Waiting(ctx)
	if err != nil || waiting < maxFlexWaiting {
		return err
	}
	rejection := inference.Errorf(statusCapacityExceeded, capacityExceeded,
		"the flex tier has no capacity at the moment: %d requests are waiting", waiting)
	rejection.Retryable, rejection.RetryAfter = true, flexRetryAfter

	return rejection
}

// LimitError returns the error for a request that a limit rejected. call is nil when the body was not read yet.
func LimitError(e *meter.Exceeded, call *Call) *inference.Error {
	where := ""
	if call != nil {
		where = fmt.Sprintf(" for model `%s`, service tier `%s`,", call.model.ID, call.Tier)
	}

	kind := "requests"
	if e.Dimension.Tokens() {
		kind = "tokens"
	}

	if e.TooLarge() {
		rejection := inference.Errorf(http.StatusRequestEntityTooLarge, inference.RateLimitExceeded,
			"Request too large%s on %s: Limit %d, Requested %d, please reduce your message size and try again.",
			where, e.Dimension.Name(), e.Limit, e.Requested)
		rejection.Type = kind

		return rejection
	}

	again := ""
	if e.After > 0 {
		again = fmt.Sprintf(" Please try again in %s.", e.After.Round(time.Millisecond))
	}
	rejection := inference.Errorf(http.StatusTooManyRequests, inference.RateLimitExceeded,
		"Rate limit reached%s on %s: Limit %d, Used %d, Requested %d.%s",
		where, e.Dimension.Name(), e.Limit, e.Used, e.Requested, again)
	rejection.Type = kind
	rejection.RetryAfter = cmp.Or(e.After, time.Second)

	return rejection
}
