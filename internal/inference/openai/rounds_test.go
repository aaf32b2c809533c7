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

func TestMalformedArgumentsAreShownOnce(t *testing.T) {
	t.Parallel()
	const broken = `python {"code":`
	s := &tools{}

	a, _, asked, err := planned(t, s, both, broken+" | "+py, "say Done.")
	if err != nil || a.content() != "Done." || len(s.calls) != 1 {
		t.Errorf("%d calls: %v", len(s.calls), err)
	}

	b := string(asked[1].Raw)
	if !strings.Contains(b, "not a JSON object") ||
		!strings.Contains(b, `"arguments":"{\"malformed\":\"{\\\"code\\\":\"}"`) {
		t.Errorf("the model was shown %s", b)
	}

	if _, _, _, err := planned(t, &tools{}, both, broken, py, broken, "say Done."); err != nil {
		t.Errorf("malformed again after a good call: %v", err)
	}

	for emitted, plan := range map[bool]string{false: broken, true: "say Hm. | " + broken} {
		_, result, _, err := planned(t, &tools{}, both, plan, plan, "say Done.")

		e := inference.AsError(err)
		if e == nil || e.Code != inference.ToolUseFailed || e.Status != 400 ||
			!strings.Contains(e.FailedGeneration, `{\"code\":`) || result.Emitted != emitted {
			t.Errorf("malformed twice: %+v, emitted %v", e, result.Emitted)
		}
	}
	// gpt-oss writes such marks itself.
	s = &tools{}

	_, _, _, err = planned(t, s, both,
		`python x = "a<b"; x | functions.python "1" | browser.search {"query":"x"}`, "say Done.")
	if err != nil ||
		fmt.Sprint(
			s.calls,
		) != `[{python {"code":"x = \"a<b\"; x"}} {python {"code":"1"}} {browser_search {"query":"x"}}]` {
		t.Errorf("%v: %v", s.calls, err)
	}
}

func TestRoundsAreBounded(t *testing.T) {
	t.Parallel()
	server, base := inferencetest.Start(t)
	ask := func(scenario string) (answer, error) {
		m := model(scenario, inference.Plain, base)
		m.Routing.ToolRounds = 3
		a, _, err := complete(t, newGatewayWith(&tools{}, m),
			parse(t, fmt.Sprintf(`{"model":%q,%s,"messages":[{"role":"user","content":"Hi"}]}`, scenario, both)))

		return a, err
	}
	a, err := ask("tools-endless")

	asked := server.Requests()
	if err != nil || a.content() != "I give up." || len(a.Choices[0].Message.ExecutedTools) != 3 || len(asked) != 4 ||
		!strings.Contains(string(asked[3].Raw), "Answer now") {
		t.Errorf("%d requests, %+v, %v", len(asked), a, err)
	}

	if _, err := ask("tools-stubborn"); inference.AsError(err).Code != inference.ToolUseFailed {
		t.Errorf("a model that does not stop: %v", err)
	}

	s := &tools{}

	a, _, _, err = planned(t, s, both, strings.Repeat(py+" | ", 39)+py, "say Done.")
	if err != nil || len(s.calls) != 32 || len(a.Choices[0].Message.ExecutedTools) != 32 {
		t.Errorf("%d calls: %v", len(s.calls), err)
	}
	s = &tools{answer: func(context.Context, inference.BuiltinCall) (inference.ToolResult, error) {
		return inference.ToolResult{Output: strings.Repeat("ü", 20<<10)}, nil
	}}

	a, _, _, err = planned(t, s, both, py, "say Done.")

	out := a.Choices[0].Message.ExecutedTools[0].Output
	if err != nil || len(out) > 16<<10 || !strings.HasSuffix(out, "ü\n[cut: the output has 40960 bytes]") {
		t.Errorf("%d bytes of output: %v", len(out), err)
	}

	a, _, asked, err = planned(t, &tools{}, both+`,"max_completion_tokens":5`, py, py, py)
	if err != nil || a.Choices[0].FinishReason != "length" || len(asked) != 2 ||
		!strings.Contains(string(asked[1].Raw), `"max_tokens":2`) {
		t.Errorf("%d rounds for 5 tokens: %+v, %v", len(asked), a, err)
	}

	a, _, asked, err = planned(t, &tools{}, both, `length | `+py, "say Done.")
	if err != nil || a.Choices[0].FinishReason != "length" || len(asked) != 1 {
		t.Errorf("a cut answer: %+v, %v", a, err)
	}
}

func TestALostSessionIsReplacedOnce(t *testing.T) {
	t.Parallel()
	died := errors.New("the worker died")
	s := &tools{}
	s.answer = func(context.Context, inference.BuiltinCall) (inference.ToolResult, error) {
		if len(s.calls) != 2 {
			return inference.ToolResult{}, died
		}

		return inference.ToolResult{Output: "fine"}, nil
	}

	a, _, asked, err := planned(t, s, both, py, py, py, "say Done.")
	if err != nil || s.opened != 2 || len(asked) != 4 || len(asked[3].Body.Tools) > 0 || len(asked[2].Body.Tools) == 0 {
		t.Fatalf("%d sessions: %v", s.opened, err)
	}

	var outputs []string
	for _, e := range a.Choices[0].Message.ExecutedTools {
		outputs = append(outputs, e.Output[:min(len(e.Output), 34)])
	}

	got := strings.Join(outputs, ", ")
	if got != "The tool stopped unexpectedly. Its, fine, The tool stopped unexpectedly and " {
		t.Errorf("the model received %q", got)
	}
}

func TestAnotherUpstreamMayTakeTheNextRound(t *testing.T) {
	t.Parallel()
	server, base := inferencetest.Start(t)
	_, other := inferencetest.Start(t)
	m := model("tools-plan", inference.Plain, base)
	m.Upstreams = append(m.Upstreams, inference.Upstream{Name: "second", BaseURL: other, Priority: 1})
	g := newGatewayWith(&tools{answer: func(context.Context, inference.BuiltinCall) (inference.ToolResult, error) {
		server.Break()
		return inference.ToolResult{Output: "2"}, nil
	}}, m)
	text, _ := json.Marshal(inferencetest.Plan("say One. | "+py, "say Two."))

	a, result, err := complete(t, g,
		parse(t, fmt.Sprintf(`{"model":"tools-plan",%s,"messages":[{"role":"user","content":%s}]}`, both, text)))
	if err != nil || a.content() != "One.\n\nTwo." || result.Upstream != "second" || result.Attempts != 3 ||
		result.Usage.PromptTokens != 22 {
		t.Errorf("%q by %+v: %v", a.content(), result, err)
	}
}

func TestNoSlotIsHeldWhileToolsRun(t *testing.T) {
	t.Parallel()
	_, base := inferencetest.Start(t)
	m, other := model("tools-plan", inference.Plain, base), model("hello", inference.Plain, base)
	m.Upstreams[0].MaxConcurrency, m.Upstreams[0].Model = 1, "tools-plan"
	other.Upstreams[0] = m.Upstreams[0] // the same places
	var g *gateway.Gateway
	g = newGatewayWith(&tools{answer: func(ctx context.Context, _ inference.BuiltinCall) (inference.ToolResult, error) {
		_, err := g.Complete(ctx,
			parse(t, `{"model":"hello","messages":[{"role":"user","content":"say Hi."}]}`),
			func(*inference.Chunk) error { return nil })

		return inference.ToolResult{Output: "2"}, err
	}}, m, other)
	text, _ := json.Marshal(inferencetest.Plan(py, "say Two."))

	a, _, err := complete(t, g,
		parse(t, fmt.Sprintf(`{"model":"tools-plan",%s,"messages":[{"role":"user","content":%s}]}`, both, text)))
	if err != nil || a.content() != "Two." || a.Choices[0].Message.ExecutedTools[0].Output != "2" {
		t.Errorf("%+v: %v", a, err)
	}
}
