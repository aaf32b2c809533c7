package slots

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// The queues of the tests.
const (
	render Queue = "render"
	export Queue = "export"
	bulk   Queue = "bulk"
	infer  Queue = "infer"
)

// newSlots returns slots for printing, of which bulk may hold bulkMost, and one slot for calls.
func newSlots(printing, bulkMost int) Slots {
	return New(
		Group{Queues: []Queue{render, export, bulk}, Total: printing, LastLimit: bulkMost},
		Group{Queues: []Queue{infer}, Total: 1, LastLimit: 1, Resumes: true},
	)
}

// acquireWithin reports whether the queue gets a slot in time.
func acquireWithin(t *testing.T, s Slots, q Queue, d time.Duration) bool {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()

	return s.Acquire(ctx, q)
}

func gateOf(s Slots, q Queue) *gate { return s.queues[q].gate }

func TestAFreedSlotGoesToTheMostUrgentQueue(t *testing.T) {
	t.Parallel()

	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			s := newSlots(4, 4)
			for _, q := range []Queue{render, render, bulk, export} {
				if !s.Acquire(t.Context(), q) {
					t.Fatal("no slot for", q)
				}
			}
			var order []Queue

			for _, q := range []Queue{bulk, export, render} {
				go func() {
					if s.Acquire(t.Context(), q) {
						order = append(order, q)
					}
				}()
			}
			synctest.Wait()

			for range 3 {
				s.Release(render)
				synctest.Wait()
			}

			if want := []Queue{render, export, bulk}; !slices.Equal(order, want) {
				t.Errorf("slots went to %v, want %v", order, want)
			}
		})
	}
}

// Asynq calls Acquire again and again, with a short pause in between.
func TestAFreedSlotGoesToAMoreUrgentQueueThatPausesBetweenAttempts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(2, 1)
		s.Acquire(t.Context(), render)
		s.Acquire(t.Context(), bulk)

		acquire := func(q Queue) bool { return acquireWithin(t, s, q, time.Second) }
		if acquire(render) {
			t.Fatal("there are more than two slots")
		}

		late := make(chan bool, 1)
		go func() { late <- acquire(bulk) }()
		synctest.Wait()
		s.Release(bulk)
		time.Sleep(2 * time.Millisecond) // the pause of Asynq

		if !acquire(render) {
			t.Error("the slot went to bulk")
		}
		s.Release(render)

		if !<-late {
			t.Error("the slot that the more urgent queue released was not given to bulk")
		}
	})
}

func TestBulkDoesNotTakeTheLastSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(3, 2)
		acquire := func(q Queue) bool { return acquireWithin(t, s, q, time.Second) }

		got := []bool{acquire(bulk), acquire(bulk), acquire(bulk)}
		if want := []bool{true, true, false}; !slices.Equal(got, want) {
			t.Errorf("bulk got %v, want %v", got, want)
		}

		if !acquire(render) {
			t.Error("render got no slot")
		}
		s.Release(bulk)

		if !acquire(bulk) || gateOf(s, render).used != 3 || gateOf(s, render).lastUsed != 2 {
			t.Errorf("got %d used slots, %d by bulk; want 3, and 2", gateOf(s, render).used, gateOf(s, render).lastUsed)
		}
	})
}

func TestALessUrgentQueueIsNotStarved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(2, 1)
		s.Acquire(t.Context(), render)
		s.Acquire(t.Context(), render)
		var order []Queue

		waitForSlot := func(q Queue) {
			if s.Acquire(t.Context(), q) {
				order = append(order, q)
			}
		}
		go waitForSlot(export)
		go waitForSlot(bulk)

		for range 20 {
			go waitForSlot(render)
			synctest.Wait()
			s.Release(render)
			synctest.Wait()
		}

		for _, q := range []Queue{export, bulk} {
			if at := slices.Index(order, q); at < 0 || at > maxPassed+1 {
				t.Errorf("%s got slot number %d, want at most %d: %v", q, at+1, maxPassed+2, order)
			}
		}
	})
}

// The limit also holds when the dequeuer misses a dequeue.
func TestAHandlerWithoutAGrantWaitsForASlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1, 1)
		s.Acquire(t.Context(), render)
		s.Grant(render)
		s.Claim(render)
		claimed := false

		go func() {
			s.Claim(render)
			claimed = true
		}()
		synctest.Wait()

		if claimed {
			t.Error("two handlers have one slot")
		}
		s.Release(render)
		synctest.Wait()

		if !claimed {
			t.Error("the freed slot was not given to the second handler")
		}
	})
}

func TestAResumingCallIsServedBeforeCallsThatHaveNotBegun(t *testing.T) {
	t.Parallel()

	for range 5 {
		synctest.Test(t, func(t *testing.T) {
			s := newSlots(1, 1)

			resuming := func() int { return gateOf(s, infer).ranks[resumeRank].waiting }

			ctx := s.WithIdle(t.Context(), infer)
			if !s.Acquire(ctx, infer) || !s.IsFull(infer) {
				t.Fatal("there is no slot, or more than one")
			}
			var order []string
			back := make(chan struct{})

			go Idle(ctx, func() {
				order = append(order, "idle")

				go func() {
					s.Acquire(ctx, infer)
					order = append(order, "second")
				}()
				synctest.Wait() // the second has the slot

				go func() {
					s.Acquire(ctx, infer)
					order = append(order, "third")
				}()
				synctest.Wait()
				close(back)
			})
			<-back
			synctest.Wait()
			// The order in which waiting goroutines wake up is not specified, so the resuming
			// call has others before and after it.
			go func() {
				s.Acquire(ctx, infer)
				order = append(order, "fourth")
			}()
			synctest.Wait()

			want := []string{"idle", "second"}
			if !slices.Equal(order, want) || gateOf(s, infer).used != 1 || resuming() != 1 {
				t.Fatalf("got %v with %d used slots and %d resuming calls; want idle and second, and one of each",
					order, gateOf(s, infer).used, resuming())
			}
			s.Release(infer) // the second call ends and the idle one resumes
			synctest.Wait()

			if resuming() != 0 || len(order) != 2 {
				t.Fatalf("got %d resuming calls, want none: %v", resuming(), order)
			}
			s.Release(infer)
			synctest.Wait()
			s.Release(infer)
			synctest.Wait()

			if slices.Sort(order[2:]); !slices.Equal(order, []string{"idle", "second", "fourth", "third"}) {
				t.Errorf("got %v, want the third and the fourth call after the second", order)
			}
		})
	}
}

func TestAnEndedCallDoesNotWaitForASlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1, 1)
		s.Acquire(t.Context(), infer)
		ctx, cancel := context.WithCancel(s.WithIdle(t.Context(), infer))
		Idle(ctx, func() {
			s.Acquire(t.Context(), infer)
			cancel()
		})

		if s.Acquire(ctx, infer) || gateOf(s, infer).used != 2 {
			t.Errorf("%d slots are used, want 2", gateOf(s, infer).used)
		}
		s.Release(infer)
		s.Release(infer)

		if s.IsFull(infer) || gateOf(s, infer).used != 0 {
			t.Errorf("%d slots are used at the end, want none", gateOf(s, infer).used)
		}
		ran := false
		Idle(t.Context(), func() { ran = true }) // a context without WithIdle

		if !ran || gateOf(s, infer).used != 0 {
			t.Errorf("ran %v with %d used slots; want true and none", ran, gateOf(s, infer).used)
		}
	})
}
