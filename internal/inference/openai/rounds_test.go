package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"presswork/internal/inference"
	"presswork/internal/inference/gateway"
	"presswork/internal/inference/inferencetest"
)

func TestMalformedArgumentsMayBeRepairedOnce(t *testing.T) {
	t.Parallel()
	const broken = `python {"code":`
	s := &fakeToolbox{}

	a, _, requests, err := runPlan(t, s, threeTools, broken+" | "+callPython, "say Done.")
	if err != nil || a.content() != "Done." || len(s.calls) != 1 {
		t.Errorf("content %q, %d calls, %v; want Done. and 1 call", a.content(), len(s.calls), err)
	}

	b := string(requests[1].Raw)
	if !strings.Contains(b, "not a JSON object") ||
		!strings.Contains(b, `"arguments":"{\"malformed\":\"{\\\"code\\\":\"}"`) {
		t.Errorf("the second request is %s, want the malformed call and its error", b)
	}

	if _, _, _, err := runPlan(t, &fakeToolbox{}, threeTools, broken, callPython, broken, "say Done."); err != nil {
		t.Errorf("malformed again after a valid call: got %v, want no error", err)
	}

	for emitted, plan := range map[bool]string{false: broken, true: "say Hm. | " + broken} {
		_, result, _, err := runPlan(t, &fakeToolbox{}, threeTools, plan, plan, "say Done.")

		e := inference.AsError(err)
		if e == nil || e.Code != inference.ToolUseFailed || e.Status != 400 ||
			!strings.Contains(e.FailedGeneration, `{\"code\":`) || result.Emitted != emitted {
			t.Errorf("malformed twice: got %+v, emitted %v; want %s, emitted %v", e, result.Emitted,
				inference.ToolUseFailed, emitted)
		}
	}
	// gpt-oss writes arguments without JSON, and functions with a prefix or a dot.
	s = &fakeToolbox{}

	_, _, _, err = runPlan(t, s, threeTools,
		`python x = "a<b"; x | functions.python "1" | browser.search {"query":"x"}`, "say Done.")

	want := `[{python {"code":"x = \"a<b\"; x"}} {python {"code":"1"}} {browser_search {"query":"x"}}]`
	if got := fmt.Sprint(s.calls); err != nil || got != want {
		t.Errorf("called %s, %v; want %s", got, err, want)
	}
}

func TestRoundsAreBounded(t *testing.T) {
	t.Parallel()
	server, base := inferencetest.Start(t)
	run := func(scenario string) (answer, error) {
		m := model(scenario, inference.Plain, base)
		m.Routing.ToolRounds = 3
		a, _, err := complete(t, newGatewayWith(&fakeToolbox{}, m), chat(t, scenario, threeTools))

		return a, err
	}
	a, err := run("tools-endless")

	requests := server.Requests()
	if err != nil || a.content() != "I give up." || len(a.Choices[0].Message.ExecutedTools) != 3 ||
		len(requests) != 4 ||
		!strings.Contains(string(requests[3].Raw), "Answer now") {
		t.Errorf("%d requests, %+v, %v; want 4 requests and 3 calls", len(requests), a, err)
	}

	r := chat(t, "tools-endless", threeTools)
	r.MaxToolCalls = 2

	a, _, err = complete(t, newGatewayWith(&fakeToolbox{}, model("tools-endless", inference.Plain, base)), r)
	if err != nil || a.content() != "I give up." || len(a.Choices[0].Message.ExecutedTools) != 2 {
		t.Errorf("with two calls: got %+v, %v; want 2 calls", a, err)
	}

	if _, err := run("tools-stubborn"); inference.AsError(err).Code != inference.ToolUseFailed {
		t.Errorf("a model that calls without tools: got %v, want %s", err, inference.ToolUseFailed)
	}

	s := &fakeToolbox{}

	a, _, _, err = runPlan(t, s, threeTools, strings.Repeat(callPython+" | ", 39)+callPython, "say Done.")
	if err != nil || len(s.calls) != 32 || len(a.Choices[0].Message.ExecutedTools) != 32 {
		t.Errorf("%d of 40 calls in one round ran, %v; want 32", len(s.calls), err)
	}
	s = &fakeToolbox{answer: func(context.Context, inference.BuiltinCall) (inference.ToolResult, error) {
		return inference.ToolResult{Output: strings.Repeat("ü", 20<<10)}, nil
	}}

	a, _, _, err = runPlan(t, s, threeTools, callPython, "say Done.")

	out := a.Choices[0].Message.ExecutedTools[0].Output
	if err != nil || len(out) > 16<<10 || !strings.HasSuffix(out, "ü\n[cut: the output has 40960 bytes]") {
		t.Errorf("the output has %d bytes, %v; want up to 16 KiB with a note", len(out), err)
	}

	a, _, requests, err = runPlan(t, &fakeToolbox{}, threeTools+`,"max_completion_tokens":5`, callPython,
		callPython, callPython)
	if err != nil || a.Choices[0].FinishReason != "length" || len(requests) != 2 ||
		!strings.Contains(string(requests[1].Raw), `"max_tokens":2`) {
		t.Errorf("%d rounds for 5 tokens: %+v, %v; want 2, the last with 2 tokens", len(requests), a, err)
	}

	a, _, requests, err = runPlan(t, &fakeToolbox{}, threeTools, `length | `+callPython, "say Done.")
	if err != nil || a.Choices[0].FinishReason != "length" || len(requests) != 1 {
		t.Errorf("a round cut by its length: %+v, %v; want the end after it", a, err)
	}
}

func TestLostSessionIsReplacedOnce(t *testing.T) {
	t.Parallel()
	errDied := errors.New("the worker died")
	s := &fakeToolbox{}
	s.answer = func(context.Context, inference.BuiltinCall) (inference.ToolResult, error) {
		if len(s.calls) != 2 {
			return inference.ToolResult{}, errDied
		}

		return inference.ToolResult{Output: "fine"}, nil
	}

	a, _, requests, err := runPlan(t, s, threeTools, callPython, callPython, callPython, "say Done.")
	if err != nil || s.opened != 2 || len(requests) != 4 || len(requests[3].Body.Tools) > 0 ||
		len(requests[2].Body.Tools) == 0 {
		t.Fatalf("%d sessions, %d requests, %v; want 2 sessions, and no tools in the last of 4 requests", s.opened,
			len(requests), err)
	}

	var outputs []string
	for _, e := range a.Choices[0].Message.ExecutedTools {
		outputs = append(outputs, e.Output[:min(len(e.Output), 34)])
	}

	want := "The tool stopped unexpectedly. Its, fine, The tool stopped unexpectedly and "
	if got := strings.Join(outputs, ", "); got != want {
		t.Errorf("the outputs begin with %q, want %q", got, want)
	}
}

func TestNextRoundMayUseAnotherUpstream(t *testing.T) {
	t.Parallel()
	server, base := inferencetest.Start(t)
	_, other := inferencetest.Start(t)
	m := model("tools-plan", inference.Plain, base)
	m.Upstreams = append(m.Upstreams, inference.Upstream{Name: "second", BaseURL: other, Priority: 1})
	g := newGatewayWith(
		&fakeToolbox{answer: func(context.Context, inference.BuiltinCall) (inference.ToolResult, error) {
			server.Break()
			return inference.ToolResult{Output: "2"}, nil
		}},
		m,
	)
	text, _ := json.Marshal(inferencetest.Plan("say One. | "+callPython, "say Two."))

	a, result, err := complete(t, g,
		parse(t, fmt.Sprintf(`{"model":"tools-plan",%s,"messages":[{"role":"user","content":%s}]}`, threeTools, text)))
	if err != nil || a.content() != "One.\n\nTwo." || result.Upstream != "second" || result.Attempts != 3 ||
		result.Usage.PromptTokens != 22 {
		t.Errorf("content %q of %+v, %v; want the second round by second", a.content(), result, err)
	}
}

func TestNoSlotIsHeldWhileToolsRun(t *testing.T) {
	t.Parallel()
	_, base := inferencetest.Start(t)
	m, other := model("tools-plan", inference.Plain, base), model("hello", inference.Plain, base)
	m.Upstreams[0].MaxConcurrency, m.Upstreams[0].Model = 1, "tools-plan"
	other.Upstreams[0] = m.Upstreams[0] // both models share the only slot
	var g *gateway.Gateway
	g = newGatewayWith(
		&fakeToolbox{answer: func(ctx context.Context, _ inference.BuiltinCall) (inference.ToolResult, error) {
			_, err := g.Complete(ctx,
				parse(t, `{"model":"hello","messages":[{"role":"user","content":"say Hi."}]}`),
				func(*inference.Chunk) error { return nil })

			return inference.ToolResult{Output: "2"}, err
		}},
		m,
		other,
	)
	text, _ := json.Marshal(inferencetest.Plan(callPython, "say Two."))

	a, _, err := complete(t, g,
		parse(t, fmt.Sprintf(`{"model":"tools-plan",%s,"messages":[{"role":"user","content":%s}]}`, threeTools, text)))
	if err != nil || a.content() != "Two." || a.Choices[0].Message.ExecutedTools[0].Output != "2" {
		t.Errorf("got %+v, %v; want Two. after a call that used the slot", a, err)
	}
}
