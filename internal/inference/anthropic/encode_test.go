package anthropic_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"presswork/internal/inference"
	"presswork/internal/inference/anthropic"
	"presswork/internal/test/golden"
)

// text returns a message with a text.
func text(role, text string) inference.Message {
	return inference.Message{Role: role, Parts: []inference.Part{{Text: text}}}
}

// call returns an assistant message with a tool call, after thoughts if any are given.
func call(id, arguments string, thoughts ...inference.Thought) inference.Message {
	return inference.Message{
		Role: inference.Assistant, Thoughts: thoughts,
		ToolCalls: []inference.ToolCall{{ID: id, Name: "weather", Arguments: arguments}},
	}
}

// result returns the result of a tool call.
func result(id, text string) inference.Message {
	return inference.Message{Role: inference.ToolRole, ToolCallID: id, Parts: []inference.Part{{Text: text}}}
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }

func TestRequestsAreEncodedForTheMessagesAPI(t *testing.T) {
	t.Parallel()

	signed := inference.Thought{Text: "Where?", Signature: "c2ln"}
	tools := []inference.Tool{
		{
			Type: inference.FunctionTool, Name: "weather", Description: "d", Parameters: raw(`{"type":"object"}`),
			Fields: raw(`{"cache_control":{"type":"ephemeral"}}`),
		},
		{Type: inference.FunctionTool, Name: "bash", Block: raw(`{"type":"bash_20250124","name":"bash"}`)},
	}
	hi := text(inference.User, "Hi")

	var out bytes.Buffer

	for _, tc := range []struct {
		name   string
		budget bool // the model takes a budget of tokens instead of an effort
		r      inference.Request
	}{
		{name: "nothing set", r: inference.Request{Messages: []inference.Message{hi}}},
		{name: "all options", r: inference.Request{
			MaxTokens: 99, Temperature: new(1.5), TopP: new(0.5), Stop: []string{"a", " "}, User: "u",
			FrequencyPenalty: new(1.0), Seed: new(int64(3)), Messages: []inference.Message{hi},
			Fields: map[string]json.RawMessage{
				"top_k": raw("4"), "min_p": raw("0.1"), "context_management": raw(`{"edits":[]}`),
			},
		}},
		{name: "system prompts and turns", r: inference.Request{Messages: []inference.Message{
			text(inference.System, "One."), text(inference.Developer, "Two."), text(inference.Assistant, "Hello."),
			hi, text(inference.System, "Later."),
			{Role: inference.User, Parts: []inference.Part{{Text: " \n"}}},
		}}},
		{name: "only a system prompt", r: inference.Request{Messages: []inference.Message{text(inference.System, "One.")}}},
		{name: "calls and results", r: inference.Request{
			Tools: tools, ToolChoice: inference.ToolChoice{Mode: inference.ChooseRequired},
			ParallelToolCalls: new(false), ReasoningEffort: "high",
			Messages: []inference.Message{
				hi, call("a.b", `{"city":"Oslo"}`, signed, inference.Thought{Redacted: "aGlk"}), result("a.b", "12 °C"),
				{
					Role: inference.ToolRole, ToolCallID: "c", Failed: true, Parts: []inference.Part{{Text: "gone"}},
					Fields: raw(`{"cache_control":{"type":"ephemeral"},"content":"forged"}`),
				},
				{Role: inference.User, Parts: []inference.Part{{Image: &inference.Image{URL: "data:image/png;base64,aGk="}}}},
				call("d", "oh no"), result("d", ""),
			},
		}},
		{name: "blocks of the client", r: inference.Request{Messages: []inference.Message{{
			Role: inference.User, Parts: []inference.Part{
				{Text: "cached", Fields: raw(`{"cache_control":{"type":"ephemeral","ttl":"1h"}}`)},
				{Text: "a PDF", Block: raw(`{"type":"document","source":{"type":"url","url":"https://example.com/a.pdf"}}`)},
				{Image: &inference.Image{URL: "https://example.com/a.png"}},
			},
		}}}},
		{name: "adaptive effort", r: inference.Request{
			ReasoningEffort: "minimal", Temperature: new(0.1), Messages: []inference.Message{hi},
			Fields: map[string]json.RawMessage{"top_k": raw("4")},
		}},
		{name: "budget", budget: true, r: inference.Request{ReasoningEffort: "high", Messages: []inference.Message{hi}}},
		{name: "budget without the thoughts of a call", budget: true, r: inference.Request{
			ReasoningEffort: "high", Messages: []inference.Message{hi, call("a", "{}"), result("a", "x")},
		}},
		{name: "no effort", r: inference.Request{ReasoningEffort: "none", Messages: []inference.Message{hi}}},
		{name: "thinking of the client", r: inference.Request{
			ReasoningEffort: "high", Messages: []inference.Message{hi},
			Fields: map[string]json.RawMessage{
				"thinking": raw(`{"type":"adaptive","display":"omitted"}`), "output_config": raw(`{"effort":"high"}`),
				"metadata": raw(`{"user_id":"x"}`),
			},
			User: "hashed",
		}},
		{name: "forbidden calls and JSON", r: inference.Request{
			Tools: tools[:1], ToolChoice: inference.ToolChoice{Mode: inference.ChooseNone},
			Format:   inference.Format{Type: inference.JSONSchema, Schema: raw(`{"type":"object"}`)},
			Messages: []inference.Message{hi},
		}},
	} {
		m := model("claude", "http://127.0.0.1/v1")
		if tc.budget {
			m.Reasoning.Switch = anthropic.Budgets
		}
		m.Upstreams[0].Model = "claude"

		b, err := anthropic.Encode(m.Upstreams[0], &m, &tc.r)
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		var indented bytes.Buffer

		if err := json.Indent(&indented, b, "", " "); err != nil {
			t.Fatalf("%s: %v: %s", tc.name, err, b)
		}
		fmt.Fprintf(&out, "# %s\n%s\n", tc.name, indented.String())

		if strings.Contains(string(b), "forged") {
			t.Errorf("%s: the field content of the client replaced that of the block: %s", tc.name, b)
		}
	}
	golden.Check(t, "requests.golden", out.Bytes())
}
