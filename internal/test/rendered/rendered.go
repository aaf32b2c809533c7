// Package rendered renders Markdown with one extension, for the tests of that extension.
package rendered

import (
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"presswork/internal/markdown/tree"
)

// Rows holds sources and the HTML to which they must render, by the names of the subtests.
type Rows map[string]struct{ Source, Want string }

// Always enables an extension in every document.
func Always(parser.Context) bool { return true }

// New returns goldmark with CommonMark, tables, raw HTML, the nodes of package tree and the extensions.
func New(extensions ...goldmark.Extender) goldmark.Markdown {
	// An extension that replaces a block parser of goldmark has the priority of that parser. Ask the extension first.
	blocks := parser.DefaultBlockParsers()
	for i := range blocks {
		blocks[i].Priority++
	}

	return goldmark.New(
		goldmark.WithParser(parser.NewParser(parser.WithBlockParsers(blocks...),
			parser.WithInlineParsers(parser.DefaultInlineParsers()...),
			parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...))),
		goldmark.WithExtensions(append(extensions, extension.Table)...),
		goldmark.WithRendererOptions(html.WithUnsafe(),
			renderer.WithNodeRenderers(util.Prioritized(tree.Renderer{}, 100))),
	)
}

// Place changes the tree of a document between parsing and rendering.
type Place func(root ast.Node, src []byte)

// HTML returns the HTML of a source. place may be nil.
func HTML(t *testing.T, m goldmark.Markdown, source string, place Place) string {
	t.Helper()

	src := []byte(source)
	root := m.Parser().Parse(text.NewReader(src))

	if place != nil {
		place(root, src)
	}

	var out strings.Builder
	if err := m.Renderer().Render(&out, src, root); err != nil {
		t.Fatal(err)
	}

	return out.String()
}

// Check renders each row with the extensions and compares the HTML, without space at its ends. place may be
// nil.
func Check(t *testing.T, rows Rows, place Place, extensions ...goldmark.Extender) {
	t.Helper()
	m := New(extensions...)

	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := strings.TrimSpace(HTML(t, m, row.Source, place)); got != row.Want {
				t.Errorf("got %q, want %q", got, row.Want)
			}
		})
	}
}
