package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"presswork/internal/inference"
)

// requester is the owner of a request and its service tier. Both decide when the request gets a slot at an upstream.
type requester struct{ owner, tier string }

// outcome is the result of one request to an upstream. err is nil if it succeeded.
type outcome struct {
	err error
	// emitted reports that the caller has received a part of the answer, so another upstream must not begin it again.
	emitted bool
	// callerFailed reports that err is the error of the caller's emit function.
	callerFailed bool
}

// upstreamFailed reports whether the failure is the upstream's, not the request's or the caller's.
func (o outcome) upstreamFailed(ctx context.Context) bool {
	if o.err == nil || o.callerFailed || ctx.Err() != nil {
		return false
	}
	// 500 is an error of this process; failures of upstreams have higher codes.
	status := inference.AsError(o.err).Status

	return status > 500 || status == http.StatusTooManyRequests
}

// tryUpstreams calls try with the model's upstreams until one succeeds. It continues with the next one as long as
// nothing was emitted and the failure is the upstream's, which then cools or pauses; see balancer. It does not use an
// upstream again after a time-out: the upstream may charge for every request.
func (g *Gateway) tryUpstreams(
	ctx context.Context,
	m *inference.Model,
	caller requester,
	try func(u *inference.Upstream) outcome,
) error {
	tried := map[string]bool{}

	remaining := m
	for n := 0; ; n++ {
		u, err := g.balance.acquire(ctx, remaining, caller, tried)
		if err != nil {
			return err
		}

		// Other upstreams were tried first, so only a repeated one gets time to recover.
		if tried[u.Key()] {
			if err := sleep(ctx, backoff(n)); err != nil {
				g.balance.release(u, 0, err)
				return err
			}
		}
		tried[u.Key()] = true

		result := try(u)
		if !result.upstreamFailed(ctx) {
			g.balance.release(u, 0, result.err)
			return result.err
		}
		g.opts.Log.LogAttrs(
			ctx,
			slog.LevelWarn,
			"upstream failed",
			slog.String("model", m.ID),
			slog.String("upstream", u.Name),
			slog.Int("attempt", n+1),
			slog.Bool("emitted", result.emitted),
			slog.Any("error", result.err),
		)

		failed := inference.AsError(result.err)
		if failed.Status == http.StatusTooManyRequests {
			g.balance.releaseLimited(u, failed.RetryAfter, defaultPause(m), result.err)
		} else {
			g.balance.release(u, max(m.Routing.Cooldown, failed.RetryAfter), result.err)
		}

		if result.emitted {
			return result.err
		}

		if failed.Code == inference.UpstreamTimeout {
			remaining = without(remaining, u)
		}

		if n >= retries(m) || len(remaining.Upstreams) == 0 {
			if limited := g.balance.rateLimited(m); limited != nil {
				return limited
			}

			return result.err
		}
	}
}

// without returns a copy of a model without one of its upstreams.
func without(m *inference.Model, u *inference.Upstream) *inference.Model {
	rest := *m
	rest.Upstreams = slices.DeleteFunc(
		slices.Clone(m.Upstreams),
		func(o inference.Upstream) bool { return o.Key() == u.Key() },
	)

	return &rest
}

// withTimeout bounds a request by the model's time for a whole answer.
func withTimeout(ctx context.Context, m *inference.Model) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(
		ctx,
		m.Routing.Timeout,
		inference.Errorf(http.StatusGatewayTimeout, inference.UpstreamTimeout,
			"the model did not finish within %s", m.Routing.Timeout),
	)
}

// backoff returns the wait before a retry on an upstream that has already failed. It doubles from 100 ms to 2 s, so
// that a restart of the upstream has time to finish.
func backoff(attempt int) time.Duration {
	return min(100*time.Millisecond<<attempt, 2*time.Second)
}

// sleep waits for d. It returns the cause of ctx if ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()

	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// defaultPause returns the longest pause of an upstream after a 429 without a Retry-After. It is 0 if the model has
// no other upstream: a pause would only reject requests that might succeed.
func defaultPause(m *inference.Model) time.Duration {
	if len(m.Upstreams) == 1 {
		return 0
	}

	return m.Routing.Cooldown
}

// retries returns how many attempts may follow the first.
func retries(m *inference.Model) int {
	if m.Routing.Retries != nil {
		return *m.Routing.Retries
	}

	return max(1, len(m.Upstreams)-1)
}
