// Package ready runs readiness checks and builds the body of /readyz. The api and worker roles use the same body. [Run]
// runs the checks of a process at the same time, each for at most [Cap]. [Every] keeps the outcome of an expensive
// check, because anyone can ask.
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

// Cap is the time limit of one check. A load balancer asks every few seconds; a dependency that needs longer is
// not ready.
const Cap = 2 * time.Second

// Check tests one dependency of the process.
type Check struct {
	// Name is the key in the body: "redis", "store", "browser".
	Name string
	// Optional checks appear in the body but do not make the process unready.
	Optional bool
	// Probe returns details for the body ("count": 2), and an error if the dependency is unusable. It may return
	// both. The context ends after Cap.
	Probe func(ctx context.Context) (detail map[string]any, err error)
}

// retryAfter is how long Every keeps a failure.
const retryAfter = time.Second

// Every returns a probe that caches a success for d and a failure for one second. /readyz needs no key, so anyone can
// ask often, and a probe may cost a write. Concurrent callers wait for one probe.
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
	// Err is the complete error, for the log. /readyz needs no key, so the body shows only the message of a
	// fault.Error.
	Err error
}

// Log logs the complete error of each failed check. The body has only its public message.
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

// public returns the public message of an error, because /readyz needs no key.
func public(err error) string {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e.Message
	}

	return "unavailable"
}

// Run runs all checks concurrently and returns within Cap, even if a probe hangs. ok is false if a check that is
// not Optional failed.
func Run(ctx context.Context, checks []Check) (ok bool, body Report) {
	late := fault.Errorf(fault.Internal, "no answer within %s", Cap)

	ctx, cancel := context.WithTimeoutCause(ctx, Cap, late)
	defer cancel()

	results := make([]chan Result, len(checks))
	for i, c := range checks {
		// Buffered: a probe that returns after the cap must not block.
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

// await waits for the result of a check, but no longer than ctx.
func await(ctx context.Context, result <-chan Result) Result {
	select {
	case r := <-result:
		return timeLimitError(ctx, r)
	case <-ctx.Done():
	}
	// Both channels may be ready; an available result counts.
	select {
	case r := <-result:
		return timeLimitError(ctx, r)
	default:
		return Result{Err: context.Cause(ctx)}
	}
}

// timeLimitError returns an error about the time limit if a probe only reports that its context ended.
func timeLimitError(ctx context.Context, r Result) Result {
	if errors.Is(r.Err, context.DeadlineExceeded) && ctx.Err() != nil {
		r.Err = context.Cause(ctx)
	}

	return r
}
