package source_test

import (
	"strings"
	"testing"

	"presswork/internal/markdown/source"
)

func TestWithoutCodeHidesCodeOnly(t *testing.T) {
	t.Parallel()

	for name, row := range map[string]struct{ text, want string }{
		"fence":         {"a\n```go\nx\n```\nb", "a\n_____\n_\n___\nb"},
		"longer fence":  {"````\n```\n````\nb", "____\n___\n____\nb"},
		"tildes":        {"> ~~~\n> x\n> ~~~\n", "_____\n___\n_____\n"},
		"open fence":    {"```\nx\n", "___\n_\n"},
		"indented":      {"a\n\n    x\n\n    y\nb", "a\n\n_____\n\n_____\nb"},
		"continuation":  {"a\n    b", "a\n    b"},
		"list item":     {"- a\n\n    b", "- a\n\n    b"},
		"span":          {"a `x` ``y ` z`` b", "a ___ _________ b"},
		"unclosed span": {"a `x\ny` b", "a `x\ny` b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := string(source.WithoutCode([]byte(row.text)))
			if want := strings.ReplaceAll(row.want, "_", " "); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}

	const indented = "a\n\n    x\n"
	if got := string(source.WithoutFencedCode([]byte(indented))); got != indented {
		t.Errorf("without fenced code: %q", got)
	}
}

func TestLinesFollowEveryRewrite(t *testing.T) {
	t.Parallel()
	s := source.New([]byte("a\nb\nc\n"), 10)
	s.ReplaceLines([]byte("a\na2\nc\n"), []int{0, 0, 2})
	s.ReplaceLines([]byte("a2\nc\nc2\n"), []int{1, 2, 2})
	s.Replace([]byte("long\nc\nc2\n"))

	for text, want := range map[string]int{"long": 10, "c\n": 12, "c2": 12} {
		t.Run(text, func(t *testing.T) {
			if got := s.Lines().At(strings.Index(string(s.Text()), text)); got != want {
				t.Errorf("%q is on line %d, want %d", text, got, want)
			}
		})
	}

	if got := s.Lines().At(-1); got != 0 {
		t.Errorf("a negative offset is on line %d", got)
	}
}

func TestEditKeepsLinesAndFindsCodeAgain(t *testing.T) {
	t.Parallel()
	s := source.New([]byte("a {x\ny} b `c`"), 1)
	_ = s.WithoutCode()
	s.Edit([][]int{{2, 7}}, func(part []int) string { return strings.ToUpper(string(s.Text()[part[0]+1 : part[0]+2])) })

	if got, want := string(s.Text()), "a X\n b `c`"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}

	if got, want := string(s.WithoutCode()), "a X\n b    "; got != want {
		t.Errorf("without code: got %q, want %q", got, want)
	}
}
