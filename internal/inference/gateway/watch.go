package gateway

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"presswork/internal/inference"
)

// watch ends the call of an upstream that is silent for too long. It is safe for
// concurrent use.
type watch struct {
	first, idle time.Duration
	// begun is set once the answer has begun: the limit is first before, idle after.
	begun atomic.Bool
	alarm *time.Timer
}

// newWatch begins to watch a call of an upstream. The context ends with an UpstreamTimeout
// that names the limit. more is added to FirstTokenTimeout. The caller must call stop.
func newWatch(
	ctx context.Context,
	r *inference.Routing,
	more time.Duration,
) (_ context.Context, w *watch, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	w = &watch{first: r.FirstTokenTimeout + more, idle: r.IdleTimeout}
	w.alarm = time.AfterFunc(w.first, func() { cancel(w.timeout()) })

	return ctx, w, func() {
		w.alarm.Stop()
		cancel(nil)
	}
}

// life records a sign of life.
func (w *watch) life() {
	if w.begun.Load() {
		w.alarm.Reset(w.idle)
	} else {
		w.alarm.Reset(w.first)
	}
}

// begin records a piece of the answer.
func (w *watch) begin() {
	w.begun.Store(true)
	w.life()
}

func (w *watch) timeout() *inference.Error {
	if w.begun.Load() {
		return inference.Errorf(http.StatusBadGateway, inference.UpstreamTimeout,
			"the model fell silent: nothing came for %s (its idle_timeout)", w.idle)
	}

	return inference.Errorf(http.StatusGatewayTimeout, inference.UpstreamTimeout,
		"the model did not begin to answer: nothing came for %s (its first_token_timeout)", w.first)
}
