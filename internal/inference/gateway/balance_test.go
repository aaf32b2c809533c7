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

	g := newGateway(map[string]*engine{"a": a, "b": b}, func(m *inference.Model) { m.Upstreams[0].Weight = 3 })
	for range 2000 {
		complete(t.Context(), g)
	}

	if n := a.calls.Load(); n < 1350 || n > 1650 {
		t.Errorf("a got %d of 2000 requests, want about 1500", n)
	}
}

func TestSlotsAreAssignedInTheOrderOfRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var active, most atomic.Int32
		e := &engine{run: func(ctx context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
			if n := active.Add(1); n > most.Load() {
				most.Store(n)
			}
			defer active.Add(-1)
			time.Sleep(time.Second)

			return answerHello(ctx, r, emit)
		}}
		g := newGateway(map[string]*engine{"a": e}, func(m *inference.Model) { m.Upstreams[0].MaxConcurrency = 2 })
		var mu sync.Mutex
		var order []int

		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				r := chatRequest()
				r.Accepted = time.Now()
				result, err := g.Complete(t.Context(), r, discard)
				mu.Lock()
				defer mu.Unlock()

				order = append(order, i/2) // two requests end at a time, in either order
				if err != nil || int(result.Usage.QueueTime+0.5) != i/2 {
					t.Errorf("request %d: got %v after %v s in the queue, want an answer after %d s",
						i, err, result.Usage.QueueTime, i/2)
				}
			})
			synctest.Wait()
		}
		// A cancelled request takes no slot.
		ctx, cancel := context.WithCancel(t.Context())
		wg.Go(func() {
			if _, err := complete(ctx, g); err == nil || err.Status != 499 {
				t.Errorf("a cancelled request: got %v, want status 499", err)
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

func TestOwnersTakeTurnsByTierAtAFullUpstream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(
			map[string]*engine{"a": {run: answerAfter(time.Second)}},
			func(m *inference.Model) { m.Upstreams[0].MaxConcurrency = 1 },
		)
		var mu sync.Mutex
		var order []string

		var wg sync.WaitGroup
		for _, owner := range []string{"a", "a", "a", "a", "b", "b", "c", "flex", "urgent"} {
			wg.Go(func() {
				r := chatRequest()

				r.Owner, r.ServiceTier = owner, map[string]string{"flex": "flex", "urgent": "performance"}[owner]
				if _, err := g.Complete(t.Context(), r, discard); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				order = append(order, owner)
			})
			synctest.Wait()
		}
		wg.Wait()
		// The first request gets its slot before any other waits.
		want := "a urgent a b c a b a flex"
		if got := strings.Join(order, " "); got != want {
			t.Errorf("served in the order %s, want %s", got, want)
		}
	})
}

func TestUpstreamServesWaitersAfterItsCooldown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		busy := &engine{run: answerAfter(5 * time.Minute)}
		began := time.Now()
		failing := &engine{}
		failing.run = func(ctx context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
			if failing.calls.Load() == 1 {
				return failWith(503)(ctx, r, emit)
			}

			if waited := time.Since(began); waited != 30*time.Second {
				t.Errorf("called again after %s, want 30s", waited)
			}

			return answerHello(ctx, r, emit)
		}
		g := newGateway(map[string]*engine{"busy": busy, "failing": failing}, func(m *inference.Model) {
			m.Upstreams[0].MaxConcurrency, m.Upstreams[0].Priority = 1, 1
			m.Routing.FirstTokenTimeout = time.Hour
		})

		var wg sync.WaitGroup
		for range 2 { // the first request moves to the busy upstream, the second waits
			wg.Go(func() {
				if _, err := complete(t.Context(), g); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		wg.Wait()

		if busy.calls.Load() != 1 || failing.calls.Load() != 2 {
			t.Errorf("busy was called %d times and failing %d times, want 1 and 2", busy.calls.Load(),
				failing.calls.Load())
		}
	})
}

// A running request fails while the upstream pauses, so it cools for longer than the pause.
func TestUpstreamServesWaitersAfterPauseAndCooldown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		failing := &engine{}
		failing.run = func(ctx context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
			switch failing.calls.Load() {
			case 1:
				time.Sleep(time.Second)
				return rateLimited(5*time.Second)(ctx, r, emit)
			case 2:
				time.Sleep(2 * time.Second)
				return failWith(503)(ctx, r, emit)
			}

			// The second failure comes 2 s after the start and begins a cooldown of 30 s.
			if waited := time.Since(began); waited != 32*time.Second {
				t.Errorf("called again after %s, want 32s", waited)
			}

			return answerHello(ctx, r, emit)
		}
		busy := &engine{run: answerAfter(5 * time.Minute)}
		g := newGateway(map[string]*engine{"busy": busy, "failing": failing}, func(m *inference.Model) {
			m.Upstreams[0].MaxConcurrency, m.Upstreams[0].Priority = 1, 1
			m.Routing.FirstTokenTimeout, m.Routing.Retries = time.Hour, new(0)
		})
		runTwo := func(wantErr bool) {
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(func() {
					if _, err := complete(t.Context(), g); (err != nil) != wantErr {
						t.Errorf("got error %v, want an error: %v", err, wantErr)
					}
				})
				synctest.Wait()
			}
			wg.Wait()
		}
		runTwo(true)
		runTwo(false) // the first request has the busy upstream, the second waits

		if busy.calls.Load() != 1 || failing.calls.Load() != 3 {
			t.Errorf("busy was called %d times and failing %d times, want 1 and 3", busy.calls.Load(),
				failing.calls.Load())
		}
	})
}
