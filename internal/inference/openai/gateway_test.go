package openai_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/inference/inferencetest"
)

func TestEveryFormOfStreamIsRead(t *testing.T) {
	t.Parallel()
	base := start(t)

	const greeting = "Grüße, 世界!"
	for scenario, want := range map[string]string{
		"hello": "Hello, world!", "whole": "Hello, world!", "no-usage": "Hello, world",
		"crlf": greeting, "bare": greeting, "noisy": greeting, "no-done": greeting, "no-end": greeting, "two-lines": greeting, "split-bytes": greeting,
		"big-line": strings.Repeat("0123456789abcdef", 90_000), "hang-end": "Hello",
	} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			m := model(scenario, inference.Plain, base)
			m.Routing.IdleTimeout = 5 * time.Minute // a finished answer does not wait for its connection

			a, result, err := complete(t, newGateway(m),
				parse(t, fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"Hi"}]}`, scenario)))
			if err != nil {
				t.Fatal(err)
			}

			if a.content() != want || a.Choices[0].FinishReason != "stop" {
				t.Errorf("got %.80q, finish %q", a.content(), a.Choices[0].FinishReason)
			}

			estimated := a.Usage["estimated"] == true
			if estimated != (result.Usage.EstimatedTokens > 0) || scenario == "no-usage" && !estimated ||
				scenario == "hello" && estimated {
				t.Errorf("usage %v", a.Usage)
			}

			if result.Usage.CompletionTokens == 0 || result.Usage.PromptTokens == 0 {
				t.Errorf("usage %+v", result.Usage)
			}
		})
	}
}

func TestReasoningGoesWhereTheFormatWantsIt(t *testing.T) {
	t.Parallel()
	base := start(t)
	parsers := map[string]string{
		"reason-field": "", "reason-content": "", "reason-think": "", "reason-letters": inference.ParseThink,
		"reason-prefilled": inference.ParsePrefilled, "reason-harmony": inference.ParseHarmony,
	}
	const thought, said = inferencetest.Thought, inferencetest.Answer

	for scenario, parser := range parsers {
		for _, format := range []inference.ReasoningFormat{inference.Raw, inference.Parsed, inference.Hidden} {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/%v", scenario, format, stream), func(t *testing.T) {
					t.Parallel()
					m := model(scenario, inference.Plain, base)
					m.Reasoning.Parser = parser

					a, result, err := complete(
						t,
						newGateway(m),
						parse(
							t,
							fmt.Sprintf(
								`{"model":%q,"stream":%v,"reasoning_format":%q,"messages":[{"role":"user","content":"Hi"}]}`,
								scenario,
								stream,
								format,
							),
						),
					)
					if err != nil {
						t.Fatal(err)
					}
					content, reasoning := said, ""

					switch format {
					case inference.Raw:
						content = "<think>" + thought + "</think>" + said
					case inference.Parsed:
						reasoning = thought
					}

					if a.content() != content || a.Choices[0].Message.Reasoning != reasoning {
						t.Errorf("content %q, reasoning %q", a.content(), a.Choices[0].Message.Reasoning)
					}

					if n := result.Usage.ReasoningTokens; n == nil || *n <= 0 || *n >= result.Usage.CompletionTokens {
						t.Errorf("reasoning tokens %v of %d", n, result.Usage.CompletionTokens)
					}
				})
			}
		}
	}
}

const weather = `"tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}]`

func TestToolCallsGetOneForm(t *testing.T) {
	t.Parallel()

	base := start(t)
	for scenario, want := range map[string]string{
		"tool-whole": `weather{"city":"Oslo"}`, "tool-split": `weather{"city":"Oslo"}`, "tool-repeated": `weather{"city":"Oslo"}`, "tool-object": `weather{"city":"Oslo"}`,
		"tool-parallel": `weather{"city":"Oslo"} weather{"city":"Rome"}`, "tool-zero-index": `weather{"city":"Oslo"} weather{"city":"Rome"}`,
		"tool-no-arguments": `weather{}`, "tool-harmony": `weather{"city":"Oslo"}`,
	} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()

			m := model(scenario, inference.Plain, base)
			if scenario == "tool-harmony" {
				m.Reasoning.Parser = inference.ParseHarmony
			}

			a, _, err := complete(
				t,
				newGateway(m),
				parse(
					t,
					fmt.Sprintf(`{"model":%q,"stream":true,%s,"messages":[{"role":"user","content":"Hi"}]}`,
						scenario, weather),
				),
			)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			ids := map[string]bool{}

			for _, c := range a.Choices[0].Message.ToolCalls {
				got = append(got, c.Function.Name+c.Function.Arguments)
				ids[c.ID] = true
			}

			if strings.Join(got, " ") != want || a.Choices[0].FinishReason != "tool_calls" || len(ids) != len(got) ||
				ids[""] {
				t.Errorf("got %v with ids %v, finish %q", got, ids, a.Choices[0].FinishReason)
			}

			if a.content() != "<null>" {
				t.Errorf("content %q next to the calls", a.content())
			}
		})
	}
}

func TestWrongToolCallsFail(t *testing.T) {
	t.Parallel()

	base := start(t)
	for name, test := range map[string]struct{ scenario, more, says string }{
		"unlisted":        {"tool-unlisted", "", "launch_rocket"},
		"malformed":       {"tool-malformed", "", "not valid JSON"},
		"required":        {"hello", `,"tool_choice":"required"`, "did not call a tool"},
		"named":           {"hello", `,"tool_choice":{"type":"function","function":{"name":"weather"}}`, "did not call a tool"},
		"none but calls":  {"tool-whole", `,"tool_choice":"none"`, "tool_choice does not allow"},
		"none, unchecked": {"tool-whole", `,"tool_choice":"none","disable_tool_validation":true`, "tool_choice does not allow"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := complete(
				t,
				newGateway(model(test.scenario, inference.Plain, base)),
				parse(
					t,
					fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"Hi"}]%s%s}`, test.scenario,
						","+weather, test.more),
				),
			)

			e := inference.AsError(err)
			if e == nil || e.Code != inference.ToolUseFailed || e.Status != 400 ||
				!strings.Contains(e.Message, test.says) || e.FailedGeneration == "" {
				t.Errorf("got %+v", e)
			}
		})
	}

	_, _, err := complete(
		t,
		newGateway(model("tool-unlisted", inference.Plain, base)),
		parse(
			t,
			`{"model":"tool-unlisted","disable_tool_validation":true,`+weather+`,"messages":[{"role":"user","content":"Hi"}]}`,
		),
	)
	if err != nil {
		t.Errorf("with disable_tool_validation: %v", err)
	}
}

func TestJSONIsCheckedAndRepairedOnce(t *testing.T) {
	t.Parallel()

	const schema = `{"type":"json_schema","json_schema":{"name":"person","schema":{"type":"object","properties":{"age":{"type":"integer"}},"required":["age"]}}}`
	for name, test := range map[string]struct {
		scenario, kind, format string
		stream                 bool
		attempts               int
		fails                  bool
	}{
		"object":               {"json", inference.Plain, `{"type":"json_object"}`, false, 1, false},
		"schema":               {"json", inference.VLLM, schema, true, 1, false},
		"fenced":               {"json-fenced", inference.Plain, schema, true, 1, false},
		"repaired":             {"json-second", inference.Plain, schema, true, 2, false},
		"repaired whole":       {"json-second", inference.VLLM, schema, false, 2, false},
		"wrong twice":          {"json-wrong", inference.Plain, schema, true, 2, true},
		"wrong while it flows": {"json-wrong", inference.VLLM, schema, true, 1, true},
		"broken":               {"json-broken", inference.Plain, `{"type":"json_object"}`, false, 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			a, result, err := complete(
				t,
				newGateway(model(test.scenario, test.kind, start(t))),
				parse(
					t,
					fmt.Sprintf(
						`{"model":%q,"stream":%v,"response_format":%s,"messages":[{"role":"user","content":"Hi"}]}`,
						test.scenario,
						test.stream,
						test.format,
					),
				),
			)
			if result.Attempts != test.attempts {
				t.Errorf("%d attempts", result.Attempts)
			}

			if test.fails {
				e := inference.AsError(err)
				if e == nil || e.Code != inference.JSONValidateFailed || e.FailedGeneration == "" {
					t.Errorf("got %+v", e)
				}

				return
			}

			if err != nil {
				t.Fatal(err)
			}

			if a.content() != `{"name":"Ada","age":36}` {
				t.Errorf("got %q", a.content())
			}
		})
	}
}

func TestFailuresOfAnUpstreamAreTranslated(t *testing.T) {
	t.Parallel()

	base := start(t)
	for scenario, want := range map[string]struct {
		status int
		code   fault.Code
		retry  bool
	}{
		"status:400":  {400, fault.InvalidRequest, false},
		"context":     {400, inference.ContextLength, false},
		"status:401":  {502, inference.UpstreamError, false},
		"status:404":  {502, inference.UpstreamError, false},
		"status:413":  {413, fault.InvalidRequest, false},
		"status:429":  {429, inference.RateLimitExceeded, true},
		"status:500":  {502, inference.UpstreamError, true},
		"status:503":  {503, inference.UpstreamUnavailable, true},
		"html":        {502, inference.UpstreamError, true},
		"garbage":     {502, inference.UpstreamError, true},
		"flood":       {502, inference.UpstreamError, true},
		"cut":         {502, inference.UpstreamError, true},
		"cut-clean":   {502, inference.UpstreamError, true},
		"cut-first":   {503, inference.UpstreamUnavailable, true},
		"error-frame": {502, inference.UpstreamError, true},
	} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			m := model(scenario, inference.Plain, base)
			m.Routing.Retries = new(0)
			_, result, err := complete(t, newGateway(m),
				parse(t, fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"Hi"}]}`, scenario)))

			e := inference.AsError(err)
			if e == nil || e.Status != want.status || e.Code != want.code || e.Retryable != want.retry {
				t.Fatalf("got %+v", e)
			}

			if strings.Contains(e.Message, "127.0.0.1") {
				t.Errorf("the message has the address: %s", e.Message)
			}

			if scenario == "cut" && (!result.Emitted || result.Usage.CompletionTokens != 2) {
				t.Errorf("emitted tokens are not counted: %+v", result)
			}
		})
	}
}
