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

			if got := whole(t, a); got != want.String()+"end" {
				t.Errorf("call %d: got %.80q…", n, got)
			}
		})
	}
	callers.Wait()
}

// TestLateWaiterReadsALongAnswerInPieces joins an answer with more entries than a waiter could read at one look for
// each.
func TestLateWaiterReadsALongAnswerInPieces(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := stream.Call{ID: tasks.NewID(), IdempotencyKey: "k", Fingerprint: "f"}
	b.call(t, c)
	const entries = 400
	frame := strings.Repeat("y", 2*stream.MaxUnread/entries)
	// As a run leaves it; each write has a second on a busy machine.
	for n := 1; n <= entries; n++ {
		if err := b.rdb.XAdd(t.Context(), &redis.XAddArgs{
			Stream: stream.FramesKey(c.ID), ID: fmt.Sprint(n, "-0"), Values: []any{"d", frame, "l", n / entries},
		}).
			Err(); err != nil {
			t.Fatal(err)
		}
	}

	if err := b.rdb.HSet(t.Context(), stream.CallKey(c.ID), "run", 1, "seq", entries, "state", "over").
		Err(); err != nil {
		t.Fatal(err)
	}

	late := b.call(t, c)
	if part, err := late.Next(t.Context()); err != nil || len(part) >= entries {
		t.Errorf("%d of %d entries were read at once, %v", len(part), entries, err)
	} else if got := len(part)*len(frame) + len(whole(t, late)); got != entries*len(frame) {
		t.Errorf("%d bytes were read, want %d", got, entries*len(frame))
	}
}

func TestACallThatNoWorkerBeginsEndsAfterItsMaxWait(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := stream.Call{ID: tasks.NewID(), IdempotencyKey: "k", Fingerprint: "f", MaxWait: time.Millisecond}
	_, err := b.call(t, c).Next(t.Context())
	wantCode(t, err, fault.QueueUnavailable)

	if after := fault.AsError(err).After; after <= 0 {
		t.Errorf("the error advises a retry after %s", after)
	}
	// Its body may take a megabyte, and there may be no worker for hours.
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
		// The waiter looks at it every five seconds.
		return errors.Join(run.Send([]byte("begun ")), sleep(ctx, 6*time.Second), run.Finish([]byte("end")))
	})

	c.ID, c.IdempotencyKey, c.Owner = tasks.NewID(), "", "next"
	if got := whole(t, b.call(t, c)); got != "begun end" {
		t.Errorf("a call that was begun answered %q", got)
	}

	if owner := <-served; owner != "next" || len(served) > 0 {
		t.Errorf("a run of %q, and %d more: the first call had no waiter", owner, len(served))
	}
}

// sleep is work that takes its time.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func TestLeavingEndsTheRun(t *testing.T) {
	t.Parallel()
	b := setup(t)
	causes := make(chan error, 1)
	b.serve(t, untilLeft(causes))
	a := b.call(t, stream.Call{})
	begun(t, a)
	a.Close()

	if err := wait.Receive(t, "the run ends", causes); !errors.Is(err, stream.ErrLeft) {
		t.Errorf("cause %v", err)
	}
}

func TestACallOfADeadServerEnds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	causes := make(chan error, 1)
	b.serve(t, untilLeft(causes))
	a := b.call(t, stream.Call{})
	begun(t, a)
	wait.Until(t, "the run ends", func() bool { // the waiter lives, and may renew itself before the run looks
		b.abandon(t, a.ID)
		return len(causes) > 0
	})

	if err := <-causes; !errors.Is(err, stream.ErrLeft) {
		t.Errorf("cause %v", err)
	}
}
