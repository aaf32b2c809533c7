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

func TestAServiceIsAwaitedForAWhile(t *testing.T) {
	t.Parallel()
	down := errors.New("connection refused")

	for name, c := range map[string]struct {
		try   func(_ context.Context, since time.Duration) (bool, error)
		after time.Duration
		says  string
	}{
		"it is there": {func(context.Context, time.Duration) (bool, error) { return false, nil }, 0, ""},
		"it comes up": {func(_ context.Context, since time.Duration) (bool, error) {
			if since < 10*time.Second {
				return false, down
			}

			return false, nil
		}, 10 * time.Second, ""},
		"it refuses": {
			func(context.Context, time.Duration) (bool, error) { return true, down },
			0, "REDIS_URL: connection refused",
		},
		"it stays away": {func(ctx context.Context, since time.Duration) (bool, error) {
			if since+startRetry < startPatience {
				return false, down
			}
			<-ctx.Done() // the end of the patience breaks it off

			return false, ctx.Err()
		}, startPatience, "REDIS_URL: no answer within 1m0s; the last error: connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log strings.Builder
				began := time.Now()

				err := awaitService(t.Context(), slog.New(slog.NewTextHandler(&log, nil)), "REDIS_URL",
					func(ctx context.Context) (bool, error) { return c.try(ctx, time.Since(began)) })
				if took := time.Since(began); took != c.after || c.says == "" && err != nil ||
					c.says != "" && (err == nil || err.Error() != c.says) {
					t.Errorf("%s: after %s: %v", name, took, err)
				}

				if waited := strings.Contains(log.String(), "waiting for a service"); waited != (c.after > 0) {
					t.Errorf("%s: the log is %q", name, &log)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("enough")

		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, why)
		defer cancel()

		err := awaitService(ctx, slog.New(slog.DiscardHandler), "REDIS_URL",
			func(context.Context) (bool, error) { return false, down })
		if !errors.Is(err, why) {
			t.Errorf("interrupted: %v", err)
		}
	})
}
