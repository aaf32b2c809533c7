package inlinemark

import (
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/util"
)

// Extension adds the elements mark, ins, sup and sub.
type Extension struct{}

// Extend implements goldmark.Extender.
func (Extension) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(parser.WithInlineParsers(
		util.Prioritized(scriptParser{}, 470),
		util.Prioritized(markParser{'=', "mark"}, 480),
		util.Prioritized(markParser{'+', "ins"}, 480),
	))
}
