package stream_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/internal/fault"
	"presswork/internal/test/wait"
	"presswork/tasks"
	"presswork/tasks/stream"
)

func TestEveryFrameOfManyAnswersArrivesOnceAndInOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const frames = 300
	b.serve(t, func(_ context.Context, run *stream.Run) error {
		for i := range frames {
			if err := run.Send(fmt.Appendf(nil, "%s%d,", run.Call.Body, i)); err != nil {
				return err
			}
		}

		return run.Finish([]byte("end"))
	})
	var callers sync.WaitGroup

	for n := range 40 {
		a := b.call(t, stream.Call{Owner: fmt.Sprint("o", n%3), Body: fmt.Appendf(nil, "%d", n)})
		callers.Go(func() {
			var want strings.Builder
			for i := range frames {
				fmt.Fprintf(&want, "%d%d,", n, i)
			}

			wantAnswer(t, a, want.String()+"end")
		})
	}
	callers.Wait()
}

// A waiter joins an answer that is twice as long as what it may read at once.
func TestLateWaiterReadsALongAnswerInPieces(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := stream.Call{ID: tasks.NewID(), IdempotencyKey: "k", Fingerprint: "f"}
	b.call(t, c)
	const entries = 400
	frame := strings.Repeat("y", 2*stream.MaxUnread/entries)
	// Write the answer as a run does.
	for n := 1; n <= entries; n++ {
		err := b.rdb.XAdd(t.Context(), &redis.XAddArgs{
			Stream: stream.FramesKey(c.ID), ID: fmt.Sprint(n, "-0"), Values: []any{"d", frame, "l", n / entries},
		}).
			Err()
		if err != nil {
			t.Fatal(err)
		}
	}

	err := b.rdb.HSet(t.Context(), stream.CallKey(c.ID), "run", 1, "seq", entries, "state", "over").Err()
	if err != nil {
		t.Fatal(err)
	}

	late := b.call(t, c)
	if part, err := late.Next(t.Context()); err != nil || len(part) >= entries {
		t.Errorf("got %d of %d entries at once, %v; want a part of them", len(part), entries, err)
	} else if got := len(part)*len(frame) + len(readAnswer(t, late)); got != entries*len(frame) {
		t.Errorf("got %d bytes, want %d", got, entries*len(frame))
	}
}

func TestACallThatNoWorkerBeginsEndsAfterItsMaxWait(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := stream.Call{ID: tasks.NewID(), IdempotencyKey: "k", Fingerprint: "f", MaxWait: time.Millisecond}
	_, err := b.call(t, c).Next(t.Context())
	wantCode(t, err, fault.QueueUnavailable)

	if after := fault.AsError(err).After; after <= 0 {
		t.Errorf("the error has a retry after %s, want more than 0", after)
	}
	// An abandoned call leaves nothing in Redis, because there may be no worker for hours.
	late, left := stream.Call{ID: tasks.NewID(), MaxWait: time.Millisecond}, stream.Call{ID: tasks.NewID()}
	_, err = b.call(t, late).Next(t.Context())
	wantCode(t, err, fault.QueueUnavailable)
	b.call(t, left).Close()

	for _, id := range []string{late.ID, left.ID} {
		if keys := b.rdb.Keys(t.Context(), "*"+id+"*").Val(); len(keys) > 0 {
			t.Errorf("an abandoned call left the keys %q", keys)
		}
	}

	served := make(chan string, 100)
	b.serve(t, func(ctx context.Context, run *stream.Run) error {
		served <- run.Call.Owner
		// Run for longer than the five seconds between two checks of the waiter.
		return errors.Join(run.Send([]byte("begun ")), work(ctx, 6*time.Second), run.Finish([]byte("end")))
	})

	c.ID, c.IdempotencyKey, c.Owner = tasks.NewID(), "", "next"
	wantAnswer(t, b.call(t, c), "begun end")

	if owner := <-served; owner != "next" || len(served) > 0 {
		t.Errorf("got a run of %q and %d more, want only the run of next", owner, len(served))
	}
}

// work waits for this long or until the context ends, as a slow handler does.
func work(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func TestARunEndsWhenItsCallerLeaves(t *testing.T) {
	t.Parallel()
	b := setup(t)
	causes := make(chan error, 1)
	b.serve(t, sendAndWaitForEnd(causes))
	a := b.call(t, stream.Call{})
	wantBegunFrame(t, a)
	a.Close()

	if err := wait.Receive(t, "the run ends", causes); !errors.Is(err, stream.ErrLeft) {
		t.Errorf("the run ended with %v, want %v", err, stream.ErrLeft)
	}
}

func TestARunEndsWhenItsWaitersExpire(t *testing.T) {
	t.Parallel()
	b := setup(t)
	causes := make(chan error, 1)
	b.serve(t, sendAndWaitForEnd(causes))
	a := b.call(t, stream.Call{})
	wantBegunFrame(t, a)
	wait.Until(t, "the run ends", func() bool { // again and again, because the live waiter renews itself
		b.expireWaiters(t, a.ID)
		return len(causes) > 0
	})

	if err := <-causes; !errors.Is(err, stream.ErrLeft) {
		t.Errorf("the run ended with %v, want %v", err, stream.ErrLeft)
	}
}
