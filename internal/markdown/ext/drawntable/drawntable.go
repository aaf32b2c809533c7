// Package drawntable reads the tables that Pandoc draws with characters: grid tables, simple tables and
// multi-line tables (https://pandoc.org/MANUAL.html#tables).
//
// Find looks for tables before the document is parsed, and appends the texts of their cells to the source. A node of
// goldmark is a range of the source, but a drawn cell is not contiguous there. The parser of Extension then creates the
// nodes of a table at its first line.
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

// tablesKey is the key of the Tables in a parser.Context.
var tablesKey = parser.NewContextKey()

// Tables holds the drawn tables of a source by the offsets of their first characters. Nil means that there are none.
type Tables map[int]*table

// Find finds the drawn tables of a source. extended is the source with the texts of the cells appended. If there is no
// table, it is the source itself.
func Find(src []byte) (extended []byte, tables Tables) {
	extended, tables = findGrids(src)

	return findRuled(src, extended, tables)
}

// CellOffsets returns two offsets for each cell, that of its text in the extended source and that of its table. The
// pairs are in the order of the texts, as source.Lines.Append expects them.
func (t Tables) CellOffsets() [][2]int {
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

// NewReader returns a reader for an extended source whose first size bytes are the document. It also puts the tables
// into pc, where the parser finds them.
func (t Tables) NewReader(extended []byte, size int, pc parser.Context) text.Reader {
	if t == nil {
		return text.NewReader(extended)
	}
	pc.Set(tablesKey, t)

	return drawnReader{text.NewReader(extended[:size]), extended}
}

// drawnReader reads a document, but its Source has the texts of the cells as well: nodes may refer to
// them.
type drawnReader struct {
	text.Reader
	source []byte
}

func (r drawnReader) Source() []byte { return r.source }

// tableParser creates the nodes of the grid tables that Find has found. cells parses the blocks in
// their cells.
type tableParser struct{ cells parser.Parser }

func (tableParser) Trigger() []byte { return []byte{'+'} }

func (tableParser) CanInterruptParagraph() bool { return false }

func (tableParser) CanAcceptIndentedLine() bool { return false }

func (p tableParser) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	return p.open(reader, pc, false)
}

// open creates the node of the table at the current offset, if there is one of the kind ruled.
func (p tableParser) open(reader text.Reader, pc parser.Context, ruled bool) (ast.Node, parser.State) {
	tables, _ := pc.Get(tablesKey).(Tables)
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
	n.SetAttributeString(endAttribute, t.end)

	if t.heads == 0 {
		n.AppendChild(n, &tree.RawBlock{HTML: []byte("<tbody>\n")}) // the renderer writes this tag only after a head
	}
	// Parsing the cells uses the same context: restore its state afterwards.
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

// endAttribute is the attribute that holds the offset after a table until the table is closed.
const endAttribute = "presswork-end"

// ruledTableParser creates the nodes of the ruled tables, which begin with any character.
type ruledTableParser struct {
	tableParser
	// triggers are the characters on which goldmark asks the parser, "" for all.
	triggers string
}

func (p ruledTableParser) Trigger() []byte {
	if p.triggers == "" {
		return nil
	}

	return []byte(p.triggers)
}

// CanAcceptIndentedLine returns true: a head that is aligned to the right is indented.
func (ruledTableParser) CanAcceptIndentedLine() bool { return true }

func (p ruledTableParser) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	return p.open(reader, pc, true)
}

// cell returns the node of a cell with its blocks. If the only block is a paragraph, its text becomes that of the cell.
func (p tableParser) cell(t *table, c cell, src []byte, pc parser.Context) ast.Node {
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
	// Drop the inline content: goldmark parses it with the rest of the document, when all link
	// definitions are known.
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

// Continue accepts the lines of the table, whose end Open has found.
func (tableParser) Continue(node ast.Node, reader text.Reader, _ parser.Context) parser.State {
	end, _ := node.AttributeString(endAttribute)
	if _, segment := reader.PeekLine(); segment.Start >= end.(int) {
		return parser.Close
	}
	reader.AdvanceToEOL()

	return parser.Continue | parser.NoChildren
}

func (tableParser) Close(node ast.Node, _ text.Reader, _ parser.Context) {
	node.SetAttributeString(endAttribute, nil)
}
