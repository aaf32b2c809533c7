package gateway

import (
	"context"

	"presswork/internal/inference"
)

// Relay passes a request on to an upstream of its model and returns the whole answer. Nothing reaches the caller before
// that, so Relay may try every upstream. Routing.Timeout bounds the request. The Result is always filled in. Errors are
// [*inference.Error].
func (g *Gateway) Relay(ctx context.Context, r *inference.Relay) (*inference.Relayed, inference.Result, error) {
	result := inference.Result{Model: r.Model}

	m, err := g.opts.Catalogue().Require(r.Model, r.Capability)
	if err != nil {
		return nil, result, inference.AsError(err)
	}
	result.Model = m.ID

	ctx, cancel := withTimeout(ctx, m)
	defer cancel()
	var answer *inference.Relayed

	err = g.tryUpstreams(ctx, m, requester{owner: r.Owner}, func(u *inference.Upstream) outcome {
		result.Attempts++
		result.Upstream = u.Name

		var err error
		answer, err = g.relayTo(ctx, m, u, r)

		return outcome{err: err}
	})
	if err != nil {
		return nil, result, notRetryable(endedBy(ctx, err))
	}

	// Servers of images often report no tokens. The limits of the key still need a number.
	result.Usage.PromptTokens, result.Usage.CompletionTokens = answer.PromptTokens, answer.CompletionTokens
	if answer.PromptTokens+answer.CompletionTokens == 0 {
		result.Usage.PromptTokens, result.Usage.EstimatedTokens = r.EstimateTokens(), r.EstimateTokens()
	}
	result.Usage.TotalTokens = result.Usage.PromptTokens + result.Usage.CompletionTokens

	return answer, result, nil
}

// relayTo passes a request on to one upstream, which may be silent for FirstTokenTimeout.
func (g *Gateway) relayTo(
	ctx context.Context,
	m *inference.Model,
	u *inference.Upstream,
	r *inference.Relay,
) (*inference.Relayed, error) {
	engine, err := g.engine(u)
	if err != nil {
		return nil, err
	}

	relays, ok := engine.(inference.RelayEngine)
	if !ok {
		return nil, inference.ErrCannotRelay()
	}

	ctx, _, stop := newWatch(ctx, &m.Routing, 0)
	defer stop()

	answer, err := relays.Relay(ctx, r)
	if err != nil {
		return nil, endedBy(ctx, err)
	}

	return answer, nil
}
