package inference_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/inference"
)

func TestFramesRoundTrip(t *testing.T) {
	t.Parallel()

	usage := &inference.Usage{TotalTokens: 1}
	for i, f := range []inference.Frame{
		{Chunk: &inference.Chunk{}},
		{Chunk: &inference.Chunk{Content: " token"}},
		{Chunk: &inference.Chunk{Content: "\"}}"}},
		{Chunk: &inference.Chunk{Content: "a\nb\\ <&> \u2028 世界 \x00\x7f"}},
		{Chunk: &inference.Chunk{Content: "a\"}}{\"chunk\":{\"content\":\"b"}},
		{Chunk: &inference.Chunk{Reasoning: "Grüße"}},
		{Chunk: &inference.Chunk{Reasoning: "\t"}},
		{Chunk: &inference.Chunk{Content: "a", Reasoning: "b"}},
		{QueueTime: 0.5, Chunk: &inference.Chunk{Content: "a"}},
		{Chunk: &inference.Chunk{First: true, Content: "a"}},
		{Chunk: &inference.Chunk{Choice: 1, Content: "a"}},
		{Chunk: &inference.Chunk{Fingerprint: "fp", Content: "a"}},
		{Chunk: &inference.Chunk{Content: "a", ToolCalls: []inference.ToolDelta{{ID: "x"}}}},
		{Chunk: &inference.Chunk{Content: "a", Executed: []inference.ExecutedTool{{Index: 1}}}},
		{Chunk: &inference.Chunk{Content: "a", Extra: json.RawMessage(`{"x":1}`)}},
		{Chunk: &inference.Chunk{Content: "a", Logprobs: json.RawMessage(`{"x":1}`)}},
		{Chunk: &inference.Chunk{Content: "a", Finish: "stop"}},
		{Chunk: &inference.Chunk{Content: "a", Usage: usage}},
		{Chunk: &inference.Chunk{Content: "a"}, Result: &inference.Result{Finish: "stop"}},
		{Sound: &inference.Sound{}},
	} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			b, err := f.Append([]byte("before"))
			if err != nil {
				t.Fatal(err)
			}

			var plain inference.Frame
			if err := json.Unmarshal(b[len("before"):], &plain); err != nil {
				t.Errorf("%s is not JSON: %v", b, err)
			}

			if diff := cmp.Diff(f, plain); diff != "" {
				t.Errorf("%s: %s", b, diff)
			}

			got, ended, err := inference.ReadFrames([][]byte{b[len("before"):]})
			if err != nil || ended != (f.Result != nil) {
				t.Errorf("%s: ended %v, %v", b, ended, err)
			}

			if diff := cmp.Diff([]inference.Frame{f}, got); diff != "" {
				t.Errorf("%s: %s", b, diff)
			}
		})
	}
}

// An invalid frame is an error even if it looks like the usual form.
func TestInvalidFrameIsAnError(t *testing.T) {
	t.Parallel()

	for _, b := range []string{`{"chunk":{"content":"a\"}}`, "{\"chunk\":{\"content\":\"a\x01\"}}", `{"chunk":{"content":"a"b"}}`, `{"chunk":{"content":"}}`} {
		t.Run(b, func(t *testing.T) {
			if frames, ended, err := inference.ReadFrames([][]byte{[]byte(b)}); err == nil || !ended {
				t.Errorf("%s is read as %+v", b, frames)
			}
		})
	}
}
