package wikilink

import (
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/util"
)

// Extension adds wiki links. A Link renders nothing: replace it when all headings are known.
type Extension struct {
	// Enabled reports whether a document has them.
	Enabled func(parser.Context) bool
}

// Extend implements goldmark.Extender.
func (e Extension) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(parser.WithInlineParsers(util.Prioritized(wikiParser{e.Enabled}, 120)))
}
