package pack

import (
	"bytes"
	"slices"
	"strconv"

	"presswork/internal/pdffile"
)

// isRegular reports whether all rows of a table have the same number of cells. A cell counts once for each column and
// row that it spans. A cell must not span more rows than follow.
func (t *tree) isRegular(table *element) bool {
	var rows []*element
	t.each(table.number, func(e, _ *element) {
		if e.kind == "TR" && t.tableOf(e) == table {
			rows = append(rows, e)
		}
	})
	width := 0
	var below []int // for each column, the number of further rows that a cell above covers

	for i, row := range rows {
		next := make([]int, 0, len(below)) // below, for the row after this one
		// skipCovered passes the columns that cells of earlier rows cover.
		skipCovered := func() {
			for column := len(next); column < len(below) && below[column] > 0; column++ {
				next = append(next, below[column]-1)
			}
		}

		for _, k := range row.kids {
			cell := t.child(k)
			if cell == nil || cell.kind != "TD" && cell.kind != "TH" {
				continue
			}
			skipCovered()

			for range cell.span("ColSpan") {
				next = append(next, cell.span("RowSpan")-1)
			}
		}
		skipCovered()

		if i == 0 {
			width = len(next)
		}

		if len(next) != width {
			return false
		}
		below = next
	}

	return !slices.ContainsFunc(below, func(rows int) bool { return rows > 0 })
}

// tableOf returns the table of a row, or nil if there is none.
func (t *tree) tableOf(row *element) *element {
	const maxSteps = 4 // a row is a child of the table, or of a section of it; the tree may have a cycle

	e := row
	for range maxSteps {
		n, ok := pdffile.Reference(e.dict.Get("P"))
		if e = t.elements[n]; !ok || e == nil || e.kind == "Table" {
			return e
		}
	}

	return nil
}

// span returns the number of rows or columns that a cell covers: 1 if it sets none. name is RowSpan or ColSpan.
func (e *element) span(name string) int {
	const maxSpan = 1000 // HTML's limit for colspan

	_, after, ok := bytes.Cut(e.dict.Get("A"), []byte("/"+name+" "))
	if !ok {
		return 1
	}

	n, err := strconv.Atoi(string(after[:pdffile.TokenLength(after)]))
	if err != nil {
		return 1
	}

	return min(max(n, 1), maxSpan)
}
