package history_test

import (
	"strings"
	"testing"

	"presswork/internal/inference"
	"presswork/internal/inference/history"
)

func text(s string) []inference.Part { return []inference.Part{{Text: s}} }

func TestResultsFollowTheirCallsAndPicturesFollowTheResults(t *testing.T) {
	t.Parallel()
	h := history.New()

	h.Add(inference.Message{Role: inference.User, Parts: text("Hi")})
	h.AddCall(inference.ToolCall{ID: "a"})
	h.AddCall(inference.ToolCall{ID: "b"})
	h.AddResult(inference.Message{
		ToolCallID: "b", Parts: append(text("two"), inference.Part{Image: &inference.Image{URL: "x"}}),
	})
	h.Assistant().Parts = text("Wait.")

	if got := h.Unanswered(); got != "a" || !h.Waits("a") || h.Waits("b") {
		t.Errorf("the call without a result is %q, want a", got)
	}
	h.AddResult(inference.Message{ToolCallID: "a"})
	h.Add(inference.Message{Role: inference.User, Parts: text("And?")})
	h.AddThought("Nothing follows.")

	var got []string
	for _, m := range h.Messages() {
		got = append(got, m.Role+m.ToolCallID+":"+m.Text())
	}

	const want = "user:Hi assistant:Wait. toolb:two toola: user: user:And?"
	if s := strings.Join(got, " "); s != want || h.Unanswered() != "" {
		t.Errorf("got %s, want %s", s, want)
	}
}
