package gateway_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"presswork/internal/inference"
)

func TestRequestsFollowWeights(t *testing.T) {
	t.Parallel()
	a, b := &engine{}, &engine{}

	g := setup(map[string]*engine{"a": a, "b": b}, func(m *inference.Model) { m.Upstreams[0].Weight = 3 })
	for range 2000 {
		run(t.Context(), g)
	}

	if n := a.calls.Load(); n < 1350 || n > 1650 {
		t.Errorf("a got %d of 2000, want about 1500", n)
	}
}

func TestSlotsAreAssignedInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var active, most atomic.Int32
		e := &engine{run: func(ctx context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
			if n := active.Add(1); n > most.Load() {
				most.Store(n)
			}
			defer active.Add(-1)
			time.Sleep(time.Second)

			return hello(ctx, r, emit)
		}}
		g := setup(map[string]*engine{"a": e}, func(m *inference.Model) { m.Upstreams[0].MaxConcurrency = 2 })
		var mu sync.Mutex
		var order []int

		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				r := request()
				r.Accepted = time.Now()
				result, err := g.Complete(t.Context(), r, func(*inference.Chunk) error { return nil })
				mu.Lock()
				defer mu.Unlock()

				order = append(order, i/2)
				if err != nil || int(result.Usage.QueueTime+0.5) != i/2 {
					t.Errorf("request %d waited %v s: %v", i, result.Usage.QueueTime, err)
				}
			})
			synctest.Wait()
		}
		// A cancelled request takes no slot.
		ctx, cancel := context.WithCancel(t.Context())
		wg.Go(func() {
			if _, err := run(ctx, g); err == nil || err.Status != 499 {
				t.Errorf("cancelled, but got %v", err)
			}
		})
		synctest.Wait()
		cancel()
		wg.Wait()

		if most.Load() != 2 || !slices.IsSorted(order) {
			t.Errorf("%d ran at a time, in the order %v; want 2, in order", most.Load(), order)
		}
	})
}

func TestOwnersTakeTurnsAtFullUpstream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := &engine{run: func(ctx context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
			time.Sleep(time.Second)
			return hello(ctx, r, emit)
		}}
		g := setup(map[string]*engine{"a": e}, func(m *inference.Model) { m.Upstreams[0].MaxConcurrency = 1 })
		var mu sync.Mutex
		var order []string

		var wg sync.WaitGroup
		for _, who := range []string{"a", "a", "a", "a", "b", "b", "c", "flex", "urgent"} {
			wg.Go(func() {
				r := request()

				r.Owner, r.ServiceTier = who, map[string]string{"flex": "flex", "urgent": "performance"}[who]
				if _, err := g.Complete(t.Context(), r, func(*inference.Chunk) error { return nil }); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				order = append(order, who)
			})
			synctest.Wait()
		}
		wg.Wait()
		// The first request gets its slot before any other waits.
		if got := strings.Join(order, " "); got != "a urgent a b c a b a flex" {
			t.Errorf("served in the order %s", got)
		}
	})
}

func TestCooledUpstreamServesWaiters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		busy := &engine{run: func(ctx context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
			time.Sleep(5 * time.Minute)
			return hello(ctx, r, emit)
		}}
		begun := time.Now()
		failing := &engine{}
		failing.run = func(ctx context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
			if failing.calls.Load() == 1 {
				return fails(503)(ctx, r, emit)
			}

			if waited := time.Since(begun); waited != 30*time.Second {
				t.Errorf("called again after %s", waited)
			}

			return hello(ctx, r, emit)
		}
		g := setup(map[string]*engine{"busy": busy, "failing": failing}, func(m *inference.Model) {
			m.Upstreams[0].MaxConcurrency, m.Upstreams[0].Priority = 1, 1
			m.Routing.FirstTokenTimeout = time.Hour
		})

		var wg sync.WaitGroup
		for range 2 { // the first request moves to the busy upstream, the second waits
			wg.Go(func() {
				if _, err := run(t.Context(), g); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		wg.Wait()

		if busy.calls.Load() != 1 || failing.calls.Load() != 2 {
			t.Errorf("%d calls of the busy upstream, %d of the failing one", busy.calls.Load(), failing.calls.Load())
		}
	})
}

// A running request fails while the upstream pauses, so it cools for longer than the pause.
func TestUpstreamServesWaitersAfterPauseAndCooldown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		failing := &engine{}
		failing.run = func(ctx context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
			switch failing.calls.Load() {
			case 1:
				time.Sleep(time.Second)
				return limited(5*time.Second)(ctx, r, emit)
			case 2:
				time.Sleep(2 * time.Second)
				return fails(503)(ctx, r, emit)
			}

			if waited := time.Since(begun); waited != 32*time.Second {
				t.Errorf("called again after %s", waited)
			}

			return hello(ctx, r, emit)
		}
		busy := &engine{run: func(ctx context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
			time.Sleep(5 * time.Minute)
			return hello(ctx, r, emit)
		}}
		g := setup(map[string]*engine{"busy": busy, "failing": failing}, func(m *inference.Model) {
			m.Upstreams[0].MaxConcurrency, m.Upstreams[0].Priority = 1, 1
			m.Routing.FirstTokenTimeout, m.Routing.Retries = time.Hour, new(0)
		})
		both := func(fail bool) {
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(func() {
					if _, err := run(t.Context(), g); (err != nil) != fail {
						t.Error(err)
					}
				})
				synctest.Wait()
			}
			wg.Wait()
		}
		both(true)
		both(false) // the first request has the busy upstream, the second waits

		if busy.calls.Load() != 1 || failing.calls.Load() != 3 {
			t.Errorf("%d calls of the busy upstream, %d of the failing one", busy.calls.Load(), failing.calls.Load())
		}
	})
}
