package gateway

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"presswork/internal/inference"
)

// Embed returns the vectors of all inputs, in their order. It sends long lists to the upstreams in the model's Batches.
// The Result is always filled in, with the usage up to an error. Errors are [*inference.Error].
func (g *Gateway) Embed(
	ctx context.Context,
	r *inference.Embedding,
) (*inference.Vectors, inference.Result, error) {
	all := &inference.Vectors{Data: make([]inference.Vector, r.Inputs())}
	size := 0

	result, err := g.inBatches(ctx, r.Model, inference.CanEmbed, r.Owner, r.Inputs(),
		func(ctx context.Context, e inference.VectorEngine, first, end int) (batchResult, error) {
			part := r.Batch(first, end)

			v, err := e.Embed(ctx, part)
			if err != nil {
				return batchResult{}, err
			}

			addResult := func() error {
				copy(all.Data[first:end], v.Data)

				// Check the size with each batch: the vectors of a whole request could fill the memory.
				for _, vector := range v.Data {
					size += len(vector)
				}

				if size > inference.MaxVectorBytes {
					return inference.Invalidf("input", "the vectors have more than %d MB together; send fewer inputs",
						inference.MaxVectorBytes>>20)
				}

				return nil
			}

			return batchResult{tokens: v.PromptTokens, estimate: part.EstimateTokens(), addResult: addResult}, nil
		})
	if err != nil {
		return nil, result, err
	}

	return all, result, nil
}

// Rerank returns the ranks of the documents, the most relevant first: TopN of them. It sends long lists to the
// upstreams in the model's Batches. Result and errors are as in Embed.
func (g *Gateway) Rerank(
	ctx context.Context,
	r *inference.Reranking,
) (*inference.Ranking, inference.Result, error) {
	all := &inference.Ranking{}

	result, err := g.inBatches(ctx, r.Model, inference.CanRerank, r.Owner, len(r.Documents),
		func(ctx context.Context, e inference.VectorEngine, first, end int) (batchResult, error) {
			part := *r
			part.Documents = r.Documents[first:end]

			ranking, err := e.Rerank(ctx, &part)
			if err != nil {
				return batchResult{}, err
			}

			addResult := func() error {
				for _, rank := range ranking.Ranks {
					all.Ranks = append(all.Ranks, inference.Rank{Index: first + rank.Index, Score: rank.Score})
				}

				return nil
			}

			return batchResult{tokens: ranking.PromptTokens, estimate: part.EstimateTokens(), addResult: addResult}, nil
		})
	if err != nil {
		return nil, result, err
	}

	// Documents with equal scores keep their order, so that equal requests get equal answers.
	slices.SortFunc(all.Ranks, func(a, b inference.Rank) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Index, b.Index))
	})

	if r.TopN > 0 {
		all.Ranks = all.Ranks[:min(r.TopN, len(all.Ranks))]
	}

	return all, result, nil
}

// batchResult is the answer of an upstream to one batch.
type batchResult struct {
	// tokens is the upstream's count. If it is 0, estimate replaces it.
	tokens, estimate int
	// addResult adds the answer to those of the other batches. inBatches calls it under a lock.
	addResult func() error
}

// inBatches cuts n items into the model's batches and calls run for each, Parallel at a time and each at one of the
// model's upstreams. A failed upstream therefore costs one batch, which another upstream repeats, and not the whole
// list. It stops at the first error.
func (g *Gateway) inBatches(
	ctx context.Context,
	model, capability, owner string,
	n int,
	run func(ctx context.Context, e inference.VectorEngine, first, end int) (batchResult, error),
) (inference.Result, error) {
	result := inference.Result{Model: model}

	m, err := g.opts.Catalogue().Require(model, capability)
	if err != nil {
		return result, inference.AsError(err)
	}
	result.Model = m.ID

	ctx, cancel := withTimeout(ctx, m)
	defer cancel()
	group, batches := errgroup.WithContext(ctx)
	group.SetLimit(m.Batches.Parallel)

	var mu sync.Mutex

	for first := 0; first < n && batches.Err() == nil; first += m.Batches.Size {
		end := min(first+m.Batches.Size, n)

		group.Go(func() error {
			return g.tryUpstreams(batches, m, requester{owner: owner}, func(u *inference.Upstream) outcome {
				answer, err := g.runBatch(batches, m, u, first, end, run)

				mu.Lock()
				defer mu.Unlock()
				result.Attempts++
				result.Upstream = u.Name

				if err != nil {
					return outcome{err: err}
				}

				// Some servers send no usage.
				used := inference.Usage{PromptTokens: answer.tokens}
				if used.PromptTokens == 0 {
					used.PromptTokens, used.EstimatedTokens = answer.estimate, answer.estimate
				}
				result.Usage.Add(used)

				return outcome{err: answer.addResult()}
			})
		})
	}

	if err := group.Wait(); err != nil {
		return result, notRetryable(endedBy(ctx, err))
	}

	return result, nil
}

// runBatch calls run with the engine of one upstream, which may be silent for FirstTokenTimeout.
func (g *Gateway) runBatch(
	ctx context.Context,
	m *inference.Model,
	u *inference.Upstream,
	first, end int,
	run func(ctx context.Context, e inference.VectorEngine, first, end int) (batchResult, error),
) (batchResult, error) {
	engine, err := g.engine(u)
	if err != nil {
		return batchResult{}, err
	}

	vectors, ok := engine.(inference.VectorEngine)
	if !ok {
		return batchResult{}, inference.Errorf(http.StatusBadRequest, inference.UpstreamError,
			"the model's server supports neither embeddings nor reranking")
	}

	ctx, _, stop := newWatch(ctx, &m.Routing, 0)
	defer stop()

	answer, err := run(ctx, vectors, first, end)
	if err != nil {
		return batchResult{}, endedBy(ctx, err)
	}

	return answer, nil
}
