package asynqext

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
)

// Asynq repeats a retry that Redis did not accept. The task keeps its original delay even if the clock was changed in
// between.
func TestAChangedClockDoesNotMoveARetry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hook := &amender{}
		at := time.Now().Add(4 * time.Second).Unix()

		// send sends a retry that is due at the same time, and returns the delay that Redis receives.
		send := func(reply error) (delay any) {
			keys := []any{
				taskKey("render", "a"), activeKey("render"), leaseKey("render"), keyOf("render", "retry"),
				"5", "6", "7", "8", // the remaining keys do not matter
			}
			args := append(append([]any{"eval", "return 1", len(keys)}, keys...), "a", "message", at)
			hook.process(
				t.Context(),
				redis.NewCmd(t.Context(), args...),
				func(_ context.Context, cmd redis.Cmder) error {
					delay = cmd.Args()[len(cmd.Args())-1]
					return reply
				},
			)

			return delay
		}
		if got := send(errors.New("connection refused")); got != int64(4) {
			t.Fatalf("the first retry is after %v s, want 4", got)
		}
		time.Sleep(time.Hour) // the clock jumps

		if got := send(nil); got != int64(4) {
			t.Errorf("the repeated retry is after %v s, want 4", got)
		}

		if got := send(nil); got != int64(4-3600) {
			t.Errorf("the next retry is after %v s, want %d: an accepted retry is forgotten", got, 4-3600)
		}
	})
}
