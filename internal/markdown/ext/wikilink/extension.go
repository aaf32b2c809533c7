package wikilink

import (
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/util"
)

// Extension adds wiki links. Resolve must replace each Link before rendering.
type Extension struct {
	// Enabled reports whether the document may have wiki links.
	Enabled func(parser.Context) bool
}

// Extend implements goldmark.Extender.
func (e Extension) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(parser.WithInlineParsers(util.Prioritized(wikiParser{e.Enabled}, 120)))
}
