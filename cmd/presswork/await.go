package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"
)

// At the start of a fleet the services may come up after its nodes: each is
// waited for, and then the process ends, so that whoever runs it notices.
const (
	startPatience = time.Minute
	startRetry    = 500 * time.Millisecond
	startTell     = 5 * time.Second
)

// await tries until it succeeds, until waiting cannot help (final), or for
// startPatience. setting is the variable that names the service's address.
func await(ctx context.Context, log *slog.Logger, setting string, try func(context.Context) (final bool, err error)) error {
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
			// The error of a try that the end of the patience broke off says nothing.
			return fmt.Errorf("%s: %w; the last error: %w", setting, context.Cause(patient), cmp.Or(last, err))
		}
		last = err
		if time.Since(told) >= startTell {
			told = time.Now()
			log.WarnContext(ctx, "waiting for a service", "setting", setting, "limit", startPatience.String(), "error", err)
		}
		select {
		case <-time.After(startRetry):
		case <-patient.Done():
		}
	}
}
