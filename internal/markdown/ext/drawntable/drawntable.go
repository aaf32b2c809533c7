// Package drawntable reads the tables of Pandoc that are drawn: grid, simple and multi-line ones.
package drawntable

import (
	"slices"
	"strconv"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"presswork/internal/markdown/source"
	"presswork/internal/markdown/tree"
)

// drawnKey is where a parse keeps the tables that were found in the source.
var drawnKey = parser.NewContextKey()

// Tables are the drawn tables of a text, by the offset of their first sign.
type Tables map[int]*drawnTable

// Find finds the tables that are drawn in a text. It returns the text with the texts of
// their cells appended.
func Find(src []byte) (extended []byte, tables Tables) {
	extended, tables = findGrids(src)

	return findRuled(src, extended, tables)
}

// Texts returns the offset of each text of a cell, in order, and that of its table.
func (t Tables) Texts() [][2]int {
	var texts [][2]int

	for at, table := range t {
		for _, row := range table.rows {
			for _, c := range row {
				texts = append(texts, [2]int{c.from, at})
			}
		}
	}
	slices.SortFunc(texts, func(a, b [2]int) int { return a[0] - b[0] })

	return texts
}

// ReaderOf returns a reader of an extended text, of which size bytes are the document, and
// hands the tables to the parser.
func (t Tables) ReaderOf(extended []byte, size int, pc parser.Context) text.Reader {
	if t == nil {
		return text.NewReader(extended)
	}
	pc.Set(drawnKey, t)

	return drawnReader{text.NewReader(extended[:size]), extended}
}

// drawnReader reads a text whose nodes may also be of what stands behind it.
type drawnReader struct {
	text.Reader
	source []byte
}

func (r drawnReader) Source() []byte { return r.source }

// drawnTableParser parses the tables that were found in the source. The blocks in
// their cells are parsed by cells.
type drawnTableParser struct{ cells parser.Parser }

func (drawnTableParser) Trigger() []byte { return []byte{'+'} }

func (drawnTableParser) CanInterruptParagraph() bool { return false }

func (drawnTableParser) CanAcceptIndentedLine() bool { return false }

func (p drawnTableParser) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	return p.open(reader, pc, false)
}

func (p drawnTableParser) open(reader text.Reader, pc parser.Context, ruled bool) (ast.Node, parser.State) {
	tables, _ := pc.Get(drawnKey).(Tables)
	if tables == nil {
		return nil, parser.NoChildren
	}
	_, segment := reader.PeekLine()

	t := tables[segment.Start+max(pc.BlockOffset(), 0)]
	if t == nil || t.ruled != ruled {
		return nil, parser.NoChildren
	}
	n := east.NewTable()
	n.Alignments = t.columns
	n.SetAttributeString(drawnEnd, t.end)

	if t.heads == 0 {
		n.AppendChild(n, &tree.RawBlock{HTML: []byte("<tbody>\n")}) // what the renderer writes behind a head
	}
	opened, offset, indent := pc.OpenedBlocks(), pc.BlockOffset(), pc.BlockIndent()

	for i, cells := range t.rows {
		row := east.NewTableRow(t.columns)
		for _, c := range cells {
			row.AppendChild(row, p.cell(t, c, reader.Source(), pc))
		}

		if i == 0 && t.heads > 0 {
			n.AppendChild(n, east.NewTableHeader(row))
		} else {
			n.AppendChild(n, row)
		}
	}
	pc.SetOpenedBlocks(opened)
	pc.SetBlockOffset(offset)
	pc.SetBlockIndent(indent)
	reader.AdvanceToEOL()

	return n, parser.NoChildren
}

// drawnEnd is the attribute of a table that says where it ends. It is not rendered.
const drawnEnd = "presswork-end"

// ruledTableParser parses those of the tables that begin with any sign. What other
// parsers begin at a sign must be named, or goldmark asks these first.
type ruledTableParser struct {
	drawnTableParser
	signs string
}

func (p ruledTableParser) Trigger() []byte {
	if p.signs == "" { // any
		return nil
	}

	return []byte(p.signs)
}

// CanAcceptIndentedLine: heads that are aligned to the right are indented.
func (ruledTableParser) CanAcceptIndentedLine() bool { return true }

func (p ruledTableParser) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	return p.open(reader, pc, true)
}

// cell parses the blocks of a cell; one paragraph is the cell's own text.
func (p drawnTableParser) cell(t *drawnTable, c drawnCell, src []byte, pc parser.Context) ast.Node {
	cell := east.NewTableCell()

	cell.Alignment = t.columns[c.column]
	for name, span := range map[string]int{"colspan": c.colspan, "rowspan": c.rowspan} {
		if span > 1 {
			cell.SetAttributeString(name, []byte(strconv.Itoa(span)))
		}
	}
	lines := text.NewSegments()

	for at := c.from; at < c.to; {
		end := source.LineEnd(src, at)
		lines.Append(text.NewSegment(at, end))
		at = end
	}
	root := p.cells.Parse(text.NewBlockReader(src, lines), parser.WithContext(pc))
	// Texts are parsed with the rest of the document, when all its labels are known.
	tree.EachBlock(root, func(n ast.Node) {
		if first := n.FirstChild(); first != nil && first.Type() == ast.TypeInline {
			n.RemoveChildren(n)
		}
	})

	if only := root.FirstChild(); only != nil && only.NextSibling() == nil && only.Kind() == ast.KindParagraph {
		cell.SetLines(only.Lines())
		return cell
	}
	tree.MoveChildren(root, cell)

	return cell
}

func (drawnTableParser) Continue(node ast.Node, reader text.Reader, _ parser.Context) parser.State {
	end, _ := node.AttributeString(drawnEnd)
	if _, segment := reader.PeekLine(); segment.Start >= end.(int) {
		return parser.Close
	}
	reader.AdvanceToEOL()

	return parser.Continue | parser.NoChildren
}

func (drawnTableParser) Close(node ast.Node, _ text.Reader, _ parser.Context) {
	node.SetAttributeString(drawnEnd, nil)
}
