package app

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"
)

// At the start of a fleet its services may come up after its nodes. A node waits startPatience for each service, then
// ends, so that the operator's supervisor notices.
const (
	startPatience = time.Minute
	startRetry    = 500 * time.Millisecond // between two tries
	startTell     = 5 * time.Second        // between two warnings
)

// awaitService calls try until it succeeds, returns a final error, or startPatience has passed. setting is the
// variable that names the service's address.
func awaitService(
	ctx context.Context, log *slog.Logger, setting string, try func(context.Context) (final bool, err error),
) error {
	patient, cancel := context.WithTimeoutCause(ctx, startPatience, fmt.Errorf("no answer within %s", startPatience))
	defer cancel()
	var last error

	for told := (time.Time{}); ; {
		final, err := try(patient)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case final:
			return fmt.Errorf("%s: %w", setting, err)
		case patient.Err() != nil:
			// The deadline ended the last try, so its own error says nothing about the service.
			return fmt.Errorf("%s: %w; the last error: %w", setting, context.Cause(patient), cmp.Or(last, err))
		}
		last = err

		if time.Since(told) >= startTell {
			told = time.Now()
			log.WarnContext(ctx, "waiting for a service",
				"setting", setting, "limit", startPatience.String(), "error", err)
		}

		select {
		case <-time.After(startRetry):
		case <-patient.Done():
		}
	}
}
