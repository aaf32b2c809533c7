package api

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"

	"presswork/api/access"
	"presswork/api/exchange"
	"presswork/api/openai"
	"presswork/internal/fault"
	"presswork/internal/inference/meter"
	"presswork/tasks"
)

// limitsOf returns the limits for the completions of a caller. Its requests per minute apply to every request that
// creates work.
func (s *Server) limitsOf(who access.Caller) meter.Limits {
	limits := who.Limits
	limits.RPM = cmp.Or(limits.RPM, s.RateLimitRPM)

	return limits
}

// reserveLimits counts a request against limits, by key or, without a key, by client address. Errors:
// *meter.Exceeded. The grant is nil without limits, and when Redis does not answer: then every request is allowed.
func (s *Server) reserveLimits(c *fiber.Ctx, id string, limits meter.Limits, tokens int) (*meter.Grant, error) {
	if limits == (meter.Limits{}) || s.Meter == nil {
		return nil, nil
	}

	ctx, cancel := exchange.CallContext()
	defer cancel()

	grant, err := s.Meter.Reserve(ctx, exchange.ClientOf(c.Context()), id, limits, tokens)
	if e, refused := errors.AsType[*meter.Exceeded](err); refused {
		setLimits(c, e.States)
		return nil, e
	}

	if err != nil {
		s.Log.Warn("cannot enforce the limits of a key: Redis did not answer", "error", err)
		return nil, nil
	}
	setLimits(c, grant.States)

	return grant, nil
}

// jobLimits, audioLimits and completionLimits select the limits of a key that apply to one kind of request.
func jobLimits(l meter.Limits) meter.Limits { return meter.Limits{RPM: l.RPM} }

func audioLimits(l meter.Limits) meter.Limits {
	return meter.Limits{RPM: l.RPM, RPD: l.RPD, Concurrency: l.Concurrency}
}

func completionLimits(l meter.Limits) meter.Limits { return l }

// limited counts each request against the limits of its key before handle reads the body. So a key cannot upload more
// bodies at a time than it may send requests. No tokens are reserved here, but a key without tokens left is rejected.
// The request counts as running until handle returns, unless a completion takes over the grant.
func (s *Server) limited(of func(meter.Limits) meter.Limits, handle fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		meta := exchange.Of(c.Context())

		var err error
		if meta.Grant, err = s.reserveLimits(c, tasks.NewID(), of(s.limitsOf(meta.Caller)), 0); err != nil {
			return limitRefusal(c, err)
		}
		defer func() { s.releaseGrant(meta.Grant) }()

		return handle(c)
	}
}

// releaseGrant stops counting a request as running. A nil grant is allowed.
func (s *Server) releaseGrant(grant *meter.Grant) {
	if grant == nil {
		return
	}

	ctx, cancel := exchange.CallContext()
	defer cancel()
	grant.Release(ctx)
}

// limitRefusal returns the public error for a request that a limit rejected.
func limitRefusal(c *fiber.Ctx, err error) error {
	e, refused := errors.AsType[*meter.Exceeded](err)
	switch {
	case !refused:
		return err
	case exchange.InferencePath(c.Path()):
		return openai.LimitError(e, nil)
	}
	exchange.SetRetryAfter(&c.Context().Response.Header, e.After)

	return fault.Errorf(fault.RateLimited, "this key may make %d requests a minute; try again in %s",
		e.Limit, e.After.Round(time.Millisecond))
}

// sendLimits adds the state of the key's limits to an answer that does not have it yet.
func (s *Server) sendLimits(c *fiber.Ctx, meta *exchange.Meta) {
	limits := s.limitsOf(meta.Caller)
	if !exchange.InferencePath(c.Path()) {
		limits = meter.Limits{RPM: limits.RPM}
	}

	if meta.LimitsSent || meta.Caller.Job != "" || limits == (meter.Limits{}) || s.Meter == nil {
		return
	}

	ctx, cancel := exchange.CallContext()
	defer cancel()

	states, err := s.Meter.States(ctx, exchange.ClientOf(c.Context()), limits)
	if err != nil {
		s.Log.Warn("cannot report the limits of a key: Redis did not answer", "error", err)
		return
	}
	setLimits(c, states)
}

// setLimits sets the X-RateLimit headers, which SDKs read. Clients of the Messages API get its names as well.
func setLimits(c *fiber.Ctx, states map[meter.Dimension]meter.State) {
	exchange.Of(c.Context()).LimitsSent = true
	anthropic := exchange.MessagesClient(c.Context())

	for header, dimensions := range map[string][]meter.Dimension{
		"Requests": {meter.RPD, meter.RPM}, "Tokens": {meter.TPM, meter.TPD},
	} {
		for _, d := range dimensions {
			state, limited := states[d]
			if !limited {
				continue
			}
			c.Set("X-Ratelimit-Limit-"+header, fmt.Sprint(state.Limit))
			c.Set("X-Ratelimit-Remaining-"+header, fmt.Sprint(state.Remaining))
			c.Set("X-Ratelimit-Reset-"+header, state.Reset.Round(10*time.Millisecond).String())

			if anthropic {
				prefix := "Anthropic-Ratelimit-" + header
				c.Set(prefix+"-Limit", fmt.Sprint(state.Limit))
				c.Set(prefix+"-Remaining", fmt.Sprint(state.Remaining))
				c.Set(prefix+"-Reset", time.Now().Add(state.Reset).UTC().Format(time.RFC3339))
			}

			break
		}
	}
}
