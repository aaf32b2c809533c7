package markdown_test

import (
	"strings"
	"testing"

	"presswork/internal/markdown"
)

// BenchmarkRender renders a document of ordinary Markdown, about 100 KB.
func BenchmarkRender(b *testing.B) {
	src := []byte(
		strings.Repeat(
			"## A section of the text\n\nThe *quick* **brown** fox doesn't `jump` over [the](https://lazy.dog/x) dog: it is 10:30, "+
				"and nobody wants to move.\nThe second line of a paragraph is like the first one, but for its end.\n\n- one item\n- another (in parentheses)\n\n"+
				"| a | b |\n|---|---|\n| 1 | two |\n\n```go\nfunc main() { println(1) }\n```\n\n",
			250,
		),
	)
	r := markdown.New()
	b.SetBytes(int64(len(src)))

	for b.Loop() {
		if _, err := r.Parse(b.Context(), src, markdown.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
