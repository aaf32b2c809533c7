package stream_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"presswork/internal/fault"
	"presswork/internal/test/wait"
	"presswork/tasks"
	"presswork/tasks/stream"
)

// expireWaiters makes the waiters of a call expire.
func (b *bundle) expireWaiters(t *testing.T, id string) {
	t.Helper()

	for _, w := range b.rdb.ZRange(t.Context(), stream.WaitersKey(id), 0, -1).Val() {
		b.rdb.ZAdd(t.Context(), stream.WaitersKey(id), redis.Z{Score: 1, Member: w})
	}
}

func TestRetryOfAnAbandonedCallRunsAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := stream.Call{ID: tasks.NewID(), Owner: "ann", IdempotencyKey: "k", Fingerprint: "f", Body: []byte("1")}
	// The caller leaves before the call begins.
	first := b.call(t, c)
	first.Close()
	b.expireWaiters(t, first.ID)
	ended := make(chan error, 1)
	runs := make(chan string, 9)
	b.serve(t, func(ctx context.Context, run *stream.Run) error {
		runs <- run.ID

		if len(runs) == 1 {
			return sendAndWaitForEnd(ended)(ctx, run)
		}

		return echo(ctx, run)
	})
	wait.Until(t, "the task has ended",
		func() bool { return b.rdb.Exists(t.Context(), stream.CallKey(first.ID)).Val() == 0 })
	second := b.call(t, c)
	wantBegunFrame(t, second)
	// The caller leaves while the call runs.
	second.Close()
	b.expireWaiters(t, second.ID)
	wait.Receive(t, "the run ends", ended)
	wait.Until(t, "the answer is forgotten",
		func() bool { return b.rdb.Exists(t.Context(), stream.CallKey(second.ID)).Val() == 0 })

	wantAnswer(t, b.call(t, c), "1")

	if len(runs) != 2 {
		t.Errorf("got %d runs, want one abandoned and one answered run", len(runs))
	}
}

func TestACallThatCannotBeEnqueuedIsForgotten(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.serve(t, echo)
	b.queue.setBroken(fault.Errorf(fault.QueueUnavailable, "broken"))
	c := stream.Call{ID: tasks.NewID(), Tier: stream.OnDemand, IdempotencyKey: "k", Fingerprint: "f", Body: []byte("1")}
	_, err := b.client.Call(t.Context(), c)
	wantCode(t, err, fault.QueueUnavailable)
	b.queue.setBroken(nil)

	wantAnswer(t, b.call(t, c), "1")
}

func TestChangingWaitersGetEveryFrameOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	words := make(chan string)
	b.serve(t, func(_ context.Context, run *stream.Run) error {
		for word := range words {
			if err := run.Send([]byte(word)); err != nil {
				return err
			}
		}

		return run.Finish(nil)
	})
	c := stream.Call{ID: tasks.NewID(), IdempotencyKey: "k", Fingerprint: "f"}
	answer := b.call(t, c)
	words <- "begun"
	wantBegunFrame(t, answer)
	// Replace the waiter again and again; the subscription must stay.
	for range 20 {
		next := make(chan *stream.Answer, 1)
		go func() { next <- b.call(t, c) }()
		answer.Close()
		answer = <-next
	}
	var received []string

	for _, word := range []string{"a", "b", "c"} {
		words <- word

		for !slices.Contains(received, word) {
			frames, err := answer.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}

			for _, f := range frames {
				received = append(received, string(f))
			}
		}
	}
	close(words)

	if want := []string{"begun", "a", "b", "c"}; !slices.Equal(received, want) {
		t.Errorf("received %q, want %q", received, want)
	}
}

// The test delays the end of the abandoned run, so that the retry arrives while that run ends. Its answer is not yet
// forgotten, and its task has not ended. No waiter is renewed in between.
func TestImmediateRetryOfAnAbandonedCallRunsAgain(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		concurrency int
		unaware     bool // the run does not know yet that its callers have left
	}{"while the run ends": {2, false}, "after its end": {1, false}, "before it notices": {1, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			ending, proceed := make(chan struct{}), make(chan struct{})
			end := sync.OnceFunc(func() { close(proceed) })
			var attempts atomic.Int64
			b.start(t, b.worker(t), tc.concurrency, func(ctx context.Context, run *stream.Run) error {
				if attempts.Add(1) > 1 {
					return echo(ctx, run)
				}

				if err := run.Send([]byte("begun")); err != nil {
					return err
				}

				if !tc.unaware {
					<-ctx.Done()
				}
				close(ending)
				<-proceed

				if err := run.Finish([]byte("late")); err == nil {
					t.Error("the abandoned run wrote to the answer of the retry")
				}

				return nil
			})
			t.Cleanup(end)
			c := stream.Call{ID: tasks.NewID(), Owner: "ann", IdempotencyKey: "k", Fingerprint: "f", Body: []byte("1")}
			first := b.call(t, c)
			wantBegunFrame(t, first)
			first.Close()

			if tc.unaware {
				b.rdb.HSet(t.Context(), stream.CallKey(first.ID), "state", "left")
			} else {
				b.expireWaiters(t, first.ID)
			}
			wait.Receive(t, "the run ends", ending)

			retry := b.call(t, c)
			if retry.ID != first.ID {
				t.Errorf("the retry is call %s, want %s", retry.ID, first.ID)
			}

			if tc.concurrency == 1 {
				end()
			}

			wantAnswer(t, retry, "1")
			end()
			// The end of the first run must not change the answer.
			if got := readAnswer(t, b.call(t, c)); got != "1" || attempts.Load() != 2 {
				t.Errorf("a later caller: got %q after %d runs, want 1 after 2", got, attempts.Load())
			}
		})
	}
}
