package api

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"presswork/api/access"
	"presswork/api/conn"
	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/inference/meter"
	"presswork/internal/inference/openai"
	"presswork/storage"
	"presswork/tasks"
	"presswork/tasks/stream"
)

const (
	// maxCompletionBody is the largest request for a completion, images included.
	maxCompletionBody = 32 << 20
	// flexLine is how many completions may wait before a flex request is
	// refused rather than to wait longer.
	flexLine = 100
	// reserveAnswer is how many tokens of an answer are reserved where the
	// request does not bound it.
	reserveAnswer = 1024
)

// completion is a request for a completion on its way through the API.
type completion struct {
	request *inference.Request
	// speech takes the place of request where a text is to be spoken.
	speech *inference.Speech
	model  *inference.Model
	// limits are those on the tokens that the request may use; speech has none.
	limits meter.Limits
	grant  *meter.Grant
	head   openai.Head
	call   stream.Call
	// deadline bounds the time to the headers of the answer; zero is no bound.
	deadline time.Time
}

// parseCompletion reads the body of a request for a completion.
type parseCompletion = func(body []byte, o openai.ParseOptions) (*inference.Request, error)

// completeChat answers POST /v1/chat/completions, completeText POST
// /v1/completions.
func (s *Server) completeChat(c *fiber.Ctx) error { return s.complete(c, openai.ParseRequest) }
func (s *Server) completeText(c *fiber.Ctx) error { return s.complete(c, openai.ParseTextRequest) }

func (s *Server) complete(c *fiber.Ctx, parse parseCompletion) error {
	cmpl, err := s.readCompletion(c, parse)
	if err != nil {
		return err
	}
	streams := cmpl.request.Stream

	ctx, answer, finish, err := s.begin(c, cmpl)
	if err != nil {
		return err
	}
	cmpl.head.SetID(answer.ID)

	if answer.Joined {
		c.Set("Idempotent-Replayed", "true")
	}

	if streams {
		return s.streamCompletion(c, ctx, cmpl, answer, finish)
	}

	defer finish()

	return s.collectCompletion(c, ctx, cmpl, answer)
}

// begin reserves the tokens that the call may use and enqueues it; cmpl then holds no text
// any more. ctx ends when its client leaves; finish, to be called once, ends the call and
// gives back what is left.
func (s *Server) begin(
	c *fiber.Ctx,
	cmpl *completion,
) (ctx context.Context, answer *stream.Answer, finish func(), err error) {
	running, leave, err := s.completions.Join(lastingCompletion)
	if err != nil {
		return nil, nil, nil, err
	}
	ctx, release := conn.WhileConnected(running, c.Context().Conn(), errClientLeft)

	done := func() {
		release()
		leave()
	}
	if err = s.admit(c, cmpl); err != nil {
		done()
		return nil, nil, nil, err
	}
	meta := metadataOf(c.Context())
	cmpl.grant, meta.grant = meta.grant, nil
	answer, err = s.enqueue(ctx, cmpl)
	cmpl.request, cmpl.speech, cmpl.call.Body = nil, nil, nil
	meta.held.Release()

	if err != nil {
		s.settle(cmpl)
		done()

		return nil, nil, nil, err
	}

	return ctx, answer, func() {
		answer.Close()
		s.settle(cmpl)
		done()
	}, nil
}

func (s *Server) readCompletion(c *fiber.Ctx, parse parseCompletion) (*completion, error) {
	began := time.Now()

	body, err := s.jsonBody(c, maxCompletionBody, "a request for a completion")
	if err != nil {
		return nil, err
	}
	meta := metadataOf(c.Context())
	var found *inference.Model

	request, err := parse(body, openai.ParseOptions{Lax: s.Inference.Lax, CheckModel: func(name string) (err error) {
		found, err = s.model(meta.who, name)
		return err
	}})
	if err == nil {
		err = s.grantTier(meta.who, request)
	}

	if err != nil {
		return nil, err
	}
	limits := meta.who.Limits

	cmpl := &completion{request: request, limits: meter.Limits{TPM: limits.TPM, TPD: limits.TPD}}
	if s.Inference.Lax && !found.Can(inference.CanReason) {
		request.ReasoningEffort = ""
	}

	if cmpl.model, err = s.Inference.Models().Admit(request); err != nil {
		return nil, err
	}
	cmpl.head = openai.HeadOf(request)
	cmpl.head.RequestID, cmpl.head.Created, cmpl.head.Vendor = meta.id, began, s.Inference.Vendor
	cmpl.call = stream.Call{
		ID:          tasks.NewID(),
		Owner:       meta.who.Name,
		Tier:        tierOf(request.ServiceTier),
		RequestID:   meta.id,
		TraceParent: meta.trace,
		MaxWait:     s.Inference.QueueTimeout,
	}

	key, err := idempotencyKey(c)
	if err != nil {
		return nil, err
	}

	if key != "" {
		sum := sha256.Sum256(body)
		cmpl.call.IdempotencyKey, cmpl.call.Fingerprint = key, hex.EncodeToString(sum[:])
	}

	if seconds := clientTimeout(c); seconds > 0 {
		cmpl.deadline = began.Add(seconds)
	}

	return cmpl, nil
}

// clientTimeout is how long the client waits, by the header its SDK sends.
func clientTimeout(c *fiber.Ctx) time.Duration {
	for _, header := range []string{"X-Stainless-Timeout", "X-Stainless-Read-Timeout"} {
		if seconds, err := strconv.ParseFloat(c.Get(header), 64); err == nil && seconds > 0 && seconds < 24*3600 {
			return time.Duration(seconds * float64(time.Second))
		}
	}

	return 0
}

// grantTier refuses a service tier that the key has no right to. With INFERENCE_LAX the
// request gets the default tier.
func (s *Server) grantTier(who access.Caller, r *inference.Request) error {
	tier := string(tierOf(r.ServiceTier))
	switch {
	case tier == string(stream.OnDemand), slices.Contains(who.Tiers, tier):
		return nil
	case s.Inference.Lax:
		r.ServiceTier = string(stream.OnDemand)
		return nil
	}

	return inference.Invalidf("service_tier", "`service_tier` `%s` is not available for this key; "+
		"leave it out, or ask the operator, who grants it by 'tiers' in keys.yaml", tier)
}

// tierOf returns the tier that a call of this service_tier has; auto is the default tier.
func tierOf(serviceTier string) stream.Tier {
	switch serviceTier {
	case "performance":
		return stream.Performance
	case "flex":
		return stream.Flex
	}

	return stream.OnDemand
}

// admit takes the tokens of the request out of the key's limits.
func (s *Server) admit(c *fiber.Ctx, cmpl *completion) error {
	if cmpl.call.Tier == stream.Flex {
		ctx, cancel := s.deadline()
		defer cancel()

		waiting, err := s.Inference.Calls.Waiting(ctx)
		if err != nil {
			return err
		}

		if waiting >= flexLine {
			refusal := inference.Errorf(
				498,
				capacityExceeded,
				"the flex tier has no capacity at the moment: %d requests are waiting",
				waiting,
			)
			refusal.Retryable, refusal.RetryAfter = true, 5*time.Second

			return refusal
		}
	}

	if cmpl.limits == (meter.Limits{}) {
		return nil
	}
	r := cmpl.request
	tokens := r.EstimateTokens() + cmp.Or(r.MaxTokens, reserveAnswer)*r.Choices()

	_, err := s.reserve(c, cmpl.call.ID, cmpl.limits, tokens)
	if e, refused := errors.AsType[*meter.Exceeded](err); refused {
		return exceeded(e, fmt.Sprintf(" for model `%s`, service tier `%s`,", cmpl.model.ID, cmpl.call.Tier))
	}

	return err
}

// capacityExceeded is the code of a refusal of the flex tier.
const capacityExceeded fault.Code = "capacity_exceeded"

// settle gives back what was reserved. The worker takes what was used.
func (s *Server) settle(cmpl *completion) {
	s.release(cmpl.grant)

	if cmpl.limits == (meter.Limits{}) {
		return
	}

	ctx, cancel := s.deadline()
	defer cancel()

	if err := s.Meter.Settle(ctx, cmpl.call.Owner, cmpl.call.ID, cmpl.limits, "", 0); err != nil {
		s.Log.Warn("a reservation of tokens was not given back", "error", err)
	}
}

// enqueue makes the request a call and queues it; the answer is read from what it
// returns.
func (s *Server) enqueue(ctx context.Context, cmpl *completion) (*stream.Answer, error) {
	body, err := json.Marshal(
		inference.Job{Request: cmpl.request, Speech: cmpl.speech, TPM: cmpl.limits.TPM, TPD: cmpl.limits.TPD},
	)
	if err != nil {
		return nil, err
	}

	if _, none := s.Store.(storage.None); none || len(body) <= tasks.InlineLimit {
		cmpl.call.Body = body
	} else {
		cmpl.call.BodyKey = storage.RequestKey(cmpl.call.ID)
		if err := s.put(
			ctx,
			cmpl.call.BodyKey,
			bytes.NewReader(body),
			int64(len(body)),
			fiber.MIMEApplicationJSON,
		); err != nil {
			return nil, err
		}
	}

	answer, err := s.Inference.Calls.Call(ctx, cmpl.call)
	if cmpl.call.BodyKey != "" && (err != nil || answer.ID != cmpl.call.ID) {
		// Nobody will read it; of a call that was made the worker deletes it, or
		// the sweeper after an hour.
		ctx, cancel := s.deadline()
		defer cancel()

		if err := s.remove(ctx, cmpl.call.BodyKey); err != nil {
			s.Log.Warn(
				"a request that is not needed was not deleted; the next sweep does it",
				"key",
				cmpl.call.BodyKey,
				"error",
				err,
			)
		}
	}

	return answer, err
}
