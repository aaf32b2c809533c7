package gateway_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"presswork/internal/inference"
)

// limited answers 429 and says for how long.
func limited(wait time.Duration) func(context.Context, *inference.Request, func(*inference.Delta) error) error {
	return func(context.Context, *inference.Request, func(*inference.Delta) error) error {
		e := inference.Errorf(429, inference.RateLimitExceeded, "slow down")
		e.RetryAfter = wait

		return e
	}
}

func TestAnUpstreamRestsAsLongAsItSaid(t *testing.T) {
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
			err.Code != inference.RateLimitExceeded ||
			err.Type != inference.RequestsType ||
			!err.Retryable {
			t.Fatalf("got %+v", err)
		}
		time.Sleep(15 * time.Second)

		if _, err = run(t.Context(), g); err == nil || err.RetryAfter != 25*time.Second {
			t.Errorf("later: %+v", err)
		}

		if a.calls.Load() != 1 || b.calls.Load() != 4 {
			t.Errorf("%d and %d calls: one that rests was asked", a.calls.Load(), b.calls.Load())
		}
		time.Sleep(25 * time.Second)

		b.run = nil
		if result, err := run(t.Context(), g); err != nil || result.Upstream != "b" {
			t.Errorf("after the rest: %+v, %v", result, err)
		}
		time.Sleep(20 * time.Minute)

		a.run = nil
		if result, err := run(t.Context(), g); err != nil || result.Upstream != "a" {
			t.Errorf("after the longer rest: %+v, %v", result, err)
		}
	})
}

func TestTheShortestRestIsTold(t *testing.T) {
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

func TestThoseWhoWaitHearOfARest(t *testing.T) {
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

func TestAnUpstreamThatIsAloneDoesNotRestForAnUnnamedTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		only := &engine{run: limited(0)}

		g := setup(map[string]*engine{"a": only}, nil)
		if _, err := run(t.Context(), g); err == nil || err.Status != 429 || !err.Retryable || err.RetryAfter != 0 {
			t.Errorf("got %+v", err)
		}

		only.run = nil
		if _, err := run(t.Context(), g); err != nil {
			t.Errorf("the next caller: %+v", err)
		}
	})
}

func TestAnUnnamedRestIsShortAndGrows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := &engine{run: limited(0)}, &engine{}

		g := setup(
			map[string]*engine{"a": a, "b": b},
			func(m *inference.Model) { m.Upstreams[1].Priority, m.Routing.Cooldown = 1, 5*time.Second },
		)
		for _, rest := range []time.Duration{1, 2, 4, 5, 5} {
			asked := a.calls.Load()

			for range 3 { // those that come while it rests do not make it longer
				if result, err := run(t.Context(), g); err != nil || result.Upstream != "b" {
					t.Fatalf("%+v, %v", result, err)
				}
				time.Sleep(rest*time.Second/4 - 1)
			}

			if n := a.calls.Load() - asked; n != 1 {
				t.Errorf("a rest of %d s: asked %d times", rest, n)
			}
			time.Sleep(rest*time.Second/4 + 3)
		}

		a.run = nil
		if result, err := run(t.Context(), g); err != nil || result.Upstream != "a" {
			t.Errorf("after the last rest: %+v, %v", result, err)
		}
		a.run = limited(0)
		run(t.Context(), g)
		a.run = nil
		time.Sleep(time.Second)

		if result, err := run(t.Context(), g); err != nil || result.Upstream != "a" {
			t.Errorf("after a success the rests begin at 1 s again: %+v, %v", result, err)
		}
	})
}

// Requests under way end one after the other, and not each is told how long.
func TestALaterWordDoesNotShortenARest(t *testing.T) {
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

func TestWhatBecomesOfWrongArguments(t *testing.T) {
	t.Parallel()
	calls := func(arguments string) *inference.Delta {
		return &inference.Delta{Finish: "tool_calls", ToolCalls: []inference.RawToolDelta{
			{
				Index:     0,
				ID:        "1",
				Name:      "f",
				Arguments: `{"day":1}`,
			},
			{Index: 1, ID: "2", Name: "f", Arguments: arguments},
		}}
	}

	const wrong, right = `{"day":"x"}`, `{"day":2}`
	for name, test := range map[string]struct {
		validation, disabled string
		answers              []string
		want                 string // the arguments of the second call, or "" for a failure
		asked                int
	}{
		"off by default":       {answers: []string{wrong}, want: wrong, asked: 1},
		"off":                  {validation: "off", answers: []string{wrong}, want: wrong, asked: 1},
		"off, and no JSON":     {validation: "off", answers: []string{`{"day":`}, asked: 1},
		"strict":               {validation: "strict", answers: []string{wrong}, asked: 1},
		"strict, and right":    {validation: "strict", answers: []string{right}, want: right, asked: 1},
		"fed back, and right":  {validation: "feed_back", answers: []string{wrong, right}, want: right, asked: 2},
		"fed back in vain":     {validation: "feed_back", answers: []string{wrong, wrong}, asked: 2},
		"right at once":        {validation: "feed_back", answers: []string{right}, want: right, asked: 1},
		"unchecked by request": {validation: "strict", disabled: "yes", answers: []string{wrong}, want: wrong, asked: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			var last *inference.Request
			e := &engine{run: func(_ context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
				asked++
				last = r

				return errors.Join(emit(&inference.Delta{Content: "Hm."}), emit(calls(test.answers[asked-1])))
			}}
			g := setup(map[string]*engine{"a": e}, func(m *inference.Model) { m.ToolValidation = test.validation })
			r := request()
			r.DisableToolValidation = test.disabled != ""
			r.Tools = []inference.Tool{
				{
					Type:       inference.FunctionTool,
					Name:       "f",
					Parameters: []byte(`{"type":"object","properties":{"day":{"type":"integer"}}}`),
				},
			}
			shown, said := map[int]string{}, ""
			_, err := g.Complete(t.Context(), r, func(c *inference.Chunk) error {
				said += c.Content
				for _, d := range c.ToolCalls {
					shown[d.Index] += d.Arguments
				}

				return nil
			})

			failed := inference.AsError(err)
			if (failed == nil) != (test.want != "") ||
				failed != nil && (failed.Code != inference.ToolUseFailed || failed.FailedGeneration == "") {
				t.Errorf("got %+v", failed)
			}

			if asked != test.asked || test.want != "" && (shown[1] != test.want || shown[0] != `{"day":1}`) {
				t.Errorf("asked %d times, shown %v", asked, shown)
			}

			if test.want != "" && said != "Hm." {
				t.Errorf("said %q", said)
			}

			if test.validation == "feed_back" && failed != nil && len(shown) > 0 {
				t.Errorf("calls that were withdrawn were shown: %v", shown)
			}

			if asked == 2 {
				if m := last.Messages; len(m) != 4 || len(m[1].ToolCalls) != 2 || m[2].ToolCallID != "1" ||
					m[3].ToolCallID != "2" ||
					len(r.Messages) != 1 {
					t.Errorf("the model was told %+v", m)
				}
			}
		})
	}
}

// A request under way fails while the upstream rests, and longer than that it cools.
func TestAnUpstreamThatRestedAndThenCooledTakesThoseWhoWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		sick := &engine{}
		sick.run = func(ctx context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
			switch sick.calls.Load() {
			case 1:
				time.Sleep(time.Second)
				return limited(5*time.Second)(ctx, r, emit)
			case 2:
				time.Sleep(2 * time.Second)
				return fails(503)(ctx, r, emit)
			}

			if waited := time.Since(begun); waited != 32*time.Second {
				t.Errorf("asked again after %s", waited)
			}

			return hello(ctx, r, emit)
		}
		busy := &engine{run: func(ctx context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
			time.Sleep(5 * time.Minute)
			return hello(ctx, r, emit)
		}}
		g := setup(map[string]*engine{"busy": busy, "sick": sick}, func(m *inference.Model) {
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
		both(false) // the first has the busy one, the second waits

		if busy.calls.Load() != 1 || sick.calls.Load() != 3 {
			t.Errorf("%d calls of the busy one, %d of the one that failed", busy.calls.Load(), sick.calls.Load())
		}
	})
}
