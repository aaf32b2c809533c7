package markdown

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"presswork/internal/markdown/tree"
)

// table replaces a division that is nothing but a list of lists by the table whose rows
// these are, nil if it is none.
func (n *division) table() *east.Table {
	list, ok := n.FirstChild().(*ast.List)
	if !ok || list.NextSibling() != nil {
		return nil
	}
	columns := 0

	for row := list.FirstChild(); row != nil; row = row.NextSibling() {
		cells, ok := row.FirstChild().(*ast.List)
		if !ok || cells.NextSibling() != nil {
			return nil
		}
		columns = max(columns, cells.ChildCount())
	}
	t := east.NewTable()

	t.Alignments = make([]east.Alignment, columns)
	for i := range t.Alignments {
		t.Alignments[i] = east.AlignNone
	}

	if n.heads == 0 {
		t.AppendChild(t, &tree.RawBlock{HTML: []byte("<tbody>\n")}) // what the renderer writes behind a head
	}
	i := 0

	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		row := east.NewTableRow(t.Alignments)
		for from := item.FirstChild().FirstChild(); from != nil; from = from.NextSibling() {
			row.AppendChild(row, cellOf(from))
		}

		if i < n.heads && i == 0 {
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

	return t
}

// cellOf is a cell with what an item holds: its text, if it is nothing else.
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

// atoi is a number, 0 for what is none.
func atoi(s string) int {
	n, _ := strconv.Atoi(strings.TrimSpace(s))
	return max(n, 0)
}
