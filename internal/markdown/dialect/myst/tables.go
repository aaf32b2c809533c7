package myst

import (
	"encoding/csv"
	"strconv"
	"strings"

	"presswork/internal/markdown/label"
)

// writeListTable writes a list of lists as a division that the parser turns into a table.
func (r *directiveReader) writeListTable(n *directive) {
	r.writeTableCaption(n)
	r.write(n.before, ":::list-table "+n.braces("", "heads="+strconv.Itoa(atoi(n.option("header-rows")))), n.number)
	n.before = blanked(n.before)
	r.writeToEnd(n)
}

// writeTable writes a table with its caption.
func (r *directiveReader) writeTable(n *directive) {
	r.writeTableCaption(n)
	r.writeBlock(n.body, len(n.before))
	r.write(blanked(n.before), "", n.last())
}

// writeTableCaption writes the caption of a table, with its label. A table with a label but no title gets an empty
// caption.
func (r *directiveReader) writeTableCaption(n *directive) {
	r.keepLabel(n, label.Table, "")

	if n.argument != "" || n.label() != "" {
		r.writeAlone(n, strings.TrimRight(strings.TrimRight("Table: "+n.argument, " ")+" "+n.braces(label.Table), " "))
		n.before = blanked(n.before)
		delete(n.options, "name")
		delete(n.options, "label")
	}
}

// writeCSVTable writes comma-separated values as a table. If it cannot read them, it writes them as text, with a
// warning.
func (r *directiveReader) writeCSVTable(n *directive) {
	const most = 1000 // columns
	r.writeTableCaption(n)

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
		r.warn(n, "has no readable comma-separated values")
		r.writeBlock(n.body, len(n.before))

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
	r.writeAlone(n, lines...)
}
