package wikilink_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"presswork/internal/markdown/ext/wikilink"
)

func TestResolveLinksWhatIsPrinted(t *testing.T) {
	t.Parallel()

	for name, row := range map[string]struct {
		source, want string
		keepPlain    bool
		missing      string
	}{
		"heading":            {source: "[[#Two]]", want: `<a href="#two">Two</a>`},
		"heading below":      {source: "[[#One#two]]", want: `<a href="#two">One#two</a>`},
		"missing heading":    {source: "[[#Three|x]]", want: "x", missing: "Three"},
		"block of Obsidian":  {source: "[[#^id|x]]", want: "x"},
		"document":           {source: "[[Page|x]]", want: `<a href="Page.md">x</a>`},
		"heading elsewhere":  {source: "[[Page#A b]]", want: `<a href="Page.md#a-b">Page › A b</a>`},
		"block elsewhere":    {source: "[[Page#^id|x]]", want: `<a href="Page.md">x</a>`},
		"missing document":   {source: "[[Other|x]]", want: "x"},
		"missing, plain":     {source: "[[Other]]", want: "Other"},
		"plain text":         {source: "[[Other]]", want: "[[Other]]", keepPlain: true},
		"hostile nesting":    {source: strings.Repeat("[[", 50) + "Page]]", want: strings.Repeat("[[", 50) + "Page]]"},
		"address in heading": {source: "[[javascript:x]]", want: "javascript:x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m := goldmark.New(goldmark.WithExtensions(
				wikilink.Extension{Enabled: func(parser.Context) bool { return true }},
			))
			src := []byte(row.source)
			root := m.Parser().Parse(text.NewReader(src))
			missing := ""
			wikilink.Resolve(root, wikilink.Targets{
				Headings: map[string]string{"two": "two"},
				Slug:     func(heading string) string { return strings.ReplaceAll(strings.ToLower(heading), " ", "-") },
				Document: func(destination string, _ int) bool {
					page, _, _ := strings.Cut(destination, "#")
					return page == "Page.md"
				},
				Missing:   func(heading string, _ int) { missing = heading },
				KeepPlain: row.keepPlain,
			})

			var out bytes.Buffer
			if err := m.Renderer().Render(&out, src, root); err != nil {
				t.Fatal(err)
			}

			if got := strings.TrimSuffix(strings.TrimPrefix(out.String(), "<p>"), "</p>\n"); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}

			if missing != row.missing {
				t.Errorf("the heading %q is missing, want %q", missing, row.missing)
			}
		})
	}
}
