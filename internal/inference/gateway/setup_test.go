package gateway_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"presswork/internal/inference"
	"presswork/internal/inference/gateway"
)

// engine is a fake upstream. It answers by run. Default: it answers with a short text.
type engine struct {
	traits inference.Traits
	calls  atomic.Int32
	run    func(ctx context.Context, r *inference.Request, emit func(*inference.Delta) error) error
}

func (e *engine) Complete(
	ctx context.Context,
	r *inference.Request,
	_ *inference.Model,
	emit func(*inference.Delta) error,
) error {
	e.calls.Add(1)

	if e.run == nil {
		return hello(ctx, r, emit)
	}

	return e.run(ctx, r, emit)
}

func (e *engine) Models(context.Context) ([]string, error) { return []string{"m"}, nil }

func (e *engine) Traits() inference.Traits { return e.traits }

func hello(_ context.Context, _ *inference.Request, emit func(*inference.Delta) error) error {
	return errors.Join(
		emit(&inference.Delta{Content: "Hello"}),
		emit(&inference.Delta{Finish: "stop", Usage: &inference.RawUsage{PromptTokens: 3, CompletionTokens: 1}}),
	)
}

func fails(status int) func(context.Context, *inference.Request, func(*inference.Delta) error) error {
	return func(context.Context, *inference.Request, func(*inference.Delta) error) error {
		return inference.Errorf(status, inference.UpstreamError, "failed")
	}
}

// hangs waits until the request is cancelled.
func hangs(ctx context.Context, _ *inference.Request, _ func(*inference.Delta) error) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// limited answers with a 429 that has a Retry-After.
func limited(wait time.Duration) func(context.Context, *inference.Request, func(*inference.Delta) error) error {
	return func(context.Context, *inference.Request, func(*inference.Delta) error) error {
		e := inference.Errorf(429, inference.RateLimitExceeded, "slow down")
		e.RetryAfter = wait

		return e
	}
}

// setup returns a gateway for a model m with the named upstreams. change may edit the model.
func setup(engines map[string]*engine, change func(*inference.Model)) *gateway.Gateway {
	m := inference.Model{ID: "m", Capabilities: []string{inference.CanChat, inference.CanTools, inference.CanVision}}
	for _, name := range slices.Sorted(maps.Keys(engines)) {
		m.Upstreams = append(m.Upstreams, inference.Upstream{Name: name, BaseURL: "http://" + name})
	}

	if change != nil {
		change(&m)
	}
	c := inference.NewCatalogue([]inference.Model{m})

	return gateway.New(gateway.Options{
		Catalogue: func() *inference.Catalogue { return c },
		Open:      func(u inference.Upstream) (inference.Engine, error) { return engines[u.Name], nil },
	})
}

func request() *inference.Request {
	return &inference.Request{
		Model:    "m",
		Messages: []inference.Message{{Role: inference.User, Parts: []inference.Part{{Text: "Hi"}}}},
	}
}

func run(ctx context.Context, g *gateway.Gateway) (inference.Result, *inference.Error) {
	result, err := g.Complete(ctx, request(), func(*inference.Chunk) error { return nil })
	return result, inference.AsError(err)
}
