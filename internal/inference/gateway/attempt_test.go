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
		bad, good := &engine{run: failWith(503)}, &engine{}
		g := newGateway(map[string]*engine{"bad": bad, "good": good}, preferFirst)

		result, err := complete(t.Context(), g)
		if err != nil || result.Upstream != "good" || result.Attempts != 2 {
			t.Fatalf("got %+v, %v; want an answer of good after 2 attempts", result, err)
		}

		s := upstreamStatus(g, "bad")
		if s.LastError != "failed" || s.CoolingUntil.IsZero() {
			t.Errorf("the status of the failed upstream is %+v; want the last error \"failed\" and a cooldown", s)
		}

		if result, err = complete(t.Context(), g); err != nil || bad.calls.Load() != 1 {
			t.Errorf("while bad cools: got error %v and %d calls of bad, want an answer and only the first call",
				err, bad.calls.Load())
		}
		time.Sleep(31 * time.Second) // longer than the default cooldown of 30 s

		bad.run = nil

		if result, err = complete(t.Context(), g); err != nil || result.Upstream != "bad" {
			t.Errorf("after the cooldown: got %+v, %v; want an answer of bad", result, err)
		}
	})
}

func TestRetryUsesAnotherUpstreamWithoutCooldown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(map[string]*engine{"bad": {run: failWith(503)}, "good": {}}, func(m *inference.Model) {
			m.Upstreams[1].Priority, m.Routing.Cooldown = 1, 1 // 1 ns
		})
		for range 3 {
			if result, err := complete(t.Context(), g); err != nil || result.Upstream != "good" ||
				result.Attempts != 2 {
				t.Errorf("got %+v, %v; want an answer of good after 2 attempts", result, err)
			}
			time.Sleep(time.Second)
		}
	})
}

func TestOnlyUpstreamIsCalledAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		only := &engine{run: failWith(502)}

		g := newGateway(map[string]*engine{"only": only}, nil)
		if result, err := complete(t.Context(), g); err == nil || result.Attempts != 2 || err.Status != 502 {
			t.Errorf("got %+v, %v; want status 502 after 2 attempts", result, err)
		}

		only.run = nil

		if _, err := complete(t.Context(), g); err != nil {
			t.Errorf("while the only upstream cools: got %v, want an answer", err)
		}
	})
}

func TestFailuresOfTheRequestAreNotRetried(t *testing.T) {
	t.Parallel()

	for name, bad := range map[string]*engine{
		"an invalid request":    {run: failWith(400)},
		"after the first token": {run: cutOff},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGateway(map[string]*engine{"a": bad, "b": bad}, nil)
			if result, err := complete(t.Context(), g); err == nil || result.Attempts != 1 {
				t.Errorf("got %+v, %v; want an error after 1 attempt", result, err)
			}
		})
	}

	// An error of emit is the caller's. It must not count against the upstream.
	refused := inference.Errorf(503, inference.UpstreamError, "the client has disconnected")
	e := &engine{}
	g := newGateway(map[string]*engine{"a": e}, nil)

	_, err := g.Complete(t.Context(), chatRequest(), func(*inference.Chunk) error { return refused })
	if !errors.Is(err, refused) || e.calls.Load() != 1 {
		t.Errorf("got %v after %d calls; want %v after 1 call", err, e.calls.Load(), refused)
	}

	if !upstreamStatus(g, "a").CoolingUntil.IsZero() {
		t.Error("the upstream cools after an error of the caller, want no cooldown")
	}
}

func TestUsageOfFailedCallsIsCountedSeparately(t *testing.T) {
	t.Parallel()
	// The reasoning is hidden, so nothing was emitted when the call fails.
	cut := func(_ context.Context, _ *inference.Request, emit func(*inference.Delta) error) error {
		usage := &inference.RawUsage{PromptTokens: 3, CompletionTokens: 500, ReasoningTokens: new(500)}

		return errors.Join(
			emit(&inference.Delta{Reasoning: "Hm.", Usage: usage}),
			inference.Errorf(502, inference.UpstreamError, "cut"),
		)
	}
	for name, test := range map[string]struct {
		second        *engine
		total, failed int // tokens of the answer, and of the failed calls
	}{
		"the second answers": {&engine{}, 4, 503},
		"the second fails":   {&engine{run: cut}, 0, 1006},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGateway(map[string]*engine{"a": {run: cut}, "b": test.second}, preferFirst)
			r := chatRequest()
			r.Admitted, r.ReasoningFormat = true, inference.Hidden

			result, err := g.Complete(t.Context(), r, discard)
			if (err != nil) != (test.total == 0) || result.Attempts != 2 || result.Usage.TotalTokens != test.total ||
				result.Usage.ReasoningTokens != nil {
				t.Errorf("got %+v, %v; want %d tokens after 2 attempts", result, err, test.total)
			}

			if f := result.Failed; f.TotalTokens != test.failed || f.EstimatedTokens != 0 || f.ReasoningTokens == nil {
				t.Errorf("failed calls used %+v, want %d tokens", f, test.failed)
			}
		})
	}
}
