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
		a, b := &engine{run: rateLimited(20 * time.Minute)}, &engine{}

		g := newGateway(map[string]*engine{"a": a, "b": b}, preferFirst)
		for range 3 {
			if result, err := complete(t.Context(), g); err != nil || result.Upstream != "b" {
				t.Fatalf("got %+v, %v; want an answer of b", result, err)
			}
		}
		b.run = rateLimited(40 * time.Second)

		_, err := complete(t.Context(), g)
		if err == nil || err.Status != 429 || err.RetryAfter != 40*time.Second ||
			err.Code != inference.RateLimitExceeded || err.Type != inference.RequestsType || !err.Retryable {
			t.Fatalf("got %+v; want a retryable 429 with Retry-After 40s", err)
		}
		time.Sleep(15 * time.Second)

		if _, err = complete(t.Context(), g); err == nil || err.RetryAfter != 25*time.Second {
			t.Errorf("15 s later: got %+v; want Retry-After 25s", err)
		}

		if a.calls.Load() != 1 || b.calls.Load() != 4 {
			t.Errorf("a was called %d times and b %d times, want 1 and 4", a.calls.Load(), b.calls.Load())
		}
		time.Sleep(25 * time.Second)

		b.run = nil

		if result, err := complete(t.Context(), g); err != nil || result.Upstream != "b" {
			t.Errorf("after the pause of b: got %+v, %v; want an answer of b", result, err)
		}
		time.Sleep(20 * time.Minute)

		a.run = nil

		if result, err := complete(t.Context(), g); err != nil || result.Upstream != "a" {
			t.Errorf("after the pause of a: got %+v, %v; want an answer of a", result, err)
		}
	})
}

func TestShortestPauseIsReturned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(
			map[string]*engine{"a": {run: rateLimited(5 * time.Second)}, "b": {run: rateLimited(30 * time.Second)}},
			preferFirst,
		)
		if result, err := complete(t.Context(), g); err == nil || err.RetryAfter != 5*time.Second ||
			result.Attempts != 2 {
			t.Errorf("got %+v, %+v; want Retry-After 5s after 2 attempts", result, err)
		}
	})
}

func TestWaitersReceiveTheRateLimitError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		only := &engine{run: func(ctx context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
			time.Sleep(time.Second)
			return rateLimited(30*time.Second)(ctx, r, emit)
		}}
		g := newGateway(map[string]*engine{"a": only}, func(m *inference.Model) { m.Upstreams[0].MaxConcurrency = 1 })
		ended := make(chan *inference.Error, 3)

		for range 3 {
			go func() {
				_, err := complete(t.Context(), g)
				ended <- err
			}()
		}

		for range 3 {
			if err := <-ended; err == nil || err.Status != 429 || err.RetryAfter != 30*time.Second {
				t.Errorf("got %+v; want a 429 with Retry-After 30s", err)
			}
		}

		if only.calls.Load() != 1 {
			t.Errorf("the upstream was called %d times, want 1", only.calls.Load())
		}
	})
}

func TestOnlyUpstreamDoesNotPauseWithoutRetryAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		only := &engine{run: rateLimited(0)}

		g := newGateway(map[string]*engine{"a": only}, nil)
		if _, err := complete(t.Context(), g); err == nil || err.Status != 429 || !err.Retryable ||
			err.RetryAfter != 0 {
			t.Errorf("got %+v; want a retryable 429 without Retry-After", err)
		}

		only.run = nil

		if _, err := complete(t.Context(), g); err != nil {
			t.Errorf("the next request: got %+v, want an answer", err)
		}
	})
}

func TestPauseWithoutRetryAfterGrows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := &engine{run: rateLimited(0)}, &engine{}

		g := newGateway(
			map[string]*engine{"a": a, "b": b},
			func(m *inference.Model) { m.Upstreams[1].Priority, m.Routing.Cooldown = 1, 5*time.Second },
		)
		for _, pause := range []time.Duration{1, 2, 4, 5, 5} {
			before := a.calls.Load()

			for range 3 { // requests during the pause do not extend it
				if result, err := complete(t.Context(), g); err != nil || result.Upstream != "b" {
					t.Fatalf("got %+v, %v; want an answer of b", result, err)
				}
				time.Sleep(pause*time.Second/4 - 1)
			}

			if n := a.calls.Load() - before; n != 1 {
				t.Errorf("a pause of %d s: a was called %d times, want 1", pause, n)
			}
			time.Sleep(pause*time.Second/4 + 3)
		}

		a.run = nil

		if result, err := complete(t.Context(), g); err != nil || result.Upstream != "a" {
			t.Errorf("after the last pause: got %+v, %v; want an answer of a", result, err)
		}
		a.run = rateLimited(0)
		complete(t.Context(), g)
		a.run = nil
		time.Sleep(time.Second)

		if result, err := complete(t.Context(), g); err != nil || result.Upstream != "a" {
			t.Errorf("1 s after the first 429 since a success: got %+v, %v; want an answer of a", result, err)
		}
	})
}

// Running requests end one after the other, and not every 429 has a Retry-After.
func TestLaterRetryAfterDoesNotShortenPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		retryAfters := []time.Duration{20 * time.Minute, time.Second, 0}
		calls := 0
		g := newGateway(
			map[string]*engine{
				"a": {run: func(ctx context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
					n := calls
					calls++
					time.Sleep(time.Second * time.Duration(n+1))

					return rateLimited(retryAfters[n])(ctx, r, emit)
				}},
			},
			nil,
		)

		ended := make(chan *inference.Error, len(retryAfters))
		for range retryAfters {
			go func() {
				_, err := complete(t.Context(), g)
				ended <- err
			}()
			synctest.Wait()
		}

		for n := range retryAfters { // request n ends after n+1 seconds, and the pause begins with the first
			want := 20*time.Minute - time.Duration(n)*time.Second
			if err := <-ended; err == nil || err.RetryAfter != want {
				t.Errorf("request %d: got %+v; want Retry-After %s", n, err, want)
			}
		}
	})
}
