package app

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAwaitServiceRetriesForAMinute(t *testing.T) {
	t.Parallel()
	down := errors.New("connection refused")

	for name, c := range map[string]struct {
		try   func(_ context.Context, since time.Duration) (bool, error)
		after time.Duration
		want  string // the error
	}{
		"available": {func(context.Context, time.Duration) (bool, error) { return false, nil }, 0, ""},
		"available after 10 s": {func(_ context.Context, since time.Duration) (bool, error) {
			if since < 10*time.Second {
				return false, down
			}

			return false, nil
		}, 10 * time.Second, ""},
		"rejected for good": {
			func(context.Context, time.Duration) (bool, error) { return true, down },
			0, "REDIS_URL: connection refused",
		},
		"unavailable": {func(ctx context.Context, since time.Duration) (bool, error) {
			if since+startRetry < startLimit {
				return false, down
			}
			<-ctx.Done() // the last attempt hangs until the time is over

			return false, ctx.Err()
		}, startLimit, "REDIS_URL: no answer within 1m0s; the last error: connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log strings.Builder
				started := time.Now()

				err := awaitService(t.Context(), slog.New(slog.NewTextHandler(&log, nil)), "REDIS_URL",
					func(ctx context.Context) (bool, error) { return c.try(ctx, time.Since(started)) })

				took := time.Since(started)
				if took != c.after || c.want == "" && err != nil ||
					c.want != "" && (err == nil || err.Error() != c.want) {
					t.Errorf("got %v after %s, want %q after %s", err, took, c.want, c.after)
				}

				if waited := strings.Contains(log.String(), "waiting for a service"); waited != (c.after > 0) {
					t.Errorf("got the log %q; want a message only if it waited", &log)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("interrupted")

		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, cause)
		defer cancel()

		err := awaitService(ctx, slog.New(slog.DiscardHandler), "REDIS_URL",
			func(context.Context) (bool, error) { return false, down })
		if !errors.Is(err, cause) {
			t.Errorf("interrupted: got %v, want %v", err, cause)
		}
	})
}
