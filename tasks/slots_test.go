package tasks

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestAFreedSlotGoesToTheMostUrgentQueue(t *testing.T) {
	t.Parallel()

	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			s := newSlots(4, 4, 1)
			for _, q := range []Queue{Render, Render, Bulk, Export} {
				if !s.Acquire(t.Context(), q) {
					t.Fatal("no slot for", q)
				}
			}
			var order []Queue

			for _, q := range []Queue{Bulk, Export, Render} {
				go func() {
					if s.Acquire(t.Context(), q) {
						order = append(order, q)
					}
				}()
			}
			synctest.Wait()

			for range 3 {
				s.Release(Render)
				synctest.Wait()
			}

			if want := []Queue{Render, Export, Bulk}; !slices.Equal(order, want) {
				t.Errorf("slots went to %v, want %v", order, want)
			}
		})
	}
}

// A queue that waits asks for a slot again and again, with a pause between.
func TestAFreedSlotGoesToAMoreUrgentQueueThatIsAboutToAskAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(2, 1, 1)
		s.Acquire(t.Context(), Render)
		s.Acquire(t.Context(), Bulk)

		acquire := func(q Queue) bool {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()

			return s.Acquire(ctx, q)
		}
		if acquire(Render) {
			t.Fatal("there are more than two slots")
		}

		bulk := make(chan bool, 1)
		go func() { bulk <- acquire(Bulk) }()
		synctest.Wait()
		s.Release(Bulk)
		time.Sleep(pollInterval) // as Asynq does

		if !acquire(Render) {
			t.Error("the slot went to bulk")
		}
		s.Release(Render)

		if !<-bulk {
			t.Error("what the more urgent queue left went to nobody")
		}
	})
}

func TestBulkLeavesOneSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(3, 2, 1)
		acquire := func(q Queue) bool {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()

			return s.Acquire(ctx, q)
		}

		got := []bool{acquire(Bulk), acquire(Bulk), acquire(Bulk)}
		if want := []bool{true, true, false}; !slices.Equal(got, want) {
			t.Errorf("bulk got %v of three slots", got)
		}

		if !acquire(Render) {
			t.Error("no slot was left")
		}
		s.Release(Bulk)

		if !acquire(Bulk) || s.printing.used != 3 || s.printing.lastUsed != 2 {
			t.Errorf("%d used, %d by bulk", s.printing.used, s.printing.lastUsed)
		}
	})
}

func TestAWaitingQueueIsNotPassedForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(2, 1, 1)
		s.Acquire(t.Context(), Render)
		s.Acquire(t.Context(), Render)
		var order []Queue

		wait := func(q Queue) {
			if s.Acquire(t.Context(), q) {
				order = append(order, q)
			}
		}
		go wait(Export)
		go wait(Bulk)

		for range 20 {
			go wait(Render)
			synctest.Wait()
			s.Release(Render)
			synctest.Wait()
		}

		for _, q := range []Queue{Export, Bulk} {
			if at := slices.Index(order, q); at < 0 || at > maxPassed+1 {
				t.Errorf("%s was the %dth to get a slot: %v", q, at+1, order)
			}
		}
	})
}

// Should the dequeuer miss a dequeue, the limit holds all the same.
func TestAHandlerWithoutAGrantWaitsForASlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1, 1, 1)
		s.Acquire(t.Context(), Render)
		s.Grant(Render)
		s.claim(Render)
		claimed := false

		go func() {
			s.claim(Render)
			claimed = true
		}()
		synctest.Wait()

		if claimed {
			t.Error("two handlers have one slot")
		}
		s.Release(Render)
		synctest.Wait()

		if !claimed {
			t.Error("the freed slot went to nobody")
		}
	})
}

func TestACallThatGoesOnIsBeforeThoseThatHaveNotBegun(t *testing.T) {
	t.Parallel()

	for range 5 {
		synctest.Test(t, func(t *testing.T) {
			s := newSlots(1, 1, 1)

			resuming := func() int { return s.infer.ranks[resumeRank].waiting }

			ctx := context.WithValue(t.Context(), gateKey{}, s.infer)
			if !s.Acquire(ctx, Infer) || !s.infer.isFull() {
				t.Fatal("there is no slot, or more than one")
			}
			var order []string
			back := make(chan struct{})

			go Idle(ctx, func() {
				order = append(order, "idle")

				go func() {
					s.Acquire(ctx, Infer)
					order = append(order, "second")
				}()
				synctest.Wait() // the second has the slot

				go func() {
					s.Acquire(ctx, Infer)
					order = append(order, "third")
				}()
				synctest.Wait()
				close(back)
			})
			<-back
			synctest.Wait()
			// Those who wait are woken in their order or against it: the one that goes on
			// has others on both sides.
			go func() {
				s.Acquire(ctx, Infer)
				order = append(order, "fourth")
			}()
			synctest.Wait()

			if want := []string{"idle", "second"}; !slices.Equal(order, want) || s.infer.used != 1 || resuming() != 1 {
				t.Fatalf("%v, and %d used, %d resuming", order, s.infer.used, resuming())
			}
			s.Release(Infer) // the second ends: the idle one goes on
			synctest.Wait()

			if resuming() != 0 || len(order) != 2 {
				t.Fatalf("%d resuming: %v", resuming(), order)
			}
			s.Release(Infer)
			synctest.Wait()
			s.Release(Infer)
			synctest.Wait()

			if slices.Sort(order[2:]); !slices.Equal(order, []string{"idle", "second", "fourth", "third"}) {
				t.Errorf("%v", order)
			}
		})
	}
}

func TestAnEndedCallDoesNotWaitForASlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1, 1, 1)
		s.Acquire(t.Context(), Infer)
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), gateKey{}, s.infer))
		Idle(ctx, func() {
			s.Acquire(t.Context(), Infer)
			cancel()
		})

		if s.Acquire(ctx, Infer) || s.infer.used != 2 {
			t.Errorf("%d slots are used", s.infer.used)
		}
		s.Release(Infer)
		s.Release(Infer)

		if s.infer.isFull() || s.infer.used != 0 {
			t.Errorf("%d slots are used at the end", s.infer.used)
		}
		ran := false
		Idle(t.Context(), func() { ran = true }) // of no call

		if !ran || s.infer.used != 0 {
			t.Errorf("ran %v, %d slots are used", ran, s.infer.used)
		}
	})
}
