// Package gateway runs requests for models. For each request it picks an upstream by priority, weight, health and free
// slots, and tries another one as long as nothing was emitted. It separates reasoning from the answer, checks tool
// calls and JSON, and runs built-in tools in rounds between calls of the upstream.
//
// [Gateway.Complete] runs a chat in a completion. For each call of an upstream, the balancer grants a slot, a watch
// ends a silent upstream, and a normaliser turns its deltas into chunks. The state of tools is in rounds. Audio,
// vectors and relays need only the balancer and the watch.
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

// Options configure a Gateway.
type Options struct {
	// Catalogue returns the current models, such as catalogue.Source.Current. It is called for every request. Mandatory.
	Catalogue func() *inference.Catalogue
	// Open returns the engine for an upstream. It is called once for each upstream, and again when its settings change.
	// It runs under a lock, so it must not connect. Mandatory.
	Open func(inference.Upstream) (inference.Engine, error)
	// FetchImage downloads the image of a message; contentType is the type of its bytes. Default: messages with addresses
	// of images are rejected for upstreams that cannot fetch them.
	FetchImage func(ctx context.Context, url string) (data []byte, contentType string, err error)
	// Tools runs the built-in tools. Default: requests with such tools are rejected.
	Tools inference.Toolbox
	// Servers connects to MCP servers. Default: requests with such servers are rejected.
	Servers inference.ToolServers
	// Idle must call f and return after it. While f runs, the completion of ctx waits for tools and uses no model, so
	// Idle may lend its slot to another one. Default: only calls f.
	Idle func(ctx context.Context, f func())
	// Log receives a warning for each failed call of an upstream and for each lost session of built-in tools.
	// Default: discard.
	Log *slog.Logger
}

// Gateway runs chat completions, transcriptions and speech. It is safe for concurrent use.
type Gateway struct {
	opts    Options
	balance *balancer

	mu      sync.Mutex
	engines map[string]openEngine
}

// openEngine is an engine and the upstream that it was opened for.
type openEngine struct {
	upstream inference.Upstream
	engine   inference.Engine
}

// New returns a Gateway. It makes no connection before the first request.
func New(o Options) *Gateway {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}

	if o.Idle == nil {
		o.Idle = func(_ context.Context, f func()) { f() }
	}

	return &Gateway{opts: o, balance: newBalancer(), engines: map[string]openEngine{}}
}

// completeWith runs the request with its own model; see Complete.
func (g *Gateway) completeWith(
	ctx context.Context,
	r *inference.Request,
	emit func(*inference.Chunk) error,
) (inference.Result, error) {
	m, err := g.opts.Catalogue().Admit(r)
	if err != nil {
		return inference.Result{Model: r.Model}, inference.AsError(err)
	}

	ctx, cancel := withTimeout(ctx, m)
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
			failed = notRetryable(failed)
		}

		return c.result, failed
	}

	return c.result, nil
}

// notRetryable marks a time-out after an upstream has received the request. Clients must not retry it: the upstream
// would charge again, and time out again.
func notRetryable(e *inference.Error) *inference.Error {
	if e.Code != inference.UpstreamTimeout {
		return e
	}
	c := *e
	c.Retryable = false

	return &c
}

// endedBy returns err as an *inference.Error. If err comes from the end of ctx, it returns the cause of ctx instead: a
// time-out, or that the request was cancelled.
func endedBy(ctx context.Context, err error) *inference.Error {
	if ctx.Err() == nil {
		return inference.AsError(err)
	}

	fromContext := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	if e, ok := errors.AsType[*inference.Error](err); ok && !fromContext {
		return e
	}

	if e, ok := errors.AsType[*inference.Error](context.Cause(ctx)); ok {
		return e
	}

	return inference.Errorf(statusClientClosed, inference.RequestCancelled, "the request was cancelled").
		WithCause(context.Cause(ctx))
}

// statusClientClosed is the status of a request whose client has disconnected.
const statusClientClosed = 499

// engine returns the engine of an upstream. It opens one for a new upstream, or if the settings of the upstream have
// changed.
func (g *Gateway) engine(u *inference.Upstream) (inference.Engine, error) {
	g.mu.Lock()
	defer g.mu.Unlock()

	open, ok := g.engines[u.Key()]
	if ok && sameUpstream(&open.upstream, u) {
		return open.engine, nil
	}

	e, err := g.opts.Open(*u)
	if err != nil {
		return nil, inference.Errorf(http.StatusInternalServerError, fault.Internal,
			"the model's server is not set up correctly").WithCause(err)
	}
	g.engines[u.Key()] = openEngine{*u, e}

	return e, nil
}

// sameUpstream reports whether two upstreams with the same key need the same engine.
func sameUpstream(a, b *inference.Upstream) bool {
	return a.Kind == b.Kind && a.APIKey == b.APIKey && maps.Equal(a.Headers, b.Headers)
}
