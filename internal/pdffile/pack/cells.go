package pack

import (
	"bytes"
	"strconv"

	"presswork/internal/pdffile"
)

// isRegular reports whether all rows of a table have the same number of cells,
// those that span several counted as often.
func (t *tree) isRegular(table *element) bool {
	var rows []*element
	t.each(table.number, func(e, _ *element) {
		if e.kind == "TR" && t.tableOf(e) == table {
			rows = append(rows, e)
		}
	})
	width := 0
	var below []int // how many rows more each column is taken by a cell above

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

// tableOf is the table that a row belongs to.
func (t *tree) tableOf(row *element) *element {
	const most = 4 // a row lies in a table, or in a part of one

	e := row
	for range most {
		n, ok := pdffile.Reference(e.dict.Get("P"))
		if e = t.elements[n]; !ok || e == nil || e.kind == "Table" {
			return e
		}
	}

	return nil
}

// span is how many rows or columns a cell takes, 1 when it sets none.
func (e *element) span(name string) int {
	const most = 1000 // as in HTML

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
