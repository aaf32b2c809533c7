package worker_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"presswork/internal/inference"
	"presswork/internal/inference/inferencetest"
	"presswork/internal/inference/meter"
	"presswork/internal/inference/openai"
	"presswork/tasks/stream"
)

// settlementFailure is a hook that fails the first settlement. after says whether Redis executes it before it fails.
type settlementFailure struct {
	after bool
	done  atomic.Bool // the settlement has failed
}

func (*settlementFailure) DialHook(next redis.DialHook) redis.DialHook { return next }

func (*settlementFailure) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// ProcessHook fails the first settlement of limits, before or after Redis has run it.
func (b *settlementFailure) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		settles := slices.ContainsFunc(cmd.Args(), func(arg any) bool {
			key, _ := arg.(string)
			return strings.Contains(key, "}:held:")
		})
		if !settles || b.done.Load() {
			return next(ctx, cmd)
		}

		if b.after {
			if err := next(ctx, cmd); redis.HasErrorPrefix(err, "NOSCRIPT") {
				return err
			}
		}
		b.done.Store(true)
		cmd.SetErr(io.ErrUnexpectedEOF)

		return io.ErrUnexpectedEOF
	}
}

func TestAFailedSettlementIsRepeatedAndCountsOnce(t *testing.T) {
	t.Parallel()

	for name, after := range map[string]bool{"Redis does not receive it": false, "the reply is lost": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, url := inferencetest.Start(t)
			h := setupCompletions(t, inference.Upstream{BaseURL: url, Model: "hello"}, openai.New)
			limits := meter.Limits{TPD: 1000}
			failure := &settlementFailure{after: after}

			if _, err := h.counts.Reserve(t.Context(), "ann", "another", limits, 1); err != nil {
				t.Fatal(err)
			}
			h.rdb.AddHook(failure)

			frames := h.frames(
				stream.Call{Owner: "ann", Body: []byte(strings.Replace(greeting, `{`, `{"tpd":1000,`, 1))},
			)

			last := frames[len(frames)-1]
			if last.Result == nil || !failure.done.Load() {
				t.Fatalf("got %+v, want a result after a failed settlement", last)
			}
			used := last.Result.Usage.PromptTokens + last.Result.Usage.CompletionTokens

			rows := h.usage("ann")
			if len(rows) != 1 || rows[0].Requests != 1 || rows[0].PromptTokens+rows[0].CompletionTokens != int64(used) {
				t.Errorf("got usage %+v, want one request with %d tokens", rows, used)
			}

			states, err := h.counts.States(t.Context(), "ann", limits)
			// The limit refills by about one token in a minute.
			if left := states[meter.TPD].Remaining; err != nil || left < limits.TPD-used-1 || left > limits.TPD-used+2 {
				t.Errorf("%d tokens remain of %d after a usage of %d: %v", left, limits.TPD, used, err)
			}
		})
	}
}
