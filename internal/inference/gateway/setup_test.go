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

// runFunc is how an upstream answers one request: it emits deltas, then returns nil or the upstream's error.
type runFunc = func(ctx context.Context, r *inference.Request, emit func(*inference.Delta) error) error

// engine is a fake upstream. It counts its calls and answers each with run. Default: answerHello.
type engine struct {
	traits inference.Traits
	calls  atomic.Int32
	run    runFunc
	// count answers a request to count tokens. Default: the upstream cannot count.
	count func(ctx context.Context) (int, error)
}

func (e *engine) CountTokens(ctx context.Context, _ *inference.Request, _ *inference.Model) (int, error) {
	if e.count == nil {
		return 0, nil
	}

	return e.count(ctx)
}

func (e *engine) Complete(
	ctx context.Context,
	r *inference.Request,
	_ *inference.Model,
	emit func(*inference.Delta) error,
) error {
	e.calls.Add(1)

	if e.run == nil {
		return answerHello(ctx, r, emit)
	}

	return e.run(ctx, r, emit)
}

func (e *engine) Models(context.Context) ([]string, error) { return []string{"m"}, nil }

func (e *engine) Traits() inference.Traits { return e.traits }

// answerHello answers "Hello", with 3 prompt tokens and 1 completion token.
func answerHello(_ context.Context, _ *inference.Request, emit func(*inference.Delta) error) error {
	return errors.Join(
		emit(&inference.Delta{Content: "Hello"}),
		emit(&inference.Delta{Finish: "stop", Usage: &inference.RawUsage{PromptTokens: 3, CompletionTokens: 1}}),
	)
}

// answerAfter answers "Hello" after a wait.
func answerAfter(wait time.Duration) runFunc {
	return func(ctx context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
		time.Sleep(wait)
		return answerHello(ctx, r, emit)
	}
}

// failWith returns an upstream error with the given HTTP status.
func failWith(status int) runFunc {
	return func(context.Context, *inference.Request, func(*inference.Delta) error) error {
		return inference.Errorf(status, inference.UpstreamError, "failed")
	}
}

// hang waits until the request is cancelled.
func hang(ctx context.Context, _ *inference.Request, _ func(*inference.Delta) error) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// rateLimited answers with a 429. Its Retry-After is missing if retryAfter is 0.
func rateLimited(retryAfter time.Duration) runFunc {
	return func(context.Context, *inference.Request, func(*inference.Delta) error) error {
		e := inference.Errorf(429, inference.RateLimitExceeded, "slow down")
		e.RetryAfter = retryAfter

		return e
	}
}

// newGateway returns a gateway for a model m with the named upstreams, sorted by name. change may edit the model; nil
// leaves it unchanged.
func newGateway(engines map[string]*engine, change func(*inference.Model)) *gateway.Gateway {
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

// preferFirst makes the second upstream of m a fallback for the first.
func preferFirst(m *inference.Model) { m.Upstreams[1].Priority = 1 }

// upstreamStatus returns what the gateway reports about one of the upstreams of newGateway.
func upstreamStatus(g *gateway.Gateway, name string) gateway.UpstreamStatus {
	u := inference.Upstream{Name: name, BaseURL: "http://" + name, Model: "m", Weight: 1}
	return g.Explain(&inference.Model{Upstreams: []inference.Upstream{u}})[0]
}

// newToolGateway returns a gateway for a model m that can call tools. rounds limits the rounds of tool calls; 0 is the
// default. The only upstream answers with run.
func newToolGateway(rounds int, run runFunc, o gateway.Options) *gateway.Gateway {
	c := inference.NewCatalogue([]inference.Model{{
		ID:           "m",
		Upstreams:    []inference.Upstream{{BaseURL: "http://a"}},
		Capabilities: []string{inference.CanChat, inference.CanTools},
		Routing:      inference.Routing{ToolRounds: rounds},
	}})
	o.Catalogue = func() *inference.Catalogue { return c }
	o.Open = func(inference.Upstream) (inference.Engine, error) { return &engine{run: run}, nil }

	return gateway.New(o)
}

// discard is an emit function that ignores the chunks.
func discard(*inference.Chunk) error { return nil }

// chatRequest returns a request of model m with the message "Hi".
func chatRequest() *inference.Request {
	return &inference.Request{
		Model:    "m",
		Messages: []inference.Message{{Role: inference.User, Parts: []inference.Part{{Text: "Hi"}}}},
	}
}

// complete runs chatRequest and discards its chunks.
func complete(ctx context.Context, g *gateway.Gateway) (inference.Result, *inference.Error) {
	result, err := g.Complete(ctx, chatRequest(), discard)
	return result, inference.AsError(err)
}
