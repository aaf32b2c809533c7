package reasoning_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/inference"
	"presswork/internal/inference/reasoning"
)

// split feeds the parts of a text to s. It returns one line for each sequence of pieces of the same kind, such as
// "reasoning: why". A line feed in a piece is shown as ↵.
func split(s reasoning.Splitter, parts ...string) string {
	var pieces reasoning.Pieces
	for _, part := range parts {
		s.Feed(part, &pieces)
	}
	s.End(&pieces)

	names := map[reasoning.Kind]string{
		reasoning.Content:   "content",
		reasoning.Reasoning: "reasoning",
		reasoning.Call:      "call",
	}

	var out strings.Builder
	last := reasoning.Kind(0)

	for _, p := range pieces {
		if p.Kind != last || p.Name != "" {
			fmt.Fprintf(&out, "\n%s", names[p.Kind])

			if p.Name != "" {
				fmt.Fprintf(&out, " %s", p.Name)
			}
			out.WriteString(": ")
		}
		out.WriteString(strings.ReplaceAll(p.Text, "\n", "↵"))
		last = p.Kind
	}

	return strings.TrimPrefix(out.String(), "\n")
}

func TestSplittersSeparateReasoningTextAndCalls(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		parser      string
		notThinking bool
		text        string
		want        string
	}{
		"no block":           {inference.ParseThink, false, "Hello", "content: Hello"},
		"block":              {inference.ParseThink, false, "\n<think>\nwhy\n</think>\n\nHello", "reasoning: why\ncontent: Hello"},
		"empty block":        {inference.ParseThink, false, "<think>\n\n</think>\nHello", "content: Hello"},
		"block without end":  {inference.ParseThink, false, "<think>why", "reasoning: why"},
		"block within text":  {inference.ParseThink, false, "Hello <think>x</think>", "content: Hello <think>x</think>"},
		"almost a tag":       {inference.ParseThink, false, "<thin ice>", "content: <thin ice>"},
		"almost an end":      {inference.ParseThink, false, "<think>a </thin b</think>c", "reasoning: a </thin b\ncontent: c"},
		"second block":       {inference.ParseThink, false, "<think>a</think>b<think>c</think>", "reasoning: a\ncontent: b<think>c</think>"},
		"prefilled":          {inference.ParsePrefilled, false, "why</think>\nHello", "reasoning: why\ncontent: Hello"},
		"prefilled with tag": {inference.ParsePrefilled, false, "<think>why</think>Hello", "reasoning: why\ncontent: Hello"},
		"prefilled, off":     {inference.ParsePrefilled, true, "Hello", "content: Hello"},
		"harmony": {
			inference.ParseHarmony, false,
			"<|channel|>analysis<|message|>why<|end|><|start|>assistant<|channel|>final<|message|>Hello<|return|>",
			"reasoning: why\ncontent: Hello",
		},
		"harmony, two thoughts": {
			inference.ParseHarmony, false,
			"<|channel|>analysis<|message|>a<|end|><|channel|>analysis<|message|>b<|end|>",
			"reasoning: a↵b",
		},
		"harmony, call": {
			inference.ParseHarmony, false,
			"<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{\"city\":\"Oslo\"}<|call|>",
			`call weather: {"city":"Oslo"}`,
		},
		"harmony, call without arguments": {
			inference.ParseHarmony, false, "<|channel|>commentary to=functions.now<|message|><|call|>", "call now:",
		},
		"harmony, plain text":    {inference.ParseHarmony, false, "Hello <|x", "content: Hello <|x"},
		"harmony, unknown token": {inference.ParseHarmony, false, "<|message|>a <|b|> c", "content: a <|b|> c"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			whole := split(reasoning.New(c.parser, !c.notThinking), c.text)
			if diff := cmp.Diff(c.want, strings.TrimRight(whole, " ")); diff != "" {
				t.Errorf("whole (-want +got):\n%s", diff)
			}

			for at := range len(c.text) {
				if got := split(reasoning.New(c.parser, !c.notThinking), c.text[:at], c.text[at:]); got != whole {
					t.Errorf("cut at byte %d: got %q, want %q as for the whole text", at, got, whole)
				}
			}

			if got := split(reasoning.New(c.parser, !c.notThinking), strings.Split(c.text, "")...); got != whole {
				t.Errorf("cut after each character: got %q, want %q as for the whole text", got, whole)
			}
		})
	}
}
