package gateway_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"presswork/internal/inference"
)

func TestUpstreamPausesForItsRetryAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := &engine{run: limited(20 * time.Minute)}, &engine{}

		g := setup(map[string]*engine{"a": a, "b": b}, func(m *inference.Model) { m.Upstreams[1].Priority = 1 })
		for range 3 {
			if result, err := run(t.Context(), g); err != nil || result.Upstream != "b" {
				t.Fatalf("%+v, %v", result, err)
			}
		}
		b.run = limited(40 * time.Second)

		_, err := run(t.Context(), g)
		if err == nil || err.Status != 429 || err.RetryAfter != 40*time.Second ||
			err.Code != inference.RateLimitExceeded || err.Type != inference.RequestsType || !err.Retryable {
			t.Fatalf("got %+v", err)
		}
		time.Sleep(15 * time.Second)

		if _, err = run(t.Context(), g); err == nil || err.RetryAfter != 25*time.Second {
			t.Errorf("later: %+v", err)
		}

		if a.calls.Load() != 1 || b.calls.Load() != 4 {
			t.Errorf("%d and %d calls: an upstream was called during its pause", a.calls.Load(), b.calls.Load())
		}
		time.Sleep(25 * time.Second)

		b.run = nil
		if result, err := run(t.Context(), g); err != nil || result.Upstream != "b" {
			t.Errorf("after the pause: %+v, %v", result, err)
		}
		time.Sleep(20 * time.Minute)

		a.run = nil
		if result, err := run(t.Context(), g); err != nil || result.Upstream != "a" {
			t.Errorf("after the longer pause: %+v, %v", result, err)
		}
	})
}

func TestShortestPauseIsReturned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := setup(
			map[string]*engine{"a": {run: limited(5 * time.Second)}, "b": {run: limited(30 * time.Second)}},
			func(m *inference.Model) {
				m.Upstreams[1].Priority = 1
			},
		)
		if result, err := run(t.Context(), g); err == nil || err.RetryAfter != 5*time.Second || result.Attempts != 2 {
			t.Errorf("%+v, %+v", result, err)
		}
	})
}

func TestWaitersReceiveTheRateLimitError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		only := &engine{run: func(ctx context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
			time.Sleep(time.Second)
			return limited(30*time.Second)(ctx, r, emit)
		}}
		g := setup(map[string]*engine{"a": only}, func(m *inference.Model) { m.Upstreams[0].MaxConcurrency = 1 })
		ended := make(chan *inference.Error, 3)

		for range 3 {
			go func() {
				_, err := run(t.Context(), g)
				ended <- err
			}()
		}

		for range 3 {
			if err := <-ended; err == nil || err.Status != 429 || err.RetryAfter != 30*time.Second {
				t.Errorf("got %+v", err)
			}
		}

		if only.calls.Load() != 1 {
			t.Errorf("%d calls", only.calls.Load())
		}
	})
}

func TestOnlyUpstreamDoesNotPauseWithoutRetryAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		only := &engine{run: limited(0)}

		g := setup(map[string]*engine{"a": only}, nil)
		if _, err := run(t.Context(), g); err == nil || err.Status != 429 || !err.Retryable || err.RetryAfter != 0 {
			t.Errorf("got %+v", err)
		}

		only.run = nil
		if _, err := run(t.Context(), g); err != nil {
			t.Errorf("the next request: %+v", err)
		}
	})
}

func TestPauseWithoutRetryAfterGrows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := &engine{run: limited(0)}, &engine{}

		g := setup(
			map[string]*engine{"a": a, "b": b},
			func(m *inference.Model) { m.Upstreams[1].Priority, m.Routing.Cooldown = 1, 5*time.Second },
		)
		for _, pause := range []time.Duration{1, 2, 4, 5, 5} {
			asked := a.calls.Load()

			for range 3 { // requests during the pause do not extend it
				if result, err := run(t.Context(), g); err != nil || result.Upstream != "b" {
					t.Fatalf("%+v, %v", result, err)
				}
				time.Sleep(pause*time.Second/4 - 1)
			}

			if n := a.calls.Load() - asked; n != 1 {
				t.Errorf("a pause of %d s: called %d times", pause, n)
			}
			time.Sleep(pause*time.Second/4 + 3)
		}

		a.run = nil
		if result, err := run(t.Context(), g); err != nil || result.Upstream != "a" {
			t.Errorf("after the last pause: %+v, %v", result, err)
		}
		a.run = limited(0)
		run(t.Context(), g)
		a.run = nil
		time.Sleep(time.Second)

		if result, err := run(t.Context(), g); err != nil || result.Upstream != "a" {
			t.Errorf("after a success the first pause is not 1 s again: %+v, %v", result, err)
		}
	})
}

// Running requests end one after the other, and not every 429 has a Retry-After.
func TestLaterRetryAfterDoesNotShortenPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		waits := []time.Duration{20 * time.Minute, time.Second, 0}
		asked := 0
		g := setup(
			map[string]*engine{
				"a": {run: func(ctx context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
					n := asked
					asked++
					time.Sleep(time.Second * time.Duration(n+1))

					return limited(waits[n])(ctx, r, emit)
				}},
			},
			nil,
		)

		ended := make(chan *inference.Error, len(waits))
		for range waits {
			go func() {
				_, err := run(t.Context(), g)
				ended <- err
			}()
			synctest.Wait()
		}

		for n := range waits {
			if err := <-ended; err == nil || err.RetryAfter != 20*time.Minute-time.Duration(n)*time.Second {
				t.Errorf("%d: %+v", n, err)
			}
		}
	})
}
