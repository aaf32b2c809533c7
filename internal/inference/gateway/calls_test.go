package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"presswork/internal/inference"
)

func TestWrongArguments(t *testing.T) {
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
		"fed back, and wrong":  {validation: "feed_back", answers: []string{wrong, wrong}, asked: 2},
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
				t.Errorf("called %d times, emitted %v", asked, shown)
			}

			if test.want != "" && said != "Hm." {
				t.Errorf("content %q", said)
			}

			if test.validation == "feed_back" && failed != nil && len(shown) > 0 {
				t.Errorf("wrong calls were emitted: %v", shown)
			}

			if asked == 2 {
				m := last.Messages
				if len(m) != 4 || len(m[1].ToolCalls) != 2 || m[2].ToolCallID != "1" || m[3].ToolCallID != "2" ||
					len(r.Messages) != 1 {
					t.Errorf("the model got %+v", m)
				}
			}
		})
	}
}

func TestCorrectedAnswerRepeatsNoContent(t *testing.T) {
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
