package asynqext

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
)

// Asynq repeats a retry that Redis did not accept. The task is delayed by the original time even when the clock
// was set since.
func TestAClockThatIsSetMeanwhileMovesNoRetry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &amended{}
		at := time.Now().Add(4 * time.Second).Unix()

		send := func(answer error) (delay any) {
			keys := []any{
				taskKey("render", "a"),
				activeKey("render"),
				leaseKey("render"),
				keyOf("render", "retry"),
				"5",
				"6",
				"7",
				"8",
			}
			args := append(append([]any{"eval", "return 1", len(keys)}, keys...), "a", "message", at)
			a.process(t.Context(), redis.NewCmd(t.Context(), args...), func(_ context.Context, cmd redis.Cmder) error {
				delay = cmd.Args()[len(cmd.Args())-1]
				return answer
			})

			return delay
		}
		if got := send(errors.New("connection refused")); got != int64(4) {
			t.Fatalf("the first retry is after %v s, want 4", got)
		}
		time.Sleep(time.Hour) // as the clock is set

		if got := send(nil); got != int64(4) {
			t.Errorf("the repeated retry is after %v s, want 4", got)
		}

		if got := send(nil); got != int64(4-3600) {
			t.Errorf("the delay of an accepted retry was kept: %v s", got)
		}
	})
}
