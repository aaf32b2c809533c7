package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"presswork/internal/inference"
)

// turn is whose request waits for a place at an upstream, and how urgent it is.
type turn struct{ owner, tier string }

// attempted is how one try of an upstream ended.
type attempted struct {
	err error
	// emitted reports that the caller has had a part of the answer, so that nobody
	// else may begin it anew.
	emitted bool
	// unheard reports that it was the caller who failed to take the answer.
	unheard bool
}

// upstreams reports whether the upstream is at fault, not the request and not the
// caller.
func (a attempted) upstreams(ctx context.Context) bool {
	if a.err == nil || a.unheard || ctx.Err() != nil {
		return false
	}
	status := inference.AsError(a.err).Status

	return status > 500 || status == http.StatusTooManyRequests
}

// attempt tries the model's upstreams until one succeeds. It goes on as long as nothing
// was emitted and the failure is the upstream's, which then cools or rests. An upstream
// that timed out is not asked again: it may charge for every request.
func (g *Gateway) attempt(
	ctx context.Context,
	m *inference.Model,
	who turn,
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
		if !a.upstreams(ctx) {
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
			g.balance.rest(u, failed.RetryAfter, unnamedRest(m), a.err)
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
			if rests := g.balance.rests(m); rests != nil {
				return rests
			}

			return a.err
		}
	}
}

// within bounds a request by the model's time for a whole answer.
func within(ctx context.Context, m *inference.Model) (context.Context, context.CancelFunc) {
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

// backoff is the wait before a retry on an upstream that has failed before.
func backoff(attempt int) time.Duration {
	return min(100*time.Millisecond<<attempt, 2*time.Second)
}

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

// unnamedRest is the longest rest of an upstream for a 429 that names no time: none
// where the model has no other upstream.
func unnamedRest(m *inference.Model) time.Duration {
	if len(m.Upstreams) == 1 {
		return 0
	}

	return m.Routing.Cooldown
}

// retries is how many tries follow the first.
func retries(m *inference.Model) int {
	if m.Routing.Retries != nil {
		return *m.Routing.Retries
	}

	return max(1, len(m.Upstreams)-1)
}
