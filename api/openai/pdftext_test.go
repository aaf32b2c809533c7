package openai

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestOwnersReadOnePDFAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPDFReader()
		p.slots = make(chan struct{}, 2)
		busy := errors.New("busy")
		acquire := func(owner string) (func(), error) {
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, busy)
			t.Cleanup(cancel)

			return p.acquire(ctx, owner)
		}

		first, err := acquire("a")
		if err != nil {
			t.Fatal(err)
		}

		if _, err := acquire("a"); !errors.Is(err, busy) {
			t.Errorf("the second PDF of an owner got %v, want busy", err)
		}

		other, err := acquire("b")
		if err != nil {
			t.Fatalf("another owner waits for the first: %v", err)
		}

		// Both slots are taken.
		if _, err := acquire("c"); !errors.Is(err, busy) {
			t.Errorf("a third PDF got %v, want busy", err)
		}

		// A waiting PDF of the same owner comes next.
		waiting := make(chan error, 1)

		go func() {
			release, err := acquire("a")
			if err == nil {
				release()
			}
			waiting <- err
		}()
		synctest.Wait()
		first()
		other()

		if err := <-waiting; err != nil {
			t.Errorf("the waiting PDF got %v, want its turn", err)
		}

		if len(p.busy) != 0 || len(p.slots) != 0 {
			t.Errorf("%d owners and %d slots are left, want none", len(p.busy), len(p.slots))
		}
	})
}
