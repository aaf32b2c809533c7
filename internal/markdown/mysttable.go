package markdown

import (
	"encoding/csv"
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

// listTable writes the table that a list of lists is.
func (r *mystReader) listTable(n *mystDirective) {
	r.tableCaption(n)
	r.write(n.before, ":::list-table "+n.braces("", "heads="+strconv.Itoa(atoi(n.option("header-rows")))), n.number)
	n.before = blanked(n.before)
	r.shut(n)
}

// table writes a table with its caption.
func (r *mystReader) table(n *mystDirective) {
	r.tableCaption(n)
	r.block(n.body, len(n.before))
	r.write(blanked(n.before), "", n.last())
}

// tableCaption writes the caption of a table, which a label alone makes, too.
func (r *mystReader) tableCaption(n *mystDirective) {
	r.keep(n, Table, "")

	if n.argument != "" || n.label() != "" {
		r.alone(n, strings.TrimRight(strings.TrimRight("Table: "+n.argument, " ")+" "+n.braces(Table), " "))
		n.before = blanked(n.before)
		delete(n.options, "name")
		delete(n.options, "label")
	}
}

// csvTable writes the table of values with commas between.
func (r *mystReader) csvTable(n *mystDirective) {
	const most = 1000 // columns
	r.tableCaption(n)

	var source strings.Builder
	if head := n.option("header"); head != "" {
		source.WriteString(head + "\n")
	}

	for _, l := range n.body {
		source.WriteString(strings.TrimLeft(l.text, " \t>") + "\n")
	}
	values := csv.NewReader(strings.NewReader(source.String()))
	values.FieldsPerRecord, values.LazyQuotes, values.TrimLeadingSpace = -1, true, true

	rows, err := values.ReadAll()
	if err != nil || len(rows) == 0 || len(rows[0]) > most {
		r.warn(n, "has no values that can be read")
		r.block(n.body, len(n.before))

		return
	}
	var lines []string

	for i, row := range rows {
		for j := range row {
			row[j] = strings.ReplaceAll(strings.Join(strings.Fields(row[j]), " "), "|", `\|`)
		}

		lines = append(lines, "| "+strings.Join(row, " | ")+" |")
		if i == 0 {
			lines = append(lines, "|"+strings.Repeat("---|", len(row)))
		}
	}
	r.alone(n, lines...)
}

// atoi is a number, 0 for what is none.
func atoi(s string) int {
	n, _ := strconv.Atoi(strings.TrimSpace(s))
	return max(n, 0)
}
