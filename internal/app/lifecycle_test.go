package app

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

func TestStopWaitsForBackgroundWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ended := false
		life := &lifecycle{log: slog.New(slog.DiscardHandler)}
		life.inBackground("work", func(ctx context.Context) {
			<-ctx.Done()
			time.Sleep(time.Second)
			ended = true
		})

		if err := life.stop(t.Context()); err != nil || !ended {
			t.Errorf("stop returned %v and the work has ended: %v; want nil and true", err, ended)
		}

		life.inBackground("work", func(context.Context) { time.Sleep(time.Hour) })
		timeout := errors.New("the stop takes too long")

		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, timeout)
		defer cancel()

		if err := life.stop(ctx); !errors.Is(err, timeout) {
			t.Errorf("stop with work that does not end in time: got %v, want %v", err, timeout)
		}
		time.Sleep(time.Hour) // lets the work end before the bubble does
	})
}
