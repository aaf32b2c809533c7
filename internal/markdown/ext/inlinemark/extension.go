package inlinemark

import (
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/util"
)

// Extension adds the elements mark, ins, sup and sub.
type Extension struct{}

// Extend implements goldmark.Extender. Scripts come before goldmark's strikethrough (500), which also begins with ~.
// Marks come after the changes of CriticMarkup (440), such as {++added++}.
func (Extension) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(parser.WithInlineParsers(
		util.Prioritized(scriptParser{}, 470),
		util.Prioritized(markParser{'=', "mark"}, 480),
		util.Prioritized(markParser{'+', "ins"}, 480),
	))
}
