package admonition

import (
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"presswork/internal/markdown/tree"
)

// makeTable replaces a division by a table if its only block is a list whose items are lists, the rows. It leaves any
// other division as it is.
func makeTable(n *tree.Division) {
	list, ok := n.FirstChild().(*ast.List)
	if !ok || list.NextSibling() != nil {
		return
	}
	columns := 0

	for row := list.FirstChild(); row != nil; row = row.NextSibling() {
		cells, ok := row.FirstChild().(*ast.List)
		if !ok || cells.NextSibling() != nil {
			return
		}
		columns = max(columns, cells.ChildCount())
	}
	t := east.NewTable()

	t.Alignments = make([]east.Alignment, columns)
	for i := range t.Alignments {
		t.Alignments[i] = east.AlignNone
	}

	if n.Heads == 0 {
		t.AppendChild(t, &tree.RawBlock{HTML: []byte("<tbody>\n")}) // the renderer writes this tag only after a head
	}
	i := 0

	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		row := east.NewTableRow(t.Alignments)
		for from := item.FirstChild().FirstChild(); from != nil; from = from.NextSibling() {
			row.AppendChild(row, cellOf(from))
		}

		if i < n.Heads && i == 0 {
			t.AppendChild(t, east.NewTableHeader(row))
		} else {
			t.AppendChild(t, row)
		}
		i++
	}

	for _, name := range []string{"id", "class"} {
		if value := tree.AttributeText(n, name); value != "" {
			t.SetAttributeString(name, []byte(value))
		}
	}
	tree.Replace(n, t)
}

// cellOf returns a cell with the blocks of a list item. If its only block is a paragraph, the cell has the paragraph's
// text.
func cellOf(item ast.Node) *east.TableCell {
	cell := east.NewTableCell()

	from := item
	if only := item.FirstChild(); only != nil && only.NextSibling() == nil &&
		(only.Kind() == ast.KindTextBlock || only.Kind() == ast.KindParagraph) {
		from = only
	}
	tree.MoveChildren(from, cell)

	return cell
}
