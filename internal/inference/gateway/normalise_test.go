package gateway_test

import (
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

	for name, test := range map[string]struct{ parser, effort, text, content, reasoning string }{
		"thoughts of two paragraphs":     {inference.ParseThink, "", "<think>\nA\n\nB\n</think>\n\nHi ", "Hi ", "A\n\nB"},
		"empty thoughts":                 {inference.ParseThink, "", "\n <think></think>Hi", "Hi", ""},
		"a tag within the text":          {inference.ParseThink, "", "Hi <think>no</think>", "Hi <think>no</think>", ""},
		"thoughts that are cut off":      {inference.ParseThink, "", "<think>cut of", "", "cut of"},
		"half an end tag":                {inference.ParseThink, "", "<think>a </thin b</think>c", "c", "a </thin b"},
		"half a start tag":               {inference.ParseThink, "", "  <thi", "  <thi", ""},
		"a parsed field next to a tag":   {inference.ParseField, "", "<think>a</think>b</think>c", "b</think>c", "a"},
		"a start tag in the prompt":      {inference.ParsePrefilled, "", "A\n</think>\n\nHi", "Hi", "A"},
		"a start tag in both":            {inference.ParsePrefilled, "", "<think>A</think>Hi", "Hi", "A"},
		"an end tag alone":               {inference.ParsePrefilled, "", "</think>Hi", "Hi", ""},
		"no effort":                      {inference.ParsePrefilled, "none", "Hi", "Hi", ""},
		"no effort, and empty thoughts":  {inference.ParsePrefilled, "none", "<think>\n\n</think>\n\nHi", "Hi", ""},
		"harmony":                        {inference.ParseHarmony, "", "<|channel|>analysis<|message|>A<|end|><|start|>assistant<|channel|>analysis<|message|>B<|end|><|start|>assistant<|channel|>final<|message|>a <| b<|return|>", "a <| b", "A\nB"},
		"harmony that the server parsed": {inference.ParseHarmony, "", "parsed already", "parsed already", ""},
		"a preamble of harmony":          {inference.ParseHarmony, "", "<|start|>assistant<|channel|>commentary<|message|>Let me look.<|end|><|start|>assistant to=functions.f<|channel|>commentary json<|message|>{}<|call|>", "Let me look.", ""},
	} {
		t.Run(name, func(t *testing.T) {
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
				t.Errorf("got content %q, reasoning %q, %v; want %q, %q",
					content, reasoning, err, test.content, test.reasoning)
			}

			if want := strings.Count(test.text, "to=functions"); len(calls) != want {
				t.Errorf("got calls %+v, want %d", calls, want)
			}
		})
	}
}

// With any parser and format, the answer does not depend on how the text is cut into pieces.
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
						t.Fatalf("got call %+v in pieces, want %+v", calls2[i], calls[i])
					}
				}

				if format != inference.Parsed && reasoning != "" {
					t.Fatalf("%s: got reasoning %q, want none", format, reasoning)
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

// BenchmarkNormalise measures the time of one token.
func BenchmarkNormalise(b *testing.B) {
	b.ReportAllocs()
	push := gateway.NormaliseLoop(reasoner(inference.ParseThink),
		&inference.Request{ReasoningFormat: inference.Parsed}, discard)

	for i := 0; b.Loop(); i++ {
		if i%1_000_000 == 0 { // below the size limit of an answer
			push = gateway.NormaliseLoop(reasoner(inference.ParseThink),
				&inference.Request{ReasoningFormat: inference.Parsed},
				discard)
		}

		if err := push(&inference.Delta{Content: " token"}); err != nil {
			b.Fatal(err)
		}
	}
}
