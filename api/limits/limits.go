// Package limits enforces the limits of keys before handlers run, and reports them in the headers of answers.
//
// Limiter.Wrap is part of each route that creates work. It selects the limits by Jobs, Audio or Completions. A
// completion reserves its tokens later, by Reserve, when its size is known. While Redis does not answer, every request
// is allowed.
package limits

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/gofiber/fiber/v2"

	"presswork/api/access"
	"presswork/api/exchange"
	"presswork/api/openai"
	"presswork/internal/fault"
	"presswork/internal/inference/meter"
	"presswork/tasks"
)

// Options configure a Limiter.
type Options struct {
	// Meter counts the requests. Nil: there are no limits.
	Meter *meter.Meter
	// RPM is how many requests per minute a key may send that create work, unless its own limits say otherwise; 0
	// means no limit.
	RPM int
	// Log receives outages of Redis, during which every request is allowed. Mandatory.
	Log *slog.Logger
}

// Limiter enforces the limits of keys.
type Limiter struct{ Options }

// New returns a Limiter.
func New(o Options) *Limiter { return &Limiter{o} }

// Of returns the limits for the completions of a caller. Its requests per minute apply to every request that
// creates work.
func (l *Limiter) Of(who access.Caller) meter.Limits {
	limits := who.Limits
	limits.RPM = cmp.Or(limits.RPM, l.RPM)

	return limits
}

// Reserve counts a request against limits, by key or, without a key, by client address. Errors:
// *meter.Exceeded. The grant is nil without limits, and when Redis does not answer: then every request is allowed.
func (l *Limiter) Reserve(c *fiber.Ctx, id string, limits meter.Limits, tokens int) (*meter.Grant, error) {
	if limits == (meter.Limits{}) || l.Meter == nil {
		return nil, nil
	}

	ctx, cancel := exchange.CallContext()
	defer cancel()

	grant, err := l.Meter.Reserve(ctx, exchange.ClientOf(c.Context()), id, limits, tokens)
	if e, refused := errors.AsType[*meter.Exceeded](err); refused {
		setLimits(c, e.States)
		return nil, e
	}

	if err != nil {
		l.Log.Warn("cannot enforce the limits of a key: Redis did not answer", "error", err)
		return nil, nil
	}
	setLimits(c, grant.States)

	return grant, nil
}

// Jobs selects the limits of a key that apply to jobs.
func Jobs(l meter.Limits) meter.Limits { return meter.Limits{RPM: l.RPM} }

// Audio selects the limits of a key that apply to recordings and speech.
func Audio(l meter.Limits) meter.Limits {
	return meter.Limits{RPM: l.RPM, RPD: l.RPD, Concurrency: l.Concurrency}
}

// Completions selects the limits of a key that apply to completions.
func Completions(l meter.Limits) meter.Limits { return l }

// Wrap counts each request against the limits of its key before handle reads the body. So a key cannot upload more
// bodies at a time than it may send requests. No tokens are reserved here, but a key without tokens left is rejected.
// The request counts as running until handle returns, unless a completion takes over the grant.
func (l *Limiter) Wrap(of func(meter.Limits) meter.Limits, handle fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		meta := exchange.Of(c.Context())

		var err error
		if meta.Grant, err = l.Reserve(c, tasks.NewID(), of(l.Of(meta.Caller)), 0); err != nil {
			return limitRefusal(c, err)
		}
		defer func() { l.Release(meta.Grant) }()

		return handle(c)
	}
}

// Release stops counting a request as running. A nil grant is allowed.
func (l *Limiter) Release(grant *meter.Grant) {
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

// Send adds the state of the key's limits to an answer that does not have it yet.
func (l *Limiter) Send(c *fiber.Ctx, meta *exchange.Meta) {
	limits := l.Of(meta.Caller)
	if !exchange.InferencePath(c.Path()) {
		limits = meter.Limits{RPM: limits.RPM}
	}

	if meta.LimitsSent || meta.Caller.Job != "" || limits == (meter.Limits{}) || l.Meter == nil {
		return
	}

	ctx, cancel := exchange.CallContext()
	defer cancel()

	states, err := l.Meter.States(ctx, exchange.ClientOf(c.Context()), limits)
	if err != nil {
		l.Log.Warn("cannot report the limits of a key: Redis did not answer", "error", err)
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
		// The headers have room for one dimension: the first that the key has a limit for.
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
