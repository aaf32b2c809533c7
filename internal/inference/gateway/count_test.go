package gateway_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"presswork/internal/inference"
)

func TestCountUsesAnotherUpstreamOnlyIfTheFirstDoesNotAnswer(t *testing.T) {
	t.Parallel()

	fail := func(err error) func(context.Context) (int, error) {
		return func(context.Context) (int, error) { return 0, err }
	}
	noAnswer := func(ctx context.Context) (int, error) {
		<-ctx.Done()
		return 0, context.Cause(ctx)
	}
	const estimated, counted = false, true // by the second upstream

	for name, test := range map[string]struct {
		count func(context.Context) (int, error)
		want  bool
	}{
		"unreachable": {fail(inference.Errorf(503, inference.UpstreamUnavailable, "no answer").
			WithCause(inference.ErrUnreachable)), counted},
		"times out":     {noAnswer, counted},
		"unknown model": {fail(inference.Errorf(502, inference.UpstreamError, "no such model")), estimated},
		"rejects it":    {fail(inference.Errorf(400, inference.ContextLength, "too long")), estimated},
		"rate limit":    {fail(inference.Errorf(429, inference.RateLimitExceeded, "slow down")), estimated},
		"fails":         {fail(inference.Errorf(503, inference.UpstreamUnavailable, "busy")), estimated},
		"cannot count":  {nil, estimated},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				first := &engine{count: test.count}
				second := &engine{count: func(context.Context) (int, error) { return 42, nil }}
				g := newGateway(map[string]*engine{"a": first, "b": second}, preferFirst)

				count, _, err := g.CountTokens(t.Context(), chatRequest())
				if err != nil || (count.Tokens == 42) != test.want || count.Estimated == test.want {
					t.Errorf("got %+v, %v; want the count 42 of the second upstream: %v", count, err, test.want)
				}

				if cools := !upstreamStatus(g, "a").CoolingUntil.IsZero(); cools != test.want {
					t.Errorf("the first upstream cools: %v, want %v", cools, test.want)
				}
			})
		})
	}
}

func TestFailedCountsKeepTheCooldown(t *testing.T) {
	t.Parallel()

	for name, err := range map[string]error{
		"unknown model": inference.Errorf(502, inference.UpstreamError, "no such model"),
		"cannot count":  nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				only := &engine{run: failWith(502), count: func(context.Context) (int, error) { return 0, err }}
				g := newGateway(map[string]*engine{"a": only}, nil)

				if _, err := complete(t.Context(), g); err == nil {
					t.Fatal("the completion: got no error, want one that starts the cooldown")
				}
				before := upstreamStatus(g, "a").CoolingUntil

				if count, _, err := g.CountTokens(t.Context(), chatRequest()); err != nil || !count.Estimated {
					t.Errorf("got %+v, %v; want the estimate", count, err)
				}

				if until := upstreamStatus(g, "a").CoolingUntil; before.IsZero() || !until.Equal(before) {
					t.Errorf("the upstream cools until %s, want %s", until, before)
				}
			})
		})
	}
}

func TestCountFailsWhenTheCallerLeaves(t *testing.T) {
	t.Parallel()
	left := errors.New("left")
	ctx, cancel := context.WithCancelCause(t.Context())
	only := &engine{count: func(ctx context.Context) (int, error) {
		cancel(left)
		return 0, context.Cause(ctx)
	}}

	_, _, err := newGateway(map[string]*engine{"a": only}, nil).CountTokens(ctx, chatRequest())
	if !errors.Is(err, left) {
		t.Errorf("got %v, want %v", err, left)
	}
}
