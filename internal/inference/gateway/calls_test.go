package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"presswork/internal/inference"
)

// dayTool returns the function f, whose argument day is an integer.
func dayTool() []inference.Tool {
	schema := `{"type":"object","properties":{"day":{"type":"integer"}}}`
	return []inference.Tool{{Type: inference.FunctionTool, Name: "f", Parameters: []byte(schema)}}
}

func TestInvalidArgumentsFollowTheValidationMode(t *testing.T) {
	t.Parallel()
	// twoCalls calls f twice. The arguments of the first call are valid.
	twoCalls := func(secondArguments string) *inference.Delta {
		return &inference.Delta{Finish: "tool_calls", ToolCalls: []inference.RawToolDelta{
			{Index: 0, ID: "1", Name: "f", Arguments: `{"day":1}`},
			{Index: 1, ID: "2", Name: "f", Arguments: secondArguments},
		}}
	}

	const wrong, right = `{"day":"x"}`, `{"day":2}`
	for name, test := range map[string]struct {
		validation string
		disabled   bool     // by the request
		answers    []string // the arguments of the second call, for each attempt
		want       string   // the arguments of the second call, or "" for a failure
		attempts   int
	}{
		"off by default":       {answers: []string{wrong}, want: wrong, attempts: 1},
		"off":                  {validation: "off", answers: []string{wrong}, want: wrong, attempts: 1},
		"off, and not JSON":    {validation: "off", answers: []string{`{"day":`}, attempts: 1},
		"strict":               {validation: "strict", answers: []string{wrong}, attempts: 1},
		"strict, and right":    {validation: "strict", answers: []string{right}, want: right, attempts: 1},
		"fed back, and right":  {validation: "feed_back", answers: []string{wrong, right}, want: right, attempts: 2},
		"fed back, and wrong":  {validation: "feed_back", answers: []string{wrong, wrong}, attempts: 2},
		"right at once":        {validation: "feed_back", answers: []string{right}, want: right, attempts: 1},
		"unchecked by request": {validation: "strict", disabled: true, answers: []string{wrong}, want: wrong, attempts: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			attempts := 0
			var last *inference.Request
			e := &engine{run: func(_ context.Context, r *inference.Request, emit func(*inference.Delta) error) error {
				attempts++
				last = r

				return errors.Join(emit(&inference.Delta{Content: "Hm."}), emit(twoCalls(test.answers[attempts-1])))
			}}
			g := newGateway(map[string]*engine{"a": e}, func(m *inference.Model) { m.ToolValidation = test.validation })
			r := chatRequest()
			r.DisableToolValidation, r.Tools = test.disabled, dayTool()
			arguments, content := map[int]string{}, "" // what was emitted
			_, err := g.Complete(t.Context(), r, func(c *inference.Chunk) error {
				content += c.Content
				for _, d := range c.ToolCalls {
					arguments[d.Index] += d.Arguments
				}

				return nil
			})

			failed := inference.AsError(err)
			if (failed == nil) != (test.want != "") ||
				failed != nil && (failed.Code != inference.ToolUseFailed || failed.FailedGeneration == "") {
				t.Errorf("got error %+v, want a failure: %v", failed, test.want == "")
			}

			if attempts != test.attempts {
				t.Errorf("the upstream was called %d times, want %d", attempts, test.attempts)
			}

			if test.want != "" && (arguments[1] != test.want || arguments[0] != `{"day":1}` || content != "Hm.") {
				t.Errorf("emitted %q with the arguments %v; want \"Hm.\" with {\"day\":1} and %s", content,
					arguments, test.want)
			}

			if test.validation == "feed_back" && failed != nil && len(arguments) > 0 {
				t.Errorf("emitted the invalid calls %v, want none", arguments)
			}

			if attempts == 2 {
				m := last.Messages
				if len(m) != 4 || len(m[1].ToolCalls) != 2 || m[2].ToolCallID != "1" || m[3].ToolCallID != "2" ||
					len(r.Messages) != 1 {
					t.Errorf("the second attempt has the messages %+v; want the calls and a result for each", m)
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
				r := chatRequest()
				r.Stream, r.Tools = stream, dayTool()
				var content, reasoning, calls string
				g := newGateway(
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
					t.Errorf("content %q, reasoning %q, calls %s: %v; want %q, \"thought 1\", %s", content,
						reasoning, calls, err, test.content, test.calls)
				}
			})
		}
	}
}
