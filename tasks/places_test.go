package tasks

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
)

func TestACallThatGoesOnIsBeforeThoseThatHaveNotBegun(t *testing.T) {
	t.Parallel()

	for range 5 {
		synctest.Test(t, func(t *testing.T) {
			p := newPlaces(1)

			ctx := context.WithValue(t.Context(), placesKey{}, p)
			if !p.take(ctx) || !p.full() {
				t.Fatal("there is no place, or more than one")
			}
			var order []string
			back := make(chan struct{})

			go Idle(ctx, func() {
				order = append(order, "idle")

				go func() {
					p.take(ctx)
					order = append(order, "second")
				}()
				synctest.Wait() // the second has the place

				go func() {
					p.take(ctx)
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
				p.take(ctx)
				order = append(order, "fourth")
			}()
			synctest.Wait()

			if want := []string{"idle", "second"}; !slices.Equal(order, want) || p.free != 0 || p.resuming != 1 {
				t.Fatalf("%v, and %d free, %d resuming", order, p.free, p.resuming)
			}
			p.give() // the second ends: the idle one goes on
			synctest.Wait()

			if p.resuming != 0 || len(order) != 2 {
				t.Fatalf("%d resuming: %v", p.resuming, order)
			}
			p.give()
			synctest.Wait()
			p.give()
			synctest.Wait()

			if slices.Sort(order[2:]); !slices.Equal(order, []string{"idle", "second", "fourth", "third"}) {
				t.Errorf("%v", order)
			}
		})
	}
}

func TestAnEndedCallDoesNotWaitForAPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlaces(1)
		p.take(t.Context())
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), placesKey{}, p))
		Idle(ctx, func() {
			p.take(t.Context())
			cancel()
		})

		if p.take(ctx) || p.free != -1 {
			t.Errorf("%d places", p.free)
		}
		p.give()
		p.give()

		if p.full() || p.free != 1 {
			t.Errorf("%d places at the end", p.free)
		}
		ran := false
		Idle(t.Context(), func() { ran = true }) // of no call

		if !ran || p.free != 1 {
			t.Errorf("ran %v, %d places", ran, p.free)
		}
	})
}
