package inference_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/inference"
)

// The rows have texts that resemble the end of a frame, and each field that excludes the fast path of the reader.
func TestFramesAreReadAsWritten(t *testing.T) {
	t.Parallel()

	usage := &inference.Usage{TotalTokens: 1}
	for _, f := range []inference.Frame{
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
		{Vectors: &inference.Vectors{Data: []inference.Vector{"AQIDBA==", "BQYHCA=="}}},
		{Vectors: &inference.Vectors{First: true, Data: []inference.Vector{"AQIDBA=="}}},
		{QueueTime: 0.5, Vectors: &inference.Vectors{Data: []inference.Vector{"/////w=="}}},
	} {
		const before = "before"

		appended, err := f.Append([]byte(before))
		if err != nil {
			t.Fatalf("Append of %+v: %v", f, err)
		}
		b := appended[len(before):]

		t.Run(string(b), func(t *testing.T) {
			var byJSON inference.Frame
			if err := json.Unmarshal(b, &byJSON); err != nil {
				t.Errorf("%s is not JSON: %v", b, err)
			}

			if diff := cmp.Diff(f, byJSON); diff != "" {
				t.Errorf("json.Unmarshal(%s) (-want +got):\n%s", b, diff)
			}

			got, ended, err := inference.ReadFrames([][]byte{b})
			if err != nil || ended != (f.Result != nil) {
				t.Errorf("ReadFrames(%s): ended %v, %v; want ended %v", b, ended, err, f.Result != nil)
			}

			if diff := cmp.Diff([]inference.Frame{f}, got); diff != "" {
				t.Errorf("ReadFrames(%s) (-want +got):\n%s", b, diff)
			}
		})
	}
}

// ReadFrames has a fast path for the usual form, so it must check that form itself.
func TestInvalidFrameIsAnError(t *testing.T) {
	t.Parallel()

	for _, b := range []string{
		`{"chunk":{"content":"a\"}}`,
		"{\"chunk\":{\"content\":\"a\x01\"}}",
		`{"chunk":{"content":"a"b"}}`,
		`{"chunk":{"content":"}}`,
		`{"vectors":{"data":["AAAA","A"A="]}}`,
		`{"vectors":{"data":["AAAA"`,
	} {
		t.Run(b, func(t *testing.T) {
			if frames, ended, err := inference.ReadFrames([][]byte{[]byte(b)}); err == nil || !ended {
				t.Errorf("got %+v, ended %v, %v; want an error, and ended", frames, ended, err)
			}
		})
	}
}
