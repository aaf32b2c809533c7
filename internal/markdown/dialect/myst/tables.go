package myst

import (
	"encoding/csv"
	"strconv"
	"strings"

	"presswork/internal/markdown/label"
)

// listTable writes the table that a list of lists is.
func (r *directiveReader) listTable(n *directive) {
	r.tableCaption(n)
	r.write(n.before, ":::list-table "+n.braces("", "heads="+strconv.Itoa(atoi(n.option("header-rows")))), n.number)
	n.before = blanked(n.before)
	r.shut(n)
}

// table writes a table with its caption.
func (r *directiveReader) table(n *directive) {
	r.tableCaption(n)
	r.block(n.body, len(n.before))
	r.write(blanked(n.before), "", n.last())
}

// tableCaption writes the caption of a table, which a label alone makes, too.
func (r *directiveReader) tableCaption(n *directive) {
	r.keep(n, label.Table, "")

	if n.argument != "" || n.label() != "" {
		r.alone(n, strings.TrimRight(strings.TrimRight("Table: "+n.argument, " ")+" "+n.braces(label.Table), " "))
		n.before = blanked(n.before)
		delete(n.options, "name")
		delete(n.options, "label")
	}
}

// csvTable writes the table of values with commas between.
func (r *directiveReader) csvTable(n *directive) {
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
