package abbreviation

import (
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/util"
)

// Extension adds abbreviations: their definitions are removed, and their uses become abbr elements.
type Extension struct{}

// Extend implements goldmark.Extender. Definitions are read after those of links (100) and before tables (200).
// Abbreviations are marked after the transformer of attributes (100), which joins the texts that goldmark has cut.
func (Extension) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(
		parser.WithParagraphTransformers(util.Prioritized(abbreviationTransformer{}, 150)),
		parser.WithASTTransformers(util.Prioritized(abbreviationMarker{}, 110)),
	)
}
