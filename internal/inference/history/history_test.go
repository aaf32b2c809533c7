package history_test

import (
	"strings"
	"testing"

	"presswork/internal/inference"
	"presswork/internal/inference/history"
)

// text returns the parts of a message with that text.
func text(s string) []inference.Part { return []inference.Part{{Text: s}} }

func TestMessagesAreInTheOrderThatModelsNeed(t *testing.T) {
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
		t.Errorf("the call without a result is %q, it waits: %t and %t; want only a", got, h.Waits("a"), h.Waits("b"))
	}
	h.AddResult(inference.Message{ToolCallID: "a"})
	h.Add(inference.Message{Role: inference.User, Parts: text("And?")})
	h.AddThought("Nothing follows.")

	var got []string
	for _, m := range h.Messages() {
		got = append(got, m.Role+m.ToolCallID+":"+m.Text())
	}

	// The picture of a result is a user message after all results. Thoughts without an answer are dropped.
	const want = "user:Hi assistant:Wait. toolb:two toola: user: user:And?"
	if s := strings.Join(got, " "); s != want || h.Unanswered() != "" {
		t.Errorf("got %s with the unanswered call %q, want %s with none", s, h.Unanswered(), want)
	}
}
