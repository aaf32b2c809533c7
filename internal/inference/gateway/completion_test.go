package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"presswork/internal/inference"
)

func TestAnUpstreamThatHasCooledTakesThoseWhoWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		busy := &engine{run: func(ctx context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
			time.Sleep(5 * time.Minute)
			return hello(ctx, r, emit)
		}}
		begun := time.Now()
		sick := &engine{}
		sick.run = func(ctx context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
			if sick.calls.Load() == 1 {
				return fails(503)(ctx, r, emit)
			}

			if waited := time.Since(begun); waited != 30*time.Second {
				t.Errorf("asked again after %s", waited)
			}

			return hello(ctx, r, emit)
		}
		g := setup(map[string]*engine{"busy": busy, "sick": sick}, func(m *inference.Model) {
			m.Upstreams[0].MaxConcurrency, m.Upstreams[0].Priority = 1, 1
			m.Routing.FirstTokenTimeout = time.Hour
		})

		var wg sync.WaitGroup
		for range 2 { // the first fails over to the busy one, the second waits
			wg.Go(func() {
				if _, err := run(t.Context(), g); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		wg.Wait()

		if busy.calls.Load() != 1 || sick.calls.Load() != 2 {
			t.Errorf("%d calls of the busy one, %d of the one that failed", busy.calls.Load(), sick.calls.Load())
		}
	})
}

func TestFailedCallsOfUpstreamsAreCountedApart(t *testing.T) {
	t.Parallel()
	// Its reasoning is hidden, so that nothing was emitted when it fails.
	vain := func(_ context.Context, _ *inference.Request, emit func(*inference.Delta) error) error {
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
		"the second fails":   {&engine{run: vain}, 0, 1006},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := setup(
				map[string]*engine{"a": {run: vain}, "b": test.second},
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

func TestARepairOfJSONOffersNoTools(t *testing.T) {
	t.Parallel()
	var offered []int
	e := &engine{run: func(_ context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
		offered = append(offered, len(r.Offered()))

		text := "no JSON"
		if len(offered) == 2 {
			text = "{}"
		}

		return emit(&inference.Delta{Content: text, Finish: "stop"})
	}}
	r := request()
	r.Format.Type, r.Tools = inference.JSONObject, []inference.Tool{{Type: inference.FunctionTool, Name: "f"}}

	_, err := setup(
		map[string]*engine{"a": e},
		nil,
	).Complete(t.Context(), r, func(*inference.Chunk) error { return nil })
	if err != nil || !slices.Equal(offered, []int{1, 0}) {
		t.Errorf("%v tools offered: %v", offered, err)
	}
}

func TestAnAnswerIsBounded(t *testing.T) {
	t.Parallel()
	const size = 1 << 20

	text := strings.Repeat("x", size)
	for name, d := range map[string]inference.Delta{
		"content": {Content: text}, "reasoning": {Reasoning: text}, "arguments": {ToolCalls: []inference.RawToolDelta{{Name: "f", Arguments: text}}},
		"another field": {Extra: []byte(`{"annotations":["` + text + `"]}`)},
	} {
		t.Run(name, func(t *testing.T) {
			e := &engine{run: func(_ context.Context, _ *inference.Request, emit func(*inference.Delta) error) error {
				for range 20 {
					if err := emit(&d); err != nil {
						return err
					}
				}

				return emit(&inference.Delta{Finish: "stop"})
			}}

			g := setup(map[string]*engine{"a": e}, func(m *inference.Model) { m.Routing.Retries = new(0) })
			if _, err := run(
				t.Context(),
				g,
			); err == nil || err.Status != 502 ||
				!strings.Contains(err.Message, "more than") {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

func TestLogProbabilitiesStayWithTheirText(t *testing.T) {
	t.Parallel()
	probability := func(text string) json.RawMessage {
		return json.RawMessage(`{"content":[{"token":"` + text + `"}],"refusal":null}`)
	}
	e := &engine{run: func(_ context.Context, _ *inference.Request, emit func(*inference.Delta) error) error {
		for _, d := range []inference.Delta{
			{Reasoning: "secret", Logprobs: probability("secret")},
			{Content: "A", Logprobs: probability("A")},
			{Content: "B", Logprobs: probability("B")},
			{Finish: "stop"},
		} {
			if err := emit(&d); err != nil {
				return err
			}
		}

		return nil
	}}

	for format, want := range map[inference.ReasoningFormat]string{inference.Hidden: "AA BB", inference.Parsed: "secretsecret AA BB"} {
		var got []string
		r := request()
		r.Admitted, r.ReasoningFormat, r.Logprobs = true, format, true
		g := setup(
			map[string]*engine{"a": e},
			func(m *inference.Model) { m.Capabilities = append(m.Capabilities, inference.CanLogprobs) },
		)

		_, err := g.Complete(t.Context(), r, func(c *inference.Chunk) error {
			var list struct{ Content []struct{ Token string } }
			if c.Logprobs != nil {
				if err := json.Unmarshal(c.Logprobs, &list); err != nil {
					return err
				}
			}

			for _, p := range list.Content {
				got = append(got, c.Reasoning+c.Content+p.Token)
			}

			return nil
		})
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s (%v)", format, got, want, err)
		}
	}
}

func TestHiddenReasoningIsHiddenInEveryField(t *testing.T) {
	t.Parallel()
	const fields = `{"thinking":"secret","thinking_blocks":[{"thinking":"secret"}],"reasoning_details":[{"text":"secret"}],"reasoning_text":"secret",` +
		`"thoughts":"secret","provider_specific_fields":{"reasoning_content":"secret"},"extra_content":{"google":{"thought":"secret"}},"annotations":[{"type":"url_citation"}],"refusal":"no"}`
	e := &engine{run: func(_ context.Context, _ *inference.Request, emit func(*inference.Delta) error) error {
		return errors.Join(
			emit(&inference.Delta{Reasoning: "secret", Extra: json.RawMessage(fields)}),
			emit(&inference.Delta{Content: "Hi", Finish: "stop"}),
		)
	}}
	r := request()
	r.Admitted, r.ReasoningFormat = true, inference.Hidden
	var shown []string

	_, err := setup(map[string]*engine{"a": e}, nil).Complete(t.Context(), r, func(c *inference.Chunk) error {
		shown = append(shown, c.Content+c.Reasoning+string(c.Extra))
		return nil
	})
	if got := strings.Join(
		shown,
		"",
	); err != nil ||
		got != `{"annotations":[{"type":"url_citation"}],"refusal":"no"}Hi` {
		t.Errorf("shown %s, %v", got, err)
	}
}

func TestACorrectedAnswerShowsOneTry(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		second         []inference.RawToolDelta
		content, calls string
	}{
		"calls again":  {[]inference.RawToolDelta{{ID: "2", Name: "f", Arguments: `{"day":2}`}}, "said 1", `{"day":2}`},
		"only answers": {nil, "said 1\n\nsaid 2", ""},
	} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stream %t", name, stream), func(t *testing.T) {
				t.Parallel()
				e := &engine{}
				e.run = func(_ context.Context, _ *inference.Request, emit func(*inference.Delta) error) error {
					try := e.calls.Load()

					last := inference.Delta{
						Finish:    "tool_calls",
						ToolCalls: []inference.RawToolDelta{{ID: "1", Name: "f", Arguments: `{"day":"x"}`}},
					}
					if try == 2 {
						last = inference.Delta{Finish: "stop", ToolCalls: test.second}
					}

					return errors.Join(
						emit(&inference.Delta{Reasoning: fmt.Sprint("thought ", try)}),
						emit(&inference.Delta{Content: fmt.Sprint("said ", try)}),
						emit(&last),
					)
				}
				r := request()
				r.Stream, r.Tools = stream, []inference.Tool{
					{
						Type:       inference.FunctionTool,
						Name:       "f",
						Parameters: []byte(`{"type":"object","properties":{"day":{"type":"integer"}}}`),
					},
				}
				var content, reasoning, calls string
				g := setup(
					map[string]*engine{"a": e},
					func(m *inference.Model) { m.ToolValidation = inference.ValidateFeedBack },
				)

				_, err := g.Complete(t.Context(), r, func(c *inference.Chunk) error {
					content, reasoning = content+c.Content, reasoning+c.Reasoning
					for _, d := range c.ToolCalls {
						calls += d.Arguments
					}

					return nil
				})
				if err != nil || content != test.content || reasoning != "thought 1" || calls != test.calls {
					t.Errorf("content %q, reasoning %q, calls %s: %v", content, reasoning, calls, err)
				}
			})
		}
	}
}
