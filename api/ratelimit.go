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

// limitsOf are the limits that a caller's completions count against; of them,
// the requests per minute are those of everything that makes work.
func (s *Server) limitsOf(who access.Caller) meter.Limits {
	limits := who.Limits
	limits.RPM = cmp.Or(limits.RPM, s.RateLimitRPM)

	return limits
}

// reserve takes a request out of the limits of its key; without keys, of the
// client's address. Errors: *meter.Exceeded. When the limits cannot be asked
// nobody is held back: the grant is nil, as it is without limits.
func (s *Server) reserve(c *fiber.Ctx, id string, limits meter.Limits, tokens int) (*meter.Grant, error) {
	if limits == (meter.Limits{}) || s.Meter == nil {
		return nil, nil
	}

	ctx, cancel := s.deadline()
	defer cancel()

	grant, err := s.Meter.Reserve(ctx, clientOf(c.Context()), id, limits, tokens)
	if e, refused := errors.AsType[*meter.Exceeded](err); refused {
		setLimits(c, e.States)
		return nil, e
	}

	if err != nil {
		s.Log.Warn("the limits of a key are not held: Redis did not answer", "error", err)
		return nil, nil
	}
	setLimits(c, grant.States)

	return grant, nil
}

// ofJobs, ofAudio and ofCompletions choose the limits of a key that a request of these counts
// against.
func ofJobs(l meter.Limits) meter.Limits { return meter.Limits{RPM: l.RPM} }

func ofAudio(l meter.Limits) meter.Limits {
	return meter.Limits{RPM: l.RPM, RPD: l.RPD, Concurrency: l.Concurrency}
}

func ofCompletions(l meter.Limits) meter.Limits { return l }

// counted takes each request out of its key's limits before handle reads the body: a key
// cannot hold more bodies at a time than it may make requests. It counts no tokens, but a
// key that has none left is refused. A request counts among those that run until handle
// returns, or a completion has taken over its grant.
func (s *Server) counted(of func(meter.Limits) meter.Limits, handle fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		meta := metadataOf(c.Context())

		var err error
		if meta.grant, err = s.reserve(c, tasks.NewID(), of(s.limitsOf(meta.who)), 0); err != nil {
			return refusedBy(c, err)
		}
		defer func() { s.release(meta.grant) }()

		return handle(c)
	}
}

// release ends a request's count among those that run.
func (s *Server) release(grant *meter.Grant) {
	if grant == nil {
		return
	}

	ctx, cancel := s.deadline()
	defer cancel()
	grant.Release(ctx)
}

// refusedBy puts the refusal of a request that was not read into the words of its API.
func refusedBy(c *fiber.Ctx, err error) error {
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

// sendLimits sets on an answer the state of the limits that its request did not
// count against.
func (s *Server) sendLimits(c *fiber.Ctx, meta *metadata) {
	limits := s.limitsOf(meta.who)
	if !inferencePath(c.Path()) {
		limits = meter.Limits{RPM: limits.RPM}
	}

	if meta.limitsSent || meta.who.Job != "" || limits == (meter.Limits{}) || s.Meter == nil {
		return
	}

	ctx, cancel := s.deadline()
	defer cancel()

	states, err := s.Meter.Look(ctx, clientOf(c.Context()), limits)
	if err != nil {
		s.Log.Warn("the limits of a key are not told: Redis did not answer", "error", err)
		return
	}
	setLimits(c, states)
}

// setLimits writes the state of the limits, in the headers that SDKs know.
func setLimits(c *fiber.Ctx, states map[meter.Dimension]meter.State) {
	metadataOf(c.Context()).limitsSent = true

	for header, dimensions := range map[string][]meter.Dimension{
		"Requests": {meter.RPD, meter.RPM}, "Tokens": {meter.TPM, meter.TPD},
	} {
		for _, d := range dimensions {
			if state, limited := states[d]; limited {
				c.Set("X-Ratelimit-Limit-"+header, fmt.Sprint(state.Limit))
				c.Set("X-Ratelimit-Remaining-"+header, fmt.Sprint(state.Remaining))
				c.Set("X-Ratelimit-Reset-"+header, state.Reset.Round(10*time.Millisecond).String())
				break
			}
		}
	}
}

// setRetryAfter sets when to try again, in both forms: SDKs ask for the one in
// milliseconds first. Both are rounded up, so that the time has come then.
func setRetryAfter(h interface{ Set(key, value string) }, after time.Duration) {
	h.Set("Retry-After", strconv.Itoa(int(math.Ceil(after.Seconds()))))
	h.Set("Retry-After-Ms", strconv.FormatInt(int64(math.Ceil(float64(after)/float64(time.Millisecond))), 10))
}
