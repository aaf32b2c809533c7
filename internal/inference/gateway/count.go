package gateway

import (
	"context"
	"errors"

	"presswork/internal/fault"
	"presswork/internal/inference"
)

// errNotCounted is the error of an upstream that did not count. It does not change the health of the upstream: a server
// without this route still answers requests.
var errNotCounted = errors.New("the upstream did not count the tokens")

// CountTokens returns the number of tokens of a prompt, by an upstream of the model. It tries another upstream when one
// does not answer. It returns the estimate if the upstream cannot count or fails. The Result is always filled in;
// counting uses no tokens. Errors are [*inference.Error].
func (g *Gateway) CountTokens(
	ctx context.Context,
	r *inference.Request,
) (inference.TokenCount, inference.Result, error) {
	result := inference.Result{Model: r.Model}
	count := inference.TokenCount{Tokens: r.EstimateTokens(), Estimated: true}

	m, err := g.opts.Catalogue().Find(r.Model)
	if err != nil {
		return count, result, inference.AsError(err)
	}
	result.Model = m.ID

	limited, cancel := withTimeout(ctx, m)
	defer cancel()

	err = g.tryUpstreams(limited, m, requester{r.Owner, r.ServiceTier}, func(u *inference.Upstream) outcome {
		result.Attempts++
		result.Upstream = u.Name

		tokens, err := g.countAt(limited, m, u, r)
		switch {
		case isUnanswered(err):
			return outcome{err: err}
		case err != nil || tokens == 0:
			return outcome{err: errNotCounted}
		}
		count = inference.TokenCount{Tokens: tokens}

		return outcome{}
	})
	// Every other failure leaves the estimate as the answer.
	if err != nil && ctx.Err() != nil {
		return count, result, endedBy(ctx, err)
	}

	return count, result, nil
}

// isUnanswered reports whether an upstream could not be reached or took too long.
func isUnanswered(err error) bool {
	return errors.Is(err, inference.ErrUnreachable) || fault.CodeOf(err) == inference.UpstreamTimeout
}

// countAt returns the number of tokens by one upstream, 0 if it cannot count them.
func (g *Gateway) countAt(
	ctx context.Context,
	m *inference.Model,
	u *inference.Upstream,
	r *inference.Request,
) (int, error) {
	engine, err := g.engine(u)
	if err != nil {
		return 0, err
	}

	counter, ok := engine.(inference.TokenCounter)
	if !ok || r.Images() > 0 && !engine.Traits().FetchesImages { // it must not load addresses from the caller
		return 0, nil
	}

	ctx, _, stop := newWatch(ctx, &m.Routing, 0)
	defer stop()

	return counter.CountTokens(ctx, r, m)
}
