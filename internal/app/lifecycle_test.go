package app

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

func TestAStopWaitsForWhatRunsInTheBackground(t *testing.T) {
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
			t.Errorf("ended %v, %v", ended, err)
		}

		life.inBackground("work", func(context.Context) { time.Sleep(time.Hour) })
		late := errors.New("late")

		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, late)
		defer cancel()

		if err := life.stop(ctx); !errors.Is(err, late) {
			t.Errorf("work that takes too long to end: %v", err)
		}
		time.Sleep(time.Hour) // it ends within the bubble
	})
}
