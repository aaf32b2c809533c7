package gateway

import (
	"context"

	"presswork/internal/inference"
)

// CountTokens returns the number of tokens of a prompt, by an upstream of the model. It returns the estimate if the
// upstream cannot count or fails. The Result is always filled in; counting uses no tokens. Errors are
// [*inference.Error] or the cause of ctx.
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

	ctx, cancel := withTimeout(ctx, m)
	defer cancel()

	err = g.tryUpstreams(ctx, m, requester{r.Owner, r.ServiceTier}, func(u *inference.Upstream) outcome {
		result.Attempts++
		result.Upstream = u.Name

		tokens, err := g.countAt(ctx, m, u, r)
		if err == nil && tokens > 0 {
			count = inference.TokenCount{Tokens: tokens}
		}

		return outcome{} // a server without this route still answers requests, so it must not be avoided
	})

	return count, result, err
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
