package drawntable

import (
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/util"
)

// Extension adds drawn tables. The reader of the document must come from Tables.NewReader, since the
// parser only knows the tables that Find has found.
type Extension struct {
	// Cells parses the blocks of cells. It need not parse inline content, which is parsed with the document.
	Cells parser.Parser
}

// Extend implements goldmark.Extender.
func (e Extension) Extend(m goldmark.Markdown) {
	drawn := tableParser{e.Cells}
	// Goldmark asks the parsers without a trigger last, so the second parser lists the characters on
	// which other block parsers are triggered. All other characters are for the third.
	// They come before the parsers of underlined headings (100), thematic breaks (200) and indented code (500): lines of
	// dashes and indented heads would be these.
	m.Parser().AddOptions(parser.WithBlockParsers(
		util.Prioritized(drawn, 90),
		util.Prioritized(ruledTableParser{drawn, "-+*#>`~_|<:[=$&!%@0123456789"}, 91),
		util.Prioritized(ruledTableParser{drawn, ""}, 91),
	))
}
