package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"presswork/internal/inference"
	"presswork/internal/inference/gateway"
)

// fallbackGateway returns a gateway with a model for each engine. The models in tools can call tools.
func fallbackGateway(engines map[string]*engine, tools ...string) *gateway.Gateway {
	var models []inference.Model

	for name := range engines {
		capabilities := []string{inference.CanChat}
		if slices.Contains(tools, name) {
			capabilities = append(capabilities, inference.CanTools)
		}
		models = append(models, inference.Model{
			ID:           name,
			Capabilities: capabilities,
			Upstreams:    []inference.Upstream{{Name: name, BaseURL: "http://" + name}},
			Routing:      inference.Routing{Retries: new(0)},
		})
	}
	c := inference.NewCatalogue(models)

	return gateway.New(gateway.Options{
		Catalogue: func() *inference.Catalogue { return c },
		Open:      func(u inference.Upstream) (inference.Engine, error) { return engines[u.Name], nil },
	})
}

// tooLong fails because the request exceeds the context of the model.
func tooLong(context.Context, *inference.Request, func(*inference.Delta) error) error {
	return inference.Errorf(400, inference.ContextLength, "too long")
}

// cutOff fails after the first token.
func cutOff(_ context.Context, _ *inference.Request, emit func(*inference.Delta) error) error {
	return errors.Join(emit(&inference.Delta{Content: "Hel"}), inference.Errorf(502, inference.UpstreamError, "cut"))
}

// invalid rejects the request.
func invalid(context.Context, *inference.Request, func(*inference.Delta) error) error {
	return inference.Errorf(400, "invalid_request", "no")
}

func TestAFallbackAnswersInsteadOfAFailingModel(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		first      runFunc
		second     runFunc
		wantModel  string
		wantFailed bool
	}{
		"outage":                {failWith(503), nil, "second", false},
		"rate limit":            {rateLimited(0), nil, "second", false},
		"context overflow":      {tooLong, nil, "second", false},
		"two outages":           {failWith(503), failWith(503), "third", false},
		"no failure":            {nil, nil, "first", false},
		"an invalid request":    {invalid, nil, "first", true},
		"after the first token": {cutOff, nil, "first", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := fallbackGateway(
					map[string]*engine{"first": {run: test.first}, "second": {run: test.second}, "third": {}},
				)
				r := chatRequest()
				r.Model, r.Fallbacks = "first", []string{"second", "third"}
				var shown string

				result, err := g.Complete(t.Context(), r, func(c *inference.Chunk) error {
					shown += c.Model
					return nil
				})
				if result.Model != test.wantModel || (err != nil) != test.wantFailed {
					t.Errorf("model %s answered (%v), want %s, failed %v", result.Model, err, test.wantModel,
						test.wantFailed)
				}

				want := "" // the chunks name only fallbacks
				if test.wantModel != "first" {
					want = test.wantModel
				}

				if shown != want {
					t.Errorf("the chunks name the model %q, want %q", shown, want)
				}
			})
		})
	}
}

func TestTheUsageOfModelsBeforeAFallbackIsCountedAsFailed(t *testing.T) {
	t.Parallel()
	// overflow is charged, although the request does not fit.
	overflow := func(ctx context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
		usage := inference.Delta{Usage: &inference.RawUsage{PromptTokens: 5}}
		return errors.Join(emit(&usage), tooLong(ctx, r, emit))
	}
	outage := func(ctx context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
		usage := inference.Delta{Usage: &inference.RawUsage{PromptTokens: 7}}
		return errors.Join(emit(&usage), failWith(503)(ctx, r, emit))
	}
	g := fallbackGateway(map[string]*engine{"first": {run: overflow}, "second": {run: outage}, "third": {}})
	r := chatRequest()
	r.Model, r.Fallbacks = "first", []string{"second", "third"}

	result, err := g.Complete(t.Context(), r, discard)
	if err != nil || result.Model != "third" || result.Failed.PromptTokens != 12 {
		t.Errorf("model %s answered (%v) with %d failed tokens, want third with 12",
			result.Model, err, result.Failed.PromptTokens)
	}
}

func TestAFallbackThatCannotTakeTheRequestIsSkipped(t *testing.T) {
	t.Parallel()
	plain := &engine{}
	g := fallbackGateway(
		map[string]*engine{"first": {run: failWith(503)}, "plain": plain, "third": {}}, "first", "third",
	)
	r := chatRequest()
	r.Model, r.Fallbacks = "first", []string{"plain", "unknown", "third"}
	r.Tools = []inference.Tool{{Type: inference.FunctionTool, Name: "f"}}

	result, err := g.Complete(t.Context(), r, discard)
	if err != nil || result.Model != "third" || plain.calls.Load() != 0 {
		t.Errorf("model %s answered (%v) after %d calls of plain, want third after none",
			result.Model, err, plain.calls.Load())
	}
}

func TestAFallbackGetsNoOptionsThatItLacks(t *testing.T) {
	t.Parallel()

	var got inference.Request
	second := &engine{run: func(_ context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
		got = *r
		return emit(&inference.Delta{Content: "Hi", Finish: "stop"})
	}}
	g := fallbackGateway(map[string]*engine{"first": {run: failWith(503)}, "second": second})
	r := chatRequest()
	r.Model, r.Fallbacks = "first", []string{"second"}
	r.Admitted, r.ReasoningEffort = true, "high"
	r.Fields = map[string]json.RawMessage{"top_k": json.RawMessage("4")}
	var ignored []string

	result, err := g.Complete(t.Context(), r, func(c *inference.Chunk) error {
		ignored = append(ignored, c.Ignored...)
		return nil
	})
	if err != nil || result.Model != "second" || got.ReasoningEffort != "" {
		t.Errorf("model %s answered (%v) with the effort %q, want second without one", result.Model, err,
			got.ReasoningEffort)
	}

	if !slices.Equal(ignored, []string{"reasoning_effort", "top_k"}) {
		t.Errorf("the chunks report %v, want reasoning_effort and top_k", ignored)
	}
}
