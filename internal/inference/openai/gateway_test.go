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
	base := startServer(t)

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

			a, result, err := complete(t, newGateway(m), chat(t, scenario))
			if err != nil {
				t.Fatal(err)
			}

			if a.content() != want || a.Choices[0].FinishReason != "stop" {
				t.Errorf("content %.80q, finish %q; want %.80q, stop", a.content(), a.Choices[0].FinishReason, want)
			}

			estimated := a.Usage["estimated"] == true
			if estimated != (result.Usage.EstimatedTokens > 0) || scenario == "no-usage" && !estimated ||
				scenario == "hello" && estimated {
				t.Errorf("the response has the usage %v, want an estimate only without usage of the upstream", a.Usage)
			}

			if result.Usage.CompletionTokens == 0 || result.Usage.PromptTokens == 0 {
				t.Errorf("the result has the usage %+v, want prompt and completion tokens", result.Usage)
			}
		})
	}
}

func TestReasoningIsRawParsedOrHidden(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	parsers := map[string]string{
		"reason-field": "", "reason-content": "", "reason-think": "", "reason-letters": inference.ParseThink,
		"reason-prefilled": inference.ParsePrefilled, "reason-harmony": inference.ParseHarmony,
	}
	const thought, text = inferencetest.Thought, inferencetest.Answer

	for scenario, parser := range parsers {
		for _, format := range []inference.ReasoningFormat{inference.Raw, inference.Parsed, inference.Hidden} {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/%v", scenario, format, stream), func(t *testing.T) {
					t.Parallel()
					m := model(scenario, inference.Plain, base)
					m.Reasoning.Parser = parser

					a, result, err := complete(t, newGateway(m),
						chat(t, scenario, fmt.Sprintf(`"stream":%v,"reasoning_format":%q`, stream, format)))
					if err != nil {
						t.Fatal(err)
					}
					content, reasoning := text, ""

					switch format {
					case inference.Raw:
						content = "<think>" + thought + "</think>" + text
					case inference.Parsed:
						reasoning = thought
					}

					if a.content() != content || a.Choices[0].Message.Reasoning != reasoning {
						t.Errorf("content %q, reasoning %q; want %q, %q", a.content(), a.Choices[0].Message.Reasoning,
							content, reasoning)
					}

					if n := result.Usage.ReasoningTokens; n == nil || *n <= 0 || *n >= result.Usage.CompletionTokens {
						t.Errorf("got %v reasoning tokens of %d completion tokens, want some, but not all", n,
							result.Usage.CompletionTokens)
					}
				})
			}
		}
	}
}

const weatherTool = `"tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}]`

func TestToolCallsAreNormalised(t *testing.T) {
	t.Parallel()

	base := startServer(t)
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

			a, _, err := complete(t, newGateway(m), chat(t, scenario, `"stream":true`, weatherTool))
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
				t.Errorf("got %v with ids %v, finish %q; want %s, tool_calls", got, ids,
					a.Choices[0].FinishReason, want)
			}

			if a.content() != "<null>" {
				t.Errorf("content next to the calls is %q, want null", a.content())
			}
		})
	}
}

func TestInvalidToolCallsFail(t *testing.T) {
	t.Parallel()

	base := startServer(t)
	for name, test := range map[string]struct {
		scenario string
		fields   []string // of the request
		says     string
	}{
		"unlisted":             {"tool-unlisted", nil, "attempted to call tool 'launch_rocket' which"},
		"malformed":            {"tool-malformed", nil, "not valid JSON"},
		"required":             {"hello", []string{`"tool_choice":"required"`}, "did not call a tool"},
		"named":                {"hello", []string{`"tool_choice":{"type":"function","function":{"name":"weather"}}`}, "did not call a tool"},
		"forbidden":            {"tool-whole", []string{`"tool_choice":"none"`}, "tool_choice does not allow"},
		"forbidden, unchecked": {"tool-whole", []string{`"tool_choice":"none","disable_tool_validation":true`}, "tool_choice does not allow"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := complete(t, newGateway(model(test.scenario, inference.Plain, base)),
				chat(t, test.scenario, append([]string{weatherTool}, test.fields...)...))

			e := inference.AsError(err)
			if e == nil || e.Code != inference.ToolUseFailed || e.Status != 400 ||
				!strings.Contains(e.Message, test.says) || e.FailedGeneration == "" {
				t.Errorf("got %+v, want %s with %q", e, inference.ToolUseFailed, test.says)
			}
		})
	}

	_, _, err := complete(t, newGateway(model("tool-unlisted", inference.Plain, base)),
		chat(t, "tool-unlisted", `"disable_tool_validation":true`, weatherTool))
	if err != nil {
		t.Errorf("with disable_tool_validation: got %v, want the call", err)
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
		"object":            {"json", inference.Plain, `{"type":"json_object"}`, false, 1, false},
		"schema":            {"json", inference.VLLM, schema, true, 1, false},
		"fenced":            {"json-fenced", inference.Plain, schema, true, 1, false},
		"repaired":          {"json-second", inference.Plain, schema, true, 2, false},
		"repaired whole":    {"json-second", inference.VLLM, schema, false, 2, false},
		"wrong twice":       {"json-wrong", inference.Plain, schema, true, 2, true},
		"wrong in a stream": {"json-wrong", inference.VLLM, schema, true, 1, true},
		"broken":            {"json-broken", inference.Plain, `{"type":"json_object"}`, false, 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			a, result, err := complete(t, newGateway(model(test.scenario, test.kind, startServer(t))),
				chat(t, test.scenario, fmt.Sprintf(`"stream":%v,"response_format":%s`, test.stream, test.format)))
			if result.Attempts != test.attempts {
				t.Errorf("%d attempts, want %d", result.Attempts, test.attempts)
			}

			if test.fails {
				e := inference.AsError(err)
				if e == nil || e.Code != inference.JSONValidateFailed || e.FailedGeneration == "" {
					t.Errorf("got %+v, want %s with the generated text", e, inference.JSONValidateFailed)
				}

				return
			}

			if err != nil {
				t.Fatal(err)
			}

			if a.content() != `{"name":"Ada","age":36}` {
				t.Errorf(`content is %q, want {"name":"Ada","age":36}`, a.content())
			}
		})
	}
}

func TestUpstreamFailuresAreTranslated(t *testing.T) {
	t.Parallel()

	base := startServer(t)
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
			_, result, err := complete(t, newGateway(m), chat(t, scenario))

			e := inference.AsError(err)
			if e == nil || e.Status != want.status || e.Code != want.code || e.Retryable != want.retry {
				t.Fatalf("got %+v, want status %d, %s, retryable: %v", e, want.status, want.code, want.retry)
			}

			if strings.Contains(e.Message, "127.0.0.1") {
				t.Errorf("got the message %s, want no address of the upstream", e.Message)
			}

			if scenario == "cut" && (!result.Emitted || result.Usage.CompletionTokens != 2) {
				t.Errorf("got %+v, want the 2 emitted tokens counted", result)
			}
		})
	}
}
