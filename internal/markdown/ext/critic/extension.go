package critic

import (
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/util"
)

// Extension adds the changes of CriticMarkup. They become ins, del, mark and span elements.
type Extension struct {
	// Enabled reports whether the parsed document may have changes. Required.
	Enabled func(parser.Context) bool
}

// Extend implements goldmark.Extender. The parser comes before that of attributes (450), which also begin with a brace.
// The transformer comes after that of attributes (100), which joins the texts that goldmark has cut.
func (e Extension) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(
		parser.WithInlineParsers(util.Prioritized(markParser{e.Enabled}, 440)),
		parser.WithASTTransformers(util.Prioritized(transformer{}, 105)),
	)
}
