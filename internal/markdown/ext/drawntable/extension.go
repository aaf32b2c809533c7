package drawntable

import (
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/util"
)

// Extension adds drawn tables. Find must find them before the document is parsed.
type Extension struct {
	// Cells parses the blocks of cells.
	Cells parser.Parser
}

// Extend implements goldmark.Extender.
func (e Extension) Extend(m goldmark.Markdown) {
	drawn := drawnTableParser{e.Cells}
	m.Parser().AddOptions(parser.WithBlockParsers(
		util.Prioritized(drawn, 90),
		util.Prioritized(ruledTableParser{drawn, "-+*#>`~_|<:[=$&!%@0123456789"}, 91),
		util.Prioritized(ruledTableParser{drawn, ""}, 91),
	))
}
