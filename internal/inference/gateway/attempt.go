package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"presswork/internal/inference"
)

// claim identifies whose request waits for a slot at an upstream, and its tier.
type claim struct{ owner, tier string }

// attempted is the result of one try of an upstream.
type attempted struct {
	err error
	// emitted reports that the caller has received a part of the answer, so another upstream
	// must not begin it again.
	emitted bool
	// callerFailed reports that err is the error of the caller's emit function.
	callerFailed bool
}

// upstreamFailed reports whether the failure is the upstream's, not the request's or the
// caller's.
func (a attempted) upstreamFailed(ctx context.Context) bool {
	if a.err == nil || a.callerFailed || ctx.Err() != nil {
		return false
	}
	status := inference.AsError(a.err).Status

	return status > 500 || status == http.StatusTooManyRequests
}

// attempt tries the model's upstreams until one succeeds. It tries the next one as long as
// nothing was emitted and the failure is the upstream's, which is then avoided for a while. It
// does not ask an upstream again after a time-out: the upstream may charge for every request.
func (g *Gateway) attempt(
	ctx context.Context,
	m *inference.Model,
	who claim,
	try func(u *inference.Upstream) attempted,
) error {
	tried := map[string]bool{}

	left := *m
	for n := 0; ; n++ {
		u, err := g.balance.take(ctx, &left, who, tried)
		if err != nil {
			return err
		}

		if tried[u.Key()] {
			if err := sleep(ctx, backoff(n)); err != nil {
				g.balance.release(u, 0, err)
				return err
			}
		}
		tried[u.Key()] = true

		a := try(u)
		if !a.upstreamFailed(ctx) {
			g.balance.release(u, 0, a.err)
			return a.err
		}
		g.opts.Log.LogAttrs(
			ctx,
			slog.LevelWarn,
			"upstream failed",
			slog.String("model", m.ID),
			slog.String("upstream", u.Name),
			slog.Int("attempt", n+1),
			slog.Bool("emitted", a.emitted),
			slog.Any("error", a.err),
		)

		failed := inference.AsError(a.err)
		if failed.Status == http.StatusTooManyRequests {
			g.balance.limit(u, failed.RetryAfter, defaultPause(m), a.err)
		} else {
			g.balance.release(u, max(m.Routing.Cooldown, failed.RetryAfter), a.err)
		}

		if a.emitted {
			return a.err
		}

		if failed.Code == inference.UpstreamTimeout {
			left.Upstreams = slices.DeleteFunc(
				slices.Clone(left.Upstreams),
				func(o inference.Upstream) bool { return o.Key() == u.Key() },
			)
		}

		if n >= retries(m) || len(left.Upstreams) == 0 {
			if limited := g.balance.rateLimited(m); limited != nil {
				return limited
			}

			return a.err
		}
	}
}

// withTimeout bounds a request by the model's time for a whole answer.
func withTimeout(ctx context.Context, m *inference.Model) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(
		ctx,
		m.Routing.Timeout,
		inference.Errorf(
			http.StatusGatewayTimeout,
			inference.UpstreamTimeout,
			"the model did not finish within %s",
			m.Routing.Timeout,
		),
	)
}

// backoff returns the wait before a retry on an upstream that has already failed.
func backoff(attempt int) time.Duration {
	return min(100*time.Millisecond<<attempt, 2*time.Second)
}

// sleep waits for d. It returns the cause of ctx if that ends first.
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

// defaultPause returns the longest pause of an upstream after a 429 without a Retry-After. There
// is none if the model has no other upstream.
func defaultPause(m *inference.Model) time.Duration {
	if len(m.Upstreams) == 1 {
		return 0
	}

	return m.Routing.Cooldown
}

// retries returns how many tries may follow the first.
func retries(m *inference.Model) int {
	if m.Routing.Retries != nil {
		return *m.Routing.Retries
	}

	return max(1, len(m.Upstreams)-1)
}
