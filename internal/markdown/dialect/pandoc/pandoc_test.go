package pandoc_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"

	"presswork/internal/markdown/dialect/pandoc"
)

func TestRawAttributesDecideWhatCodeStandsFor(t *testing.T) {
	t.Parallel()

	for name, row := range map[string]struct{ source, want, dropped string }{
		"HTML in a line":    {"a `<b>c</b>`{=html} d", "<p>a <b>c</b> d</p>\n", ""},
		"block of HTML":     {"```{=html5}\n<hr>\n```\n", "<hr>\n", ""},
		"LaTeX in a line":   {"a `\\x`{=latex} b", "<p>a  b</p>\n", "latex 14"},
		"block of LaTeX":    {"```{=latex}\n\\x\n```\n", "", "latex 3"},
		"page break":        {"```{=latex}\n\\clearpage\n```\n", "<p></p>\n", ""},
		"text after a span": {"`a` {=html}", "<p><code>a</code> {=html}</p>\n", ""},
		"code":              {"```html\n<hr>\n```\n", "<pre><code class=\"language-html\">&lt;hr&gt;\n</code></pre>\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m, src := goldmark.New(goldmark.WithRendererOptions(html.WithUnsafe())), []byte(row.source)
			root := m.Parser().Parse(text.NewReader(src))
			dropped := ""
			pandoc.PlaceRaw(root, src, func(format string, offset int) { dropped = fmt.Sprint(format, " ", offset) })

			var out bytes.Buffer
			if err := m.Renderer().Render(&out, src, root); err != nil {
				t.Fatal(err)
			}

			if out.String() != row.want || dropped != row.dropped {
				t.Errorf("got %q, dropped %q; want %q, %q", out.String(), dropped, row.want, row.dropped)
			}
		})
	}
}
