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
			s := newSlots(4, 4)
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
		s := newSlots(2, 1)
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
		s := newSlots(3, 2)
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

		if !acquire(Bulk) || s.used != 3 || s.bulk != 2 {
			t.Errorf("%d used, %d by bulk", s.used, s.bulk)
		}
	})
}

func TestAWaitingQueueIsNotPassedForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(2, 1)
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
		s := newSlots(1, 1)
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
