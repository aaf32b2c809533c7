package gateway_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/inference"
	"presswork/internal/inference/gateway"
)

// reasoner returns a model with a reasoning parser.
func reasoner(parser string) *inference.Model {
	return inference.NewCatalogue([]inference.Model{{ID: "m", Reasoning: inference.Reasoning{Parser: parser}}}).Models()[0]
}

func TestReasoningIsSeparatedFromText(t *testing.T) {
	t.Parallel()

	for i, test := range []struct{ parser, effort, text, content, reasoning string }{
		{inference.ParseThink, "", "<think>\nA\n\nB\n</think>\n\nHi ", "Hi ", "A\n\nB"},
		{inference.ParseThink, "", "\n <think></think>Hi", "Hi", ""},
		{inference.ParseThink, "", "Hi <think>no</think>", "Hi <think>no</think>", ""},
		{inference.ParseThink, "", "<think>cut of", "", "cut of"},
		{inference.ParseThink, "", "<think>a </thin b</think>c", "c", "a </thin b"},
		{inference.ParseThink, "", "  <thi", "  <thi", ""},
		{inference.ParseField, "", "<think>a</think>b</think>c", "b</think>c", "a"},
		{inference.ParsePrefilled, "", "A\n</think>\n\nHi", "Hi", "A"},
		{inference.ParsePrefilled, "", "<think>A</think>Hi", "Hi", "A"},
		{inference.ParsePrefilled, "", "</think>Hi", "Hi", ""},
		{inference.ParsePrefilled, "none", "Hi", "Hi", ""},
		{inference.ParsePrefilled, "none", "<think>\n\n</think>\n\nHi", "Hi", ""},
		{inference.ParseHarmony, "", "<|channel|>analysis<|message|>A<|end|><|start|>assistant<|channel|>analysis<|message|>B<|end|><|start|>assistant<|channel|>final<|message|>a <| b<|return|>", "a <| b", "A\nB"},
		{inference.ParseHarmony, "", "parsed already", "parsed already", ""},
		{inference.ParseHarmony, "", "<|start|>assistant<|channel|>commentary<|message|>Let me look.<|end|><|start|>assistant to=functions.f<|channel|>commentary json<|message|>{}<|call|>", "Let me look.", ""},
	} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			content, reasoning, calls, err := gateway.Normalise(
				reasoner(test.parser),
				&inference.Request{
					ReasoningFormat:       inference.Parsed,
					ReasoningEffort:       test.effort,
					DisableToolValidation: true,
				},
				[]inference.Delta{{Content: test.text}},
			)
			if err != nil || content != test.content || reasoning != test.reasoning {
				t.Errorf("%s %q: content %q, reasoning %q (%v); want %q, %q", test.parser, test.text,
					content, reasoning, err, test.content, test.reasoning)
			}

			if want := strings.Count(test.text, "to=functions"); len(calls) != want {
				t.Errorf("%q: calls %+v, want %d", test.text, calls, want)
			}
		})
	}
}

// The answer does not depend on how the text is cut into pieces, in any parser and format.
func FuzzPiecesDoNotChangeAnswer(f *testing.F) {
	f.Add("<think>\nOkay\n</think>\n\nHi", 3)
	f.Add(
		"<|start|>assistant<|channel|>analysis<|message|>A<|end|><|channel|>commentary to=functions.f <|constrain|>json<|message|>{\"a\":1}<|call|><|x|><",
		1,
	)
	f.Add("  </think> x </think", 2)
	f.Fuzz(func(t *testing.T, text string, size int) {
		if !utf8.ValidString(text) || size <= 0 {
			return
		}

		for _, parser := range []string{inference.ParseField, inference.ParseThink, inference.ParsePrefilled, inference.ParseHarmony} {
			for _, format := range []inference.ReasoningFormat{inference.Raw, inference.Parsed, inference.Hidden} {
				m, r := reasoner(parser), &inference.Request{ReasoningFormat: format, DisableToolValidation: true}

				content, reasoning, calls, err := gateway.Normalise(m, r, []inference.Delta{{Content: text}})
				if err != nil {
					t.Fatal(err)
				}

				var deltas []inference.Delta
				for piece := range chunked(text, size) {
					deltas = append(deltas, inference.Delta{Content: piece})
				}

				content2, reasoning2, calls2, err := gateway.Normalise(m, r, deltas)
				if err != nil || content != content2 || reasoning != reasoning2 || len(calls) != len(calls2) {
					t.Fatalf("%s, %s: whole %q %q %v, in pieces %q %q %v (%v)", parser, format, content,
						reasoning, calls, content2, reasoning2, calls2, err)
				}

				for i := range calls {
					if !cmp.Equal(calls[i], calls2[i]) {
						t.Fatalf("call %+v, in pieces %+v", calls[i], calls2[i])
					}
				}

				if format == inference.Hidden && reasoning != "" || format == inference.Raw && reasoning != "" {
					t.Fatalf("%s gives reasoning %q", format, reasoning)
				}
			}
		}
	})
}

// chunked cuts text into pieces of size bytes, also in the middle of a character.
func chunked(text string, size int) func(func(string) bool) {
	return func(yield func(string) bool) {
		for from := 0; from < len(text); from += size {
			if !yield(text[from:min(from+size, len(text))]) {
				return
			}
		}
	}
}

func BenchmarkNormalise(b *testing.B) {
	b.ReportAllocs()
	push := gateway.NormaliseLoop(reasoner(inference.ParseThink),
		&inference.Request{ReasoningFormat: inference.Parsed}, discard)

	for i := 0; b.Loop(); i++ {
		if i%1_000_000 == 0 { // an answer has an end
			push = gateway.NormaliseLoop(reasoner(inference.ParseThink),
				&inference.Request{ReasoningFormat: inference.Parsed},
				discard)
		}

		if err := push(&inference.Delta{Content: " token"}); err != nil {
			b.Fatal(err)
		}
	}
}
