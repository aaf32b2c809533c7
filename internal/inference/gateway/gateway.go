// Package gateway runs requests for models. For each request it picks an upstream by priority,
// weight, health and free slots, and tries another one as long as nothing was emitted. It
// separates reasoning from the answer, checks tool calls and JSON, and runs built-in tools in
// rounds between calls of the upstream.
package gateway

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"sync"

	"presswork/internal/fault"
	"presswork/internal/inference"
)

// Options wire a Gateway.
type Options struct {
	// Catalogue returns the models as they are now: Source.Current. It is called
	// for every request. Mandatory.
	Catalogue func() *inference.Catalogue
	// Open makes the engine for an upstream; it is called once for each.
	// Mandatory.
	Open func(inference.Upstream) (inference.Engine, error)
	// FetchImage gets an image a message points to, through the guard; the type
	// is what the bytes are. Nil refuses such messages where the upstream cannot
	// fetch for itself.
	FetchImage func(ctx context.Context, url string) (data []byte, contentType string, err error)
	// Tools runs the built-in tools. Nil: requests for them are refused.
	Tools inference.Toolbox
	// Idle runs a function in which a completion, that of ctx, waits for tools and for
	// no model. Default: it is run.
	Idle func(ctx context.Context, f func())
	// Log gets a warning for each try of an upstream that failed, and for each
	// session of built-in tools that was lost. Default: discard.
	Log *slog.Logger
}

// Gateway runs chat completions. It is safe for concurrent use.
type Gateway struct {
	opts    Options
	balance *balancer

	mu      sync.Mutex
	engines map[string]openEngine
}

type openEngine struct {
	upstream inference.Upstream
	engine   inference.Engine
}

// New makes a Gateway. It connects to nothing until it is used.
func New(o Options) *Gateway {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}

	if o.Idle == nil {
		o.Idle = func(_ context.Context, f func()) { f() }
	}

	return &Gateway{opts: o, balance: newBalancer(), engines: map[string]openEngine{}}
}

// Complete runs the request and emits its chunks in order, from one goroutine:
// the first with the model's first token, the last with finish reason and usage.
// An error of emit, or the end of ctx, stops the upstream at once.
//
// The Result is always filled in, with what was used until an error; errors are
// *Error. As long as an upstream's answer has emitted nothing, another upstream is
// tried. The request is admitted first, if it was not before.
//
// Built-in tools are run between rounds, each of which is a call of an upstream;
// no place at an upstream is held meanwhile.
func (g *Gateway) Complete(
	ctx context.Context,
	r *inference.Request,
	emit func(*inference.Chunk) error,
) (inference.Result, error) {
	m, err := g.opts.Catalogue().Admit(r)
	if err != nil {
		return inference.Result{Model: r.Model}, inference.AsError(err)
	}

	ctx, cancel := within(ctx, m)
	defer cancel()
	c := &completion{
		g:       g,
		model:   m,
		request: r,
		out:     emit,
		result:  inference.Result{Model: m.ID},
		images:  map[string]string{},
	}

	err = c.run(ctx)
	if err != nil {
		failed := endedBy(ctx, err)
		if c.result.Attempts > 0 {
			failed = paidFor(failed)
		}

		return c.result, failed
	}

	return c.result, nil
}

// paidFor returns the failure of a request that an upstream has received. Clients must not
// retry after a time-out: the request would be charged again, and time out again.
func paidFor(e *inference.Error) *inference.Error {
	if e.Code != inference.UpstreamTimeout {
		return e
	}
	c := *e
	c.Retryable = false

	return &c
}

// endedBy gives the reason why a context ended where that is why err came.
func endedBy(ctx context.Context, err error) *inference.Error {
	if ctx.Err() == nil {
		return inference.AsError(err)
	}

	if e, ok := errors.AsType[*inference.Error](
		err,
	); ok && !errors.Is(err, context.Canceled) &&
		!errors.Is(err, context.DeadlineExceeded) {
		return e
	}

	if e, ok := errors.AsType[*inference.Error](context.Cause(ctx)); ok {
		return e
	}

	return cancelled().WithCause(context.Cause(ctx))
}

// cancelled is the failure of a request whose caller left: 499.
func cancelled() *inference.Error {
	return inference.Errorf(499, inference.RequestCancelled, "the request was cancelled")
}

// engine opens the engine of an upstream, or gives the open one. A changed
// entry gets a new one.
func (g *Gateway) engine(u *inference.Upstream) (inference.Engine, error) {
	g.mu.Lock()
	defer g.mu.Unlock()

	open, ok := g.engines[u.Key()]
	if ok && sameUpstream(&open.upstream, u) {
		return open.engine, nil
	}

	e, err := g.opts.Open(*u)
	if err != nil {
		return nil, inference.Errorf(
			http.StatusInternalServerError,
			fault.Internal,
			"the model's server is not set up correctly",
		).WithCause(err)
	}
	g.engines[u.Key()] = openEngine{*u, e}

	return e, nil
}

func sameUpstream(a, b *inference.Upstream) bool {
	return a.Kind == b.Kind && a.APIKey == b.APIKey && maps.Equal(a.Headers, b.Headers)
}
