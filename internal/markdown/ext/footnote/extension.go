package footnote

import (
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// Extension adds footnotes, [^label], and inline notes, ^[text]. Goldmark's own extension takes quadratic time for many
// notes; this one takes linear time.
type Extension struct{}

// Extend implements goldmark.Extender. The priorities are those of goldmark's extension. The inline parsers come before
// those of wiki links (120), references (180) and links (200), which also begin with a bracket.
func (Extension) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(
		parser.WithBlockParsers(util.Prioritized(noteParser{extension.NewFootnoteBlockParser()}, 999)),
		parser.WithInlineParsers(util.Prioritized(noteLinkParser{}, 101), util.Prioritized(inlineNoteParser{}, 101)),
		parser.WithASTTransformers(util.Prioritized(noteTransformer{}, 999)),
	)
	m.Renderer().AddOptions(renderer.WithNodeRenderers(
		util.Prioritized(extension.NewFootnoteHTMLRenderer(extension.WithFootnoteBacklinkHTML("↩\ufe0e")), 500),
	))
}
