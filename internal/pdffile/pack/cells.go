package pack

import (
	"bytes"
	"strconv"

	"presswork/internal/pdffile"
)

// isRegular reports whether all rows of a table have the same number of cells. A cell counts once for each column
// that it spans.
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
		column, taken := 0, 0
		next := make([]int, 0, len(below))
		free := func() {
			for column < len(below) && below[column] > 0 {
				next = append(next, below[column]-1)
				column++
				taken++
			}
		}

		for _, k := range row.kids {
			cell := t.child(k)
			if cell == nil || cell.kind != "TD" && cell.kind != "TH" {
				continue
			}
			free()

			for range cell.span("ColSpan") {
				next = append(next, cell.span("RowSpan")-1)
				column++
				taken++
			}
		}
		free()

		if i == 0 {
			width = taken
		}

		if taken != width {
			return false
		}
		below = next
	}

	for _, left := range below {
		if left > 0 {
			return false
		}
	}

	return true
}

// tableOf returns the table of a row, or nil if there is none.
func (t *tree) tableOf(row *element) *element {
	const most = 4 // a row is a child of the table or of a section of it

	e := row
	for range most {
		n, ok := pdffile.Reference(e.dict.Get("P"))
		if e = t.elements[n]; !ok || e == nil || e.kind == "Table" {
			return e
		}
	}

	return nil
}

// span returns the number of rows or columns that a cell covers: 1 if it sets none.
func (e *element) span(name string) int {
	const most = 1000 // HTML's limit for colspan

	_, after, ok := bytes.Cut(e.dict.Get("A"), []byte("/"+name+" "))
	if !ok {
		return 1
	}

	n, err := strconv.Atoi(string(after[:pdffile.TokenLength(after)]))
	if err != nil {
		return 1
	}

	return min(max(n, 1), most)
}
