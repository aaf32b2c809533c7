package drawntable

import (
	"bytes"
	"slices"
	"strings"

	east "github.com/yuin/goldmark/extension/ast"
	"golang.org/x/text/width"

	"presswork/internal/markdown/source"
)

// Grid tables are drawn with characters, and their cells hold blocks:
//
//	+--------+----------+
//	| Head   | Head     |
//	+========+:========:+
//	| - item | text     |
//	| - item | in two   |
//	|        | lines    |
//	+--------+----------+

const (
	// maxGridCells is the largest number of cells of one table.
	maxGridCells = 5000
	// maxGridSize is the largest drawing of one table, in characters.
	maxGridSize = 1 << 20
	// maxGridSteps is the largest number of steps for each character while cells are traced. An ordinary table needs
	// four.
	maxGridSteps = 50
)

// table is a table that Find has found.
type table struct {
	// end is the offset after its last line.
	end     int
	columns []east.Alignment
	rows    [][]cell // the cells that begin in each row, in the order of their columns
	// heads is the number of rows of the head.
	heads int
	// ruled reports whether the table is a simple or multi-line table, not a grid table.
	ruled bool
}

// cell is a cell of a table. Its text is between the offsets from and to of the extended source.
type cell struct {
	from, to         int
	colspan, rowspan int // the number of columns and rows that it covers
	column           int // the index of its first column
}

// findGrids returns the grid tables of a source, and the source with the texts of their cells
// appended.
func findGrids(src []byte) (extended []byte, tables Tables) {
	extended = src
	if !bytes.Contains(src, []byte("+-")) && !bytes.Contains(src, []byte("+=")) && !bytes.Contains(src, []byte("+:")) {
		return src, nil
	}

	for at := 0; at < len(src); {
		end := source.LineEnd(src, at)
		line := src[at:end]
		inner := bytes.TrimLeft(line, " >")

		prefix := line[:len(line)-len(inner)]
		if !isBorder(bytes.TrimRight(inner, " \n")) {
			at = end
			continue
		}
		drawing, stop := drawingAt(src, at, prefix)

		g := newGrid(drawing)
		if g == nil || !g.trace() {
			at = max(end, stop) // do not search within the drawing: that would take quadratic time
			continue
		}

		if tables == nil {
			tables = Tables{}
			extended = append(slices.Clip(src), '\n')
		}
		var t *table
		t, extended = g.table(extended)
		t.end = stop
		tables[at+len(prefix)] = t
		at = stop
	}

	return extended, tables
}

// isBorder reports whether a line is +---+---+ or +===+===+, with colons or without.
func isBorder(line []byte) bool {
	return len(line) > 2 && line[0] == '+' && line[len(line)-1] == '+' && len(bytes.Trim(line, "+-=:")) == 0 &&
		bytes.ContainsAny(line, "-=")
}

// drawingAt returns the lines of the drawing at an offset. prefix are the markers of the block quotes around it, which
// the lines do not include. stop is the offset after the drawing. lines is nil if the last line is not a border.
func drawingAt(src []byte, at int, prefix []byte) (lines []string, stop int) {
	plain := bytes.TrimRight(prefix, " ")

	for size := 0; at < len(src) && size < maxGridSize; {
		end := source.LineEnd(src, at)

		line := bytes.TrimRight(src[at:end], " \n")
		if !bytes.HasPrefix(line, plain) {
			break
		}

		line = bytes.TrimLeft(line[len(plain):], " ")
		if len(line) == 0 || line[0] != '|' && line[0] != '+' {
			break
		}
		lines = append(lines, string(line))
		size += len(line)
		at = end
		stop = end
	}

	if len(lines) > 0 && !isBorder([]byte(lines[len(lines)-1])) {
		lines = nil
	}

	return lines, stop
}

// grid is a drawing as a matrix of columns. A wide character has a second, empty column.
type grid struct {
	signs [][]rune   // the characters, by line and column
	cells []gridCell // set by trace
	// steps is the number of steps that trace may still take.
	steps int
}

// gridCell is a cell by the rows and columns of its borders.
type gridCell struct{ top, left, bottom, right int }

// newGrid returns the grid of a drawing, nil if its lines differ in width or it is larger than maxGridSize.
func newGrid(lines []string) *grid {
	if len(lines) < 3 {
		return nil
	}
	g := &grid{}

	for _, line := range lines {
		var row []rune
		for _, r := range line {
			row = append(row, r)
			if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
				row = append(row, 0)
			}
		}

		if len(g.signs) > 0 && len(row) != len(g.signs[0]) {
			return nil
		}
		g.signs = append(g.signs, row)
	}
	size := len(g.signs) * len(g.signs[0])

	g.steps = size * maxGridSteps
	if size > maxGridSize {
		return nil
	}

	return g
}

// trace finds the cells. From each corner in reading order, it finds the smallest cell; the cell has two new corners.
// trace reports whether the cells fill the drawing without overlaps. The algorithm is that of docutils
// (GridTableParser).
func (g *grid) trace() bool {
	right := len(g.signs[0]) - 1
	covered := make([]int, right) // the number of rows that cells cover, by column
	corners := []gridCell{{}}
	area := 0

	for len(corners) > 0 {
		at := 0 // the index of the first corner in reading order
		for i, c := range corners {
			if first := corners[at]; c.top < first.top || c.top == first.top && c.left < first.left {
				at = i
			}
		}
		c := corners[at]
		corners = slices.Delete(corners, at, at+1)

		if c.top == len(g.signs)-1 || c.left == right || covered[c.left] > c.top {
			continue
		}

		if !g.close(&c) || len(g.cells) == maxGridCells {
			return false
		}

		for i := c.left; i < c.right; i++ {
			if covered[i] != c.top {
				return false
			}
			covered[i] = c.bottom
		}
		area += (c.right - c.left) * (c.bottom - c.top)

		g.cells = append(g.cells, c)
		for _, next := range []gridCell{{top: c.top, left: c.right}, {top: c.bottom, left: c.left}} {
			if !slices.Contains(corners, next) {
				corners = append(corners, next)
			}
		}
	}

	return area == right*(len(g.signs)-1)
}

// isRule reports whether a character may be part of a horizontal border.
func isRule(r rune) bool { return r == '-' || r == '=' || r == ':' || r == '+' }

// close sets the right and bottom borders of the smallest cell at a corner. It returns false if there
// is no such cell.
func (g *grid) close(c *gridCell) bool {
	if g.signs[c.top][c.left] != '+' {
		return false
	}

	for right := c.left + 1; right < len(g.signs[0]) && isRule(g.signs[c.top][right]); right++ {
		if g.signs[c.top][right] != '+' {
			continue
		}

		for bottom := c.top + 1; bottom < len(g.signs); bottom++ {
			if g.steps--; g.steps < 0 {
				return false
			}

			if r := g.signs[bottom][right]; r != '|' && r != '+' {
				break
			} else if r == '|' || g.signs[bottom][c.left] != '+' {
				continue
			}

			if g.isBordered(c.top, c.left, bottom, right) {
				c.bottom, c.right = bottom, right
				return true
			}
		}
	}

	return false
}

// isBordered reports whether the bottom and left borders of a cell are drawn. close has checked the others.
func (g *grid) isBordered(top, left, bottom, right int) bool {
	g.steps -= right - left + bottom - top
	for i := left; i <= right; i++ {
		if !isRule(g.signs[bottom][i]) {
			return false
		}
	}

	for i := top; i <= bottom; i++ {
		if r := g.signs[i][left]; r != '|' && r != '+' {
			return false
		}
	}

	return true
}

// table returns the table of a drawing, and the source with the texts of its cells appended.
func (g *grid) table(src []byte) (*table, []byte) {
	var tops, lefts []int
	for _, c := range g.cells {
		tops, lefts = append(tops, c.top), append(lefts, c.left)
	}
	slices.Sort(tops)
	slices.Sort(lefts)
	// The borders of the rows and columns, without those in which no cell begins, and the outer ones.
	tops, lefts = append(slices.Compact(tops), len(g.signs)-1), append(slices.Compact(lefts), len(g.signs[0])-1)
	index := func(list []int, v int) int { i, _ := slices.BinarySearch(list, v); return i }
	t := &table{columns: make([]east.Alignment, len(lefts)-1), rows: make([][]cell, len(tops)-1)}
	aligned := 0 // the line whose colons align the columns: the border below the head, else the first line

	for i, top := range tops[1 : len(tops)-1] {
		if rule := strings.Trim(string(g.signs[top]), "+:="); rule == "" {
			t.heads, aligned = i+1, top
			break
		}
	}

	for i := range t.columns {
		t.columns[i] = alignment(g.signs[aligned][lefts[i]+1], g.signs[aligned][lefts[i+1]-1])
	}

	for _, c := range g.cells {
		row, column := index(tops, c.top), index(lefts, c.left)

		cell := cell{
			from:    len(src),
			column:  column,
			colspan: index(lefts, c.right) - column,
			rowspan: index(tops, c.bottom) - row,
		}
		if row < t.heads { // a cell of the head ends with the head
			cell.rowspan = min(cell.rowspan, t.heads-row)
		}
		src = g.text(src, c)
		cell.to = len(src)
		t.rows[row] = append(t.rows[row], cell)
	}

	for _, row := range t.rows {
		slices.SortFunc(row, func(a, b cell) int { return a.column - b.column })
	}

	return t, src
}

// alignment returns the alignment of a column by the first and last characters of its border.
func alignment(first, last rune) east.Alignment {
	switch {
	case first == ':' && last == ':':
		return east.AlignCenter
	case first == ':':
		return east.AlignLeft
	case last == ':':
		return east.AlignRight
	}

	return east.AlignNone
}

// text appends the text of a cell to src, without the indentation that all its lines share.
func (g *grid) text(src []byte, c gridCell) []byte {
	var lines []string

	indent := len(g.signs[0])
	for _, row := range g.signs[c.top+1 : c.bottom] {
		line := strings.TrimRight(strings.ReplaceAll(string(row[c.left+1:c.right]), "\x00", ""), " ")
		if inner := strings.TrimLeft(line, " "); inner != "" {
			indent = min(indent, len(line)-len(inner))
		}
		lines = append(lines, line)
	}

	for _, line := range lines {
		src = append(append(src, line[min(indent, len(line)):]...), '\n')
	}

	return src
}
