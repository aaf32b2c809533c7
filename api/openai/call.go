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
	wire "presswork/internal/inference/openai"
	"presswork/tasks"
	"presswork/tasks/stream"
)

// reserveAnswer is how many tokens are reserved for an answer whose request does not bound it.
const reserveAnswer = 1024

// Head is what the head of an HTTP request says about a call.
type Head struct {
	Caller access.Caller
	// RequestID is the x-request-id, TraceParent the traceparent.
	RequestID, TraceParent string
	// IdempotencyKey is "" for none.
	IdempotencyKey string
	Began          time.Time
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

// Call is a checked request for a completion or for speech.
type Call struct {
	stream.Call
	// Limits are the limits on tokens that the call counts against. Speech has none.
	Limits meter.Limits

	model *inference.Model
	// Either request or speech is set until Forget.
	request  *inference.Request
	speech   *inference.Speech
	head     wire.Head
	deadline time.Time
}

// parse reads the body of a request for a completion.
type parse = func(body []byte, o wire.ParseOptions) (*inference.Request, error)

// ReadChat reads a request for a chat completion. Errors are *inference.Error.
func (s *Service) ReadChat(body []byte, h Head) (*Call, error) {
	return s.readCompletion(body, h, wire.ParseRequest)
}

// ReadText reads a request for a text completion. Errors are *inference.Error.
func (s *Service) ReadText(body []byte, h Head) (*Call, error) {
	return s.readCompletion(body, h, wire.ParseTextRequest)
}

func (s *Service) readCompletion(body []byte, h Head, read parse) (*Call, error) {
	var found *inference.Model

	request, err := read(body, wire.ParseOptions{Lax: s.o.Lax, CheckModel: func(name string) (err error) {
		found, err = s.Model(h.Caller, name)
		return err
	}})
	if err == nil {
		err = s.grantTier(h.Caller, request)
	}

	if err != nil {
		return nil, err
	}

	if s.o.Lax && !found.Can(inference.CanReason) {
		request.ReasoningEffort = ""
	}

	model, err := s.o.Models().Admit(request)
	if err != nil {
		return nil, err
	}
	call := &Call{
		Call:     h.call(tierOf(request.ServiceTier), s.o.QueueTimeout),
		Limits:   meter.Limits{TPM: h.Caller.Limits.TPM, TPD: h.Caller.Limits.TPD},
		model:    model,
		request:  request,
		head:     wire.HeadOf(request),
		deadline: h.deadline(),
	}
	call.head.RequestID, call.head.Created, call.head.Vendor = h.RequestID, h.Began, s.o.Vendor

	if h.IdempotencyKey != "" {
		sum := sha256.Sum256(body)
		call.IdempotencyKey, call.Fingerprint = h.IdempotencyKey, hex.EncodeToString(sum[:])
	}

	return call, nil
}

// ReadSpeech reads a request for speech. Errors are *inference.Error.
func (s *Service) ReadSpeech(body []byte, h Head) (*Call, error) {
	speech, err := wire.ParseSpeech(body)
	if err != nil {
		return nil, err
	}

	m, err := s.Model(h.Caller, speech.Model)
	if err != nil {
		return nil, err
	}

	if m, err = s.o.Models().AdmitAudio(m.ID, inference.CanSpeak); err != nil {
		return nil, err
	}
	speech.Model = m.ID

	return &Call{
		Call: h.call(stream.OnDemand, s.o.QueueTimeout), model: m, speech: speech, deadline: h.deadline(),
	}, nil
}

// grantTier rejects a service tier that the key has no right to. Lax services replace it by the default tier.
func (s *Service) grantTier(who access.Caller, r *inference.Request) error {
	tier := string(tierOf(r.ServiceTier))
	switch {
	case tier == string(stream.OnDemand), slices.Contains(who.Tiers, tier):
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
func (c *Call) Streams() bool { return c.request.Stream }

// Tokens estimates how many tokens the call may use, with its answers.
func (c *Call) Tokens() int {
	r := c.request
	return r.EstimateTokens() + cmp.Or(r.MaxTokens, reserveAnswer)*r.Choices()
}

// Encode returns the body of the call for the worker.
func (c *Call) Encode() ([]byte, error) {
	return json.Marshal(inference.Job{Request: c.request, Speech: c.speech, TPM: c.Limits.TPM, TPD: c.Limits.TPD})
}

// Forget drops the request, which may be large. The call can then only be answered.
func (c *Call) Forget() { c.request, c.speech, c.Body = nil, nil, nil }

// patience returns a context that ends when the client stops waiting.
func (c *Call) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.deadline.IsZero() {
		return context.WithCancel(ctx)
	}

	return context.WithDeadlineCause(ctx, c.deadline, inference.Errorf(http.StatusGatewayTimeout,
		inference.UpstreamTimeout, "the answer was not ready within the client's time-out"))
}
