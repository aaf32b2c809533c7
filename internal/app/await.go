package app

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"
)

// At the start of a fleet its services may come up after its nodes. A node waits startLimit for each service, then
// ends, so that the operator's supervisor notices.
const (
	startLimit = time.Minute
	startRetry = 500 * time.Millisecond // between two tries
	warnEvery  = 5 * time.Second        // between two warnings
)

// awaitService calls try until it succeeds, returns a final error, or startLimit has passed. setting is the
// variable that names the service's address.
func awaitService(
	ctx context.Context, log *slog.Logger, setting string, try func(context.Context) (final bool, err error),
) error {
	limited, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("no answer within %s", startLimit))
	defer cancel()
	var last error

	// The zero time makes the first failure log at once.
	for warned := (time.Time{}); ; {
		final, err := try(limited)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case final:
			return fmt.Errorf("%s: %w", setting, err)
		case limited.Err() != nil:
			// The deadline ended the last try, so its own error says nothing about the service.
			return fmt.Errorf("%s: %w; the last error: %w", setting, context.Cause(limited), cmp.Or(last, err))
		}
		last = err

		if time.Since(warned) >= warnEvery {
			warned = time.Now()
			log.WarnContext(ctx, "waiting for a service",
				"setting", setting, "limit", startLimit.String(), "error", err)
		}

		select {
		case <-time.After(startRetry):
		case <-limited.Done():
		}
	}
}
