package gateway_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"presswork/internal/inference"
)

func TestFailingUpstreamIsAvoidedUntilItHasCooled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bad, good := &engine{run: fails(503)}, &engine{}
		g := setup(
			map[string]*engine{"bad": bad, "good": good},
			func(m *inference.Model) { m.Upstreams[1].Priority = 1 },
		)

		result, err := run(t.Context(), g)
		if err != nil || result.Upstream != "good" || result.Attempts != 2 {
			t.Fatalf("%+v, %v", result, err)
		}

		s := g.Explain(
			&inference.Model{
				Upstreams: []inference.Upstream{{Name: "bad", BaseURL: "http://bad", Model: "m", Weight: 1}},
			},
		)
		if s[0].LastError != "failed" || s[0].CoolingUntil.IsZero() {
			t.Errorf("explained as %+v", s[0])
		}

		if result, err = run(t.Context(), g); err != nil || bad.calls.Load() != 1 {
			t.Errorf("called again while it cooled: %v", err)
		}
		time.Sleep(31 * time.Second)

		bad.run = nil
		if result, err = run(t.Context(), g); err != nil || result.Upstream != "bad" {
			t.Errorf("not called after it had cooled: %+v, %v", result, err)
		}
	})
}

func TestRetryUsesAnotherUpstreamWithoutCooldown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := setup(map[string]*engine{"bad": {run: fails(503)}, "good": {}}, func(m *inference.Model) {
			m.Upstreams[1].Priority, m.Routing.Cooldown = 1, 1
		})
		for range 3 {
			if result, err := run(t.Context(), g); err != nil || result.Upstream != "good" || result.Attempts != 2 {
				t.Errorf("%+v, %v", result, err)
			}
			time.Sleep(time.Second)
		}
	})
}

func TestOnlyUpstreamIsCalledAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		only := &engine{run: fails(502)}

		g := setup(map[string]*engine{"only": only}, nil)
		if result, err := run(t.Context(), g); err == nil || result.Attempts != 2 || err.Status != 502 {
			t.Errorf("%+v, %v", result, err)
		}

		only.run = nil
		if _, err := run(t.Context(), g); err != nil {
			t.Errorf("the only upstream was not called while it cooled: %v", err)
		}
	})
}

func TestFailuresOfTheRequestAreNotRetried(t *testing.T) {
	t.Parallel()

	for name, bad := range map[string]*engine{
		"the request": {run: fails(400)},
		"after the first token": {run: func(_ context.Context, _ *inference.Request, emit func(*inference.Delta) error) error {
			return errors.Join(emit(&inference.Delta{Content: "Hel"}), inference.Errorf(502, inference.UpstreamError, "cut"))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			g := setup(map[string]*engine{"a": bad, "b": bad}, nil)
			if result, err := run(t.Context(), g); err == nil || result.Attempts != 1 {
				t.Errorf("%+v, %v", result, err)
			}
		})
	}
	refused := inference.Errorf(503, inference.UpstreamError, "the client has disconnected")
	e := &engine{}
	g := setup(map[string]*engine{"a": e}, nil)

	_, err := g.Complete(t.Context(), request(), func(*inference.Chunk) error { return refused })
	if !errors.Is(err, refused) || e.calls.Load() != 1 {
		t.Errorf("got %v after %d calls", err, e.calls.Load())
	}

	s := g.Explain(
		&inference.Model{Upstreams: []inference.Upstream{{Name: "a", BaseURL: "http://a", Model: "m", Weight: 1}}},
	)
	if !s[0].CoolingUntil.IsZero() {
		t.Error("the upstream cools after an error of the caller")
	}
}

func TestFailedCallsAreCountedSeparately(t *testing.T) {
	t.Parallel()
	// The reasoning is hidden, so nothing was emitted when the call fails.
	cut := func(_ context.Context, _ *inference.Request, emit func(*inference.Delta) error) error {
		return errors.Join(
			emit(
				&inference.Delta{
					Reasoning: "Hm.",
					Usage:     &inference.RawUsage{PromptTokens: 3, CompletionTokens: 500, ReasoningTokens: new(500)},
				},
			),
			inference.Errorf(502, inference.UpstreamError, "cut"),
		)
	}
	for name, test := range map[string]struct {
		second        *engine
		total, failed int
	}{
		"the second answers": {&engine{}, 4, 503},
		"the second fails":   {&engine{run: cut}, 0, 1006},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := setup(
				map[string]*engine{"a": {run: cut}, "b": test.second},
				func(m *inference.Model) { m.Upstreams[1].Priority = 1 },
			)
			r := request()
			r.Admitted, r.ReasoningFormat = true, inference.Hidden

			result, err := g.Complete(t.Context(), r, func(*inference.Chunk) error { return nil })
			if (err != nil) != (test.total == 0) || result.Attempts != 2 || result.Usage.TotalTokens != test.total ||
				result.Usage.ReasoningTokens != nil {
				t.Errorf("%+v, %v", result, err)
			}

			if f := result.Failed; f.TotalTokens != test.failed || f.EstimatedTokens != 0 || f.ReasoningTokens == nil {
				t.Errorf("failed calls used %+v", f)
			}
		})
	}
}
