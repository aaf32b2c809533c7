package responses_test

import (
	"encoding/json"
	"strings"
	"testing"

	"presswork/internal/inference"
)

// redacted is an answer whose thought only its upstream can read.
var redacted = []inference.Chunk{
	{Reasoning: "Which city?"},
	{Thought: &inference.Thought{Text: "Which city?", Signature: "c2ln"}},
	{Thought: &inference.Thought{Redacted: "aGlkZGVu"}},
	{Content: "Oslo.", Finish: "stop"},
}

func TestRedactedThoughtsComeBack(t *testing.T) {
	t.Parallel()

	_, f, err := parse(t, `{"model":"m","input":"Hi","include":["reasoning.encrypted_content"]}`)
	if err != nil {
		t.Fatal(err)
	}
	c := f.Collector("call")

	for i := range redacted {
		c.Add(&inference.Frame{Chunk: &redacted[i]})
	}
	var answer struct {
		Output []map[string]any `json:"output"`
	}

	if err := json.Unmarshal(c.Append(nil), &answer); err != nil {
		t.Fatal(err)
	}

	if len(answer.Output) != 3 || answer.Output[1]["type"] != "reasoning" {
		t.Fatalf("got %v, want two items of reasoning and a message", answer.Output)
	}

	again, err := json.Marshal(append(answer.Output, map[string]any{"role": "user", "content": "Sure?"}))
	if err != nil {
		t.Fatal(err)
	}

	if strings.Contains(string(again), "aGlkZGVu") {
		t.Errorf("%s shows the data of the upstream", again)
	}

	r, _, err := parse(t, `{"model":"m","input":`+string(again)+`}`)
	if err != nil {
		t.Fatal(err)
	}

	got, want := r.Messages[0].Thoughts, []inference.Thought{*redacted[1].Thought, *redacted[2].Thought}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("the thoughts are %+v, want %+v", got, want)
	}
}

func TestRedactedThoughtsAreLeftOutWithoutEncryption(t *testing.T) {
	t.Parallel()

	_, f, err := parse(t, `{"model":"m","input":"Hi"}`)
	if err != nil {
		t.Fatal(err)
	}
	w := f.Events("call")
	stream := w.Begin(nil)

	for i := range redacted {
		stream = w.Append(stream, &redacted[i])
	}

	if n := strings.Count(string(w.End(stream)), "event: response.output_item.done\n"); n != 2 {
		t.Errorf("the stream has %d items, want 2: the readable thought and the message", n)
	}
}
