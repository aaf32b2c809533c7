package gateway

import (
	"context"
	"log/slog"
	"net/http"

	"presswork/internal/inference"
)

// Complete runs the request and emits its chunks in order, from one goroutine. It emits the first chunk with the
// model's first token, and the last with finish reason and usage. An error of emit, or the end of ctx, stops the
// upstream at once.
//
// The Result is always filled in, with the usage up to an error. Errors are *inference.Error. As long as nothing was
// emitted, Complete tries another upstream after a failure, then the request's Fallbacks. Complete admits the request
// if that has not happened yet.
//
// Built-in tools run between rounds, and each round is a call of an upstream. No slot at an upstream is held while
// tools run.
func (g *Gateway) Complete(
	ctx context.Context,
	r *inference.Request,
	emit func(*inference.Chunk) error,
) (inference.Result, error) {
	if len(r.Fallbacks) == 0 {
		return g.completeWith(ctx, r, emit)
	}

	return g.completeOrFallBack(ctx, r, emit)
}

// completeOrFallBack is Complete for a request with Fallbacks.
func (g *Gateway) completeOrFallBack(
	ctx context.Context,
	r *inference.Request,
	emit func(*inference.Chunk) error,
) (inference.Result, error) {
	requested := *r
	result, err := g.completeWith(ctx, r, emit)

	for _, name := range requested.Fallbacks {
		if err == nil || result.Emitted || ctx.Err() != nil || !fallsBack(err) {
			break
		}
		fallback := requested
		fallback.Model = name
		g.opts.Catalogue().Fit(&fallback)
		attempts := result.Attempts
		g.opts.Log.LogAttrs(ctx, slog.LevelWarn, "a model failed, asking its fallback",
			slog.String("model", requested.Model), slog.String("fallback", name), slog.Any("error", err))

		next, nextErr := g.completeWith(ctx, &fallback, func(chunk *inference.Chunk) error {
			if chunk.First {
				chunk.Model = fallback.Model
			}

			return emit(chunk)
		})
		next.Attempts += attempts

		if next.Attempts == attempts && nextErr != nil {
			continue // the fallback rejected the request before a call, so the earlier error is more useful
		}
		// The caller receives nothing for the earlier models, but their upstreams charge.
		next.Failed.Add(result.Usage)
		next.Failed.Add(result.Failed)
		result, err = next, nextErr
	}

	return result, err
}

// fallsBack reports whether another model may succeed after an error: the upstreams are down or limited, or the request
// is too long for the model. After a time-out the caller has waited long enough.
func fallsBack(err error) bool {
	e := inference.AsError(err)

	switch e.Code {
	case inference.ContextLength, inference.RateLimitExceeded, inference.UpstreamUnavailable:
		return true
	case inference.UpstreamError:
		return e.Status > http.StatusInternalServerError
	}

	return false
}
