package gateway

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"presswork/internal/inference"
)

// watch cancels a request to an upstream that sends nothing for too long. It is safe for concurrent use.
type watch struct {
	first, idle time.Duration
	// firstName says what first is made of.
	firstName string
	// begun reports that the answer has begun. The limit is first before that and idle afterwards.
	begun atomic.Bool
	timer *time.Timer
}

// newWatch watches a request to an upstream. When a limit passes, the returned context ends with an UpstreamTimeout
// that names it. length is that of the recording to read, 0 for none. FirstTokenTimeout counts from its end. The caller
// must call stop.
func newWatch(
	ctx context.Context,
	r *inference.Routing,
	length time.Duration,
) (_ context.Context, w *watch, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	w = &watch{first: r.FirstTokenTimeout + length, firstName: "its first_token_timeout", idle: r.IdleTimeout}

	if length > 0 {
		w.firstName += " and the length of the recording"
	}
	w.timer = time.AfterFunc(w.first, func() { cancel(w.timeout()) })

	return ctx, w, func() {
		w.timer.Stop()
		cancel(nil)
	}
}

// extend records that the upstream has sent something.
func (w *watch) extend() {
	if w.begun.Load() {
		w.timer.Reset(w.idle)
	} else {
		w.timer.Reset(w.first)
	}
}

// recordAnswer records that the upstream has sent a piece of the answer.
func (w *watch) recordAnswer() {
	w.begun.Store(true)
	w.extend()
}

// timeout returns the error for the limit that has passed.
func (w *watch) timeout() *inference.Error {
	if w.begun.Load() {
		return inference.Errorf(http.StatusBadGateway, inference.UpstreamTimeout,
			"the model stopped in its answer: it sent nothing for %s (its idle_timeout)", w.idle)
	}

	return inference.Errorf(http.StatusGatewayTimeout, inference.UpstreamTimeout,
		"the model did not begin to answer: it sent nothing for %s (%s)", w.first, w.firstName)
}
