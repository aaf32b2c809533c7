package math

import (
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// Extension adds formulas: $…$, $$…$$, \(…\), \[…\] and environments of LaTeX. A formula without Embed
// renders its source.
type Extension struct{}

// Extend implements goldmark.Extender.
func (Extension) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(
		parser.WithBlockParsers(util.Prioritized(blockParser{}, 690), util.Prioritized(latexBlockParser{}, 690)),
		parser.WithInlineParsers(util.Prioritized(dollarParser{}, 100), util.Prioritized(escapeParser{}, 100)),
	)
	m.Renderer().AddOptions(renderer.WithNodeRenderers(util.Prioritized(nodeRenderer{}, 100)))
}
