package openai

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"presswork/api/access"
	"presswork/internal/inference"
	"presswork/internal/inference/meter"
	"presswork/internal/inference/openai/wire"
	"presswork/tasks"
	"presswork/tasks/stream"
)

// reserveAnswer is how many tokens are reserved for an answer whose request does not bound it.
const reserveAnswer = 1024

// Head holds what a call needs from the head of its HTTP request.
type Head struct {
	Caller access.Caller
	// RequestID is the x-request-id, TraceParent the traceparent.
	RequestID, TraceParent string
	// IdempotencyKey is "" for none.
	IdempotencyKey string
	// Began is when the request arrived, by this machine's clock.
	Began time.Time
	// Betas are the values of anthropic-beta.
	Betas []string
	// Timeout is how long the client waits for the headers of the answer; 0 is no bound.
	Timeout time.Duration
}

// call returns the part of a call that its request's head determines.
func (h Head) call(tier stream.Tier, maxWait time.Duration) stream.Call {
	return stream.Call{
		ID:          tasks.NewID(),
		Owner:       h.Caller.Name,
		Tier:        tier,
		RequestID:   h.RequestID,
		TraceParent: h.TraceParent,
		MaxWait:     maxWait,
	}
}

// deadline returns when the client stops waiting; zero is never.
func (h Head) deadline() time.Time {
	if h.Timeout == 0 {
		return time.Time{}
	}

	return h.Began.Add(h.Timeout)
}

// Call is a checked request for a completion, speech, embeddings or a ranking.
type Call struct {
	stream.Call
	// Limits are the limits on tokens that the call counts against. Speech has none.
	Limits meter.Limits

	model *inference.Model
	// requestedID is the id of the model that the client named. It is "" for calls without fallbacks.
	requestedID string
	// job has the request until Forget.
	job inference.Job
	// tokens is how many tokens the call may use, by estimate.
	tokens int
	// format is nil for speech. deadline is when the client stops waiting; zero is never.
	format   format
	deadline time.Time
	// statusPatience is how long the status of a stream waits for the first chunk; 0 is Options.Patience.
	statusPatience time.Duration
}

// parse reads the body of a request for a completion.
type parse = func(body []byte, o wire.ParseOptions) (*inference.Request, error)

// ReadChat reads a request for a chat completion. Errors are *inference.Error.
func (s *Service) ReadChat(body []byte, h Head) (*Call, error) {
	return s.readChat(body, h, wire.ParseRequest)
}

// ReadText reads a request for a text completion. Errors are *inference.Error.
func (s *Service) ReadText(body []byte, h Head) (*Call, error) {
	return s.readChat(body, h, wire.ParseTextRequest)
}

// readChat reads a request with read, one of the parsers of completions. Errors are *inference.Error.
func (s *Service) readChat(body []byte, h Head, read parse) (*Call, error) {
	var m *inference.Model

	request, err := read(body, wire.ParseOptions{Lax: s.o.Lax, CheckModel: s.checkModel(h.Caller, &m)})
	if err != nil {
		return nil, err
	}

	// Admit rejects an effort for a model that does not reason.
	if s.o.Lax && !m.Can(inference.CanReason) {
		request.ReasoningEffort = ""
	}

	call, err := s.completionCall(body, h, request)
	if err != nil {
		return nil, err
	}
	head := wire.HeadOf(request)
	head.RequestID, head.Created, head.Vendor = h.RequestID, h.Began, s.o.Vendor
	call.format = chatFormat{head}

	return call, nil
}

// checkModel returns a function that checks the requested model and sets m to it.
func (s *Service) checkModel(caller access.Caller, m **inference.Model) func(name string) error {
	return func(name string) (err error) {
		*m, err = s.Model(caller, name)
		return err
	}
}

// completionCall returns the call for a completion, without its format.
func (s *Service) completionCall(body []byte, h Head, request *inference.Request) (*Call, error) {
	if err := s.grantTier(h.Caller, request); err != nil {
		return nil, err
	}

	requested, err := s.setFallbacks(h.Caller, request)
	if err != nil {
		return nil, err
	}

	model, err := s.admit(request)
	if err != nil {
		return nil, err
	}
	call := &Call{
		Call:        h.call(tierOf(request.ServiceTier), s.o.QueueTimeout),
		Limits:      meter.Limits{TPM: h.Caller.Limits.TPM, TPD: h.Caller.Limits.TPD},
		model:       model,
		requestedID: requested.ID,
		job:         inference.Job{Request: request},
		tokens:      request.EstimateTokens() + cmp.Or(request.MaxTokens, reserveAnswer)*request.Choices(),
		deadline:    h.deadline(),
	}
	call.identify(body, h)

	return call, nil
}

// identify sets the idempotency key of the request, so that a repeated request joins the call.
func (c *Call) identify(body []byte, h Head) {
	if h.IdempotencyKey != "" {
		sum := sha256.Sum256(body)
		c.IdempotencyKey, c.Fingerprint = h.IdempotencyKey, hex.EncodeToString(sum[:])
	}
}

// ReadSpeech reads a request for speech. Errors are *inference.Error.
func (s *Service) ReadSpeech(body []byte, h Head) (*Call, error) {
	speech, err := wire.ParseSpeech(body)
	if err != nil {
		return nil, err
	}

	m, err := s.require(h.Caller, speech.Model, inference.CanSpeak)
	if err != nil {
		return nil, err
	}
	speech.Model = m.ID

	return &Call{
		Call:     h.call(stream.OnDemand, s.o.QueueTimeout),
		model:    m,
		job:      inference.Job{Speech: speech},
		deadline: h.deadline(),
	}, nil
}

// ReadEmbedding reads a request for embeddings. Errors are *inference.Error.
func (s *Service) ReadEmbedding(body []byte, h Head) (*Call, error) {
	r, inBase64, err := wire.ParseEmbedding(body)
	if err != nil {
		return nil, err
	}

	m, err := s.require(h.Caller, r.Model, inference.CanEmbed)
	if err != nil {
		return nil, err
	}
	r.Model = m.ID
	call := s.vectorCall(body, h, m, inference.Job{Embedding: r}, r.EstimateTokens())
	call.format = wholeFormat{&wire.VectorCollector{Model: m.ID, Base64: inBase64}}

	return call, nil
}

// ReadReranking reads a request to rank documents. Errors are *inference.Error.
func (s *Service) ReadReranking(body []byte, h Head) (*Call, error) {
	r, withDocuments, err := wire.ParseReranking(body)
	if err != nil {
		return nil, err
	}

	m, err := s.require(h.Caller, r.Model, inference.CanRerank)
	if err != nil {
		return nil, err
	}
	r.Model = m.ID
	call := s.vectorCall(body, h, m, inference.Job{Reranking: r}, r.EstimateTokens())

	answer := &wire.VectorCollector{Model: m.ID, ID: "rerank-" + call.ID}
	if withDocuments {
		answer.Documents = r.Documents
	}
	call.format = wholeFormat{answer}

	return call, nil
}

// vectorCall returns a call whose answer is sent whole and counts against the limits on tokens.
func (s *Service) vectorCall(body []byte, h Head, m *inference.Model, job inference.Job, tokens int) *Call {
	call := &Call{
		Call:     h.call(stream.OnDemand, s.o.QueueTimeout),
		Limits:   meter.Limits{TPM: h.Caller.Limits.TPM, TPD: h.Caller.Limits.TPD},
		model:    m,
		job:      job,
		tokens:   tokens,
		deadline: h.deadline(),
	}
	call.identify(body, h)

	return call
}

// require returns a model that the caller may use and that has a capability.
func (s *Service) require(caller access.Caller, name, capability string) (*inference.Model, error) {
	m, err := s.Model(caller, name)
	if err != nil {
		return nil, err
	}

	return s.o.Models().Require(m.ID, capability)
}

// grantTier rejects a service tier that the key may not use. A lax service replaces it with the default tier.
// Errors are *inference.Error.
func (s *Service) grantTier(caller access.Caller, r *inference.Request) error {
	tier := string(tierOf(r.ServiceTier))
	switch {
	case tier == string(stream.OnDemand), slices.Contains(caller.Tiers, tier):
		return nil
	case s.o.Lax:
		r.ServiceTier = string(stream.OnDemand)
		return nil
	}

	return inference.Invalidf("service_tier", "`service_tier` `%s` is not available for this key; "+
		"leave it out, or ask the operator, who grants it by 'tiers' in keys.yaml", tier)
}

// tierOf returns the tier of a call with this service_tier; auto is the default tier.
func tierOf(serviceTier string) stream.Tier {
	switch serviceTier {
	case "performance":
		return stream.Performance
	case "flex":
		return stream.Flex
	}

	return stream.OnDemand
}

// Streams reports whether the client wants the completion as a stream of events.
func (c *Call) Streams() bool { return c.job.Streams() }

// Tokens estimates how many tokens the call may use, with its answers.
func (c *Call) Tokens() int { return c.tokens }

// Encode returns the body of the call for the worker, which is JSON. Call it before Forget. Errors: a value that
// JSON cannot hold.
func (c *Call) Encode() ([]byte, error) {
	job := c.job
	job.TPM, job.TPD = c.Limits.TPM, c.Limits.TPD

	return json.Marshal(job)
}

// Forget drops the request, which may be large. After it the call can only be passed to Answer.
func (c *Call) Forget() { c.job, c.Body = inference.Job{}, nil }

// untilDeadline returns a context that ends when the client stops waiting.
func (c *Call) untilDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.deadline.IsZero() {
		return context.WithCancel(ctx)
	}

	return context.WithDeadlineCause(ctx, c.deadline, inference.Errorf(http.StatusGatewayTimeout,
		inference.UpstreamTimeout, "the answer was not ready within the client's time-out"))
}
