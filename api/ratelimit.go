package api

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"presswork/api/access"
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

	ctx, cancel := s.callContext()
	defer cancel()

	grant, err := s.Meter.Reserve(ctx, clientOf(c.Context()), id, limits, tokens)
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
		meta := metadataOf(c.Context())

		var err error
		if meta.grant, err = s.reserveLimits(c, tasks.NewID(), of(s.limitsOf(meta.caller)), 0); err != nil {
			return limitRefusal(c, err)
		}
		defer func() { s.releaseGrant(meta.grant) }()

		return handle(c)
	}
}

// releaseGrant stops counting a request as running. A nil grant is allowed.
func (s *Server) releaseGrant(grant *meter.Grant) {
	if grant == nil {
		return
	}

	ctx, cancel := s.callContext()
	defer cancel()
	grant.Release(ctx)
}

// limitRefusal returns the public error for a request that a limit rejected.
func limitRefusal(c *fiber.Ctx, err error) error {
	e, refused := errors.AsType[*meter.Exceeded](err)
	switch {
	case !refused:
		return err
	case inferencePath(c.Path()):
		return openai.LimitError(e, nil)
	}
	setRetryAfter(&c.Context().Response.Header, e.After)

	return fault.Errorf(fault.RateLimited, "this key may make %d requests a minute; try again in %s",
		e.Limit, e.After.Round(time.Millisecond))
}

// sendLimits adds the state of the key's limits to an answer that does not have it yet.
func (s *Server) sendLimits(c *fiber.Ctx, meta *metadata) {
	limits := s.limitsOf(meta.caller)
	if !inferencePath(c.Path()) {
		limits = meter.Limits{RPM: limits.RPM}
	}

	if meta.limitsSent || meta.caller.Job != "" || limits == (meter.Limits{}) || s.Meter == nil {
		return
	}

	ctx, cancel := s.callContext()
	defer cancel()

	states, err := s.Meter.States(ctx, clientOf(c.Context()), limits)
	if err != nil {
		s.Log.Warn("cannot report the limits of a key: Redis did not answer", "error", err)
		return
	}
	setLimits(c, states)
}

// setLimits sets the X-RateLimit headers, which SDKs read. Clients of the Messages API get its names as well.
func setLimits(c *fiber.Ctx, states map[meter.Dimension]meter.State) {
	metadataOf(c.Context()).limitsSent = true
	anthropic := messagesClient(c.Context())

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

// setRetryAfter sets Retry-After in seconds and Retry-After-Ms in milliseconds, which OpenAI's SDKs prefer. Both
// are rounded up, so that a retry at that time is not too early.
func setRetryAfter(h interface{ Set(key, value string) }, after time.Duration) {
	h.Set("Retry-After", strconv.Itoa(int(math.Ceil(after.Seconds()))))
	h.Set("Retry-After-Ms", strconv.FormatInt(int64(math.Ceil(float64(after)/float64(time.Millisecond))), 10))
}
