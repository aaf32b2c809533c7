package lineblock

import (
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// Extension adds line blocks.
type Extension struct {
	// Enabled reports whether the parsed document may have line blocks. Required.
	Enabled func(parser.Context) bool
}

// Extend implements goldmark.Extender. The transformer comes after that of tables (200), whose rows also begin with a
// bar.
func (e Extension) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(parser.WithParagraphTransformers(util.Prioritized(transformer{e.Enabled}, 210)))
	m.Renderer().AddOptions(renderer.WithNodeRenderers(util.Prioritized(nodeRenderer{}, 100)))
}
