// Package ready runs readiness checks and gives the body of /readyz. The api
// and worker roles serve the same shape.
package ready

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	"presswork/internal/fault"
)

// Cap is how long one check may take. A load balancer asks every few seconds,
// and a dependency that needs longer is not ready.
const Cap = 2 * time.Second

// Check is one thing the process needs.
type Check struct {
	// Name is the key in the body: "redis", "store", "browser".
	Name string
	// Optional checks are shown, but do not make the process unready.
	Optional bool
	// Probe returns details to show beside "ok" ("count": 2) and an error when
	// the thing is not usable; both may be given. The context ends after Cap.
	Probe func(ctx context.Context) (detail map[string]any, err error)
}

// retryAfter is how long Every keeps a failure.
const retryAfter = time.Second

// Every makes a probe that asks once in d, and within a second after a failure,
// and gives the last answer meanwhile: /readyz needs no key, and asking may cost
// a write.
func Every(d time.Duration, ask func(ctx context.Context) error) func(context.Context) (map[string]any, error) {
	var mu sync.Mutex
	var next time.Time
	var last error

	return func(ctx context.Context) (map[string]any, error) {
		mu.Lock()
		defer mu.Unlock()

		if time.Now().Before(next) {
			return nil, last
		}
		last = ask(ctx)

		next = time.Now().Add(d)
		if last != nil {
			next = time.Now().Add(min(d, retryAfter))
		}

		return nil, last
	}
}

// Report is the body of /readyz.
type Report struct {
	// Status is "ready" or "not_ready".
	Status string            `json:"status"`
	Checks map[string]Result `json:"checks"`
}

// Result is the outcome of one check.
type Result struct {
	OK     bool
	Detail map[string]any
	// Err is the whole error, for the log. /readyz needs no key, so the body
	// carries only a coined error's message.
	Err error
}

// Log gets the reason of each failed check, which the body does not show.
func (r Report) Log(ctx context.Context, log *slog.Logger) {
	for name, result := range r.Checks {
		if !result.OK {
			log.WarnContext(ctx, "readiness check failed", "check", name, "error", result.Err)
		}
	}
}

// MarshalJSON writes {"ok":true,…detail,"error":"…"}.
func (r Result) MarshalJSON() ([]byte, error) {
	m := make(map[string]any, len(r.Detail)+2)
	maps.Copy(m, r.Detail)

	m["ok"] = r.OK
	if r.Err != nil {
		m["error"] = public(r.Err)
	}

	return json.Marshal(m)
}

func public(err error) string {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e.Message
	}

	return "unavailable"
}

// Run makes all checks at once and returns within Cap, whatever the probes do.
// ok is false when a check that is not Optional failed.
func Run(ctx context.Context, checks []Check) (ok bool, body Report) {
	late := fault.Errorf(fault.Internal, "no answer within %s", Cap)

	ctx, cancel := context.WithTimeoutCause(ctx, Cap, late)
	defer cancel()

	results := make([]chan Result, len(checks))
	for i, c := range checks {
		// Buffered: a probe that answers after the cap must not hang.
		results[i] = make(chan Result, 1)

		go func() {
			detail, err := c.Probe(ctx)
			results[i] <- Result{OK: err == nil, Detail: detail, Err: err}
		}()
	}

	ok, body = true, Report{Status: "ready", Checks: make(map[string]Result, len(checks))}
	for i, c := range checks {
		r := await(ctx, results[i])
		body.Checks[c.Name] = r
		ok = ok && (r.OK || c.Optional)
	}

	if !ok {
		body.Status = "not_ready"
	}

	return ok, body
}

func await(ctx context.Context, result <-chan Result) Result {
	select {
	case r := <-result:
		return blame(ctx, r)
	case <-ctx.Done():
	}
	// Both may be ready at once; an answer that is there counts.
	select {
	case r := <-result:
		return blame(ctx, r)
	default:
		return Result{Err: context.Cause(ctx)}
	}
}

// blame names the time limit where a probe only reports that its context
// ended.
func blame(ctx context.Context, r Result) Result {
	if errors.Is(r.Err, context.DeadlineExceeded) && ctx.Err() != nil {
		r.Err = context.Cause(ctx)
	}

	return r
}
