package wikilink

import (
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/util"
)

// Extension adds wiki links. Resolve must replace each Link before rendering.
type Extension struct {
	// Enabled reports whether the parsed document may have wiki links. Required.
	Enabled func(parser.Context) bool
}

// Extend implements goldmark.Extender. The parser comes before those of references (180) and links (200), which also
// begin with a bracket, and after that of footnotes (101).
func (e Extension) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(parser.WithInlineParsers(util.Prioritized(wikiParser{e.Enabled}, 120)))
}
