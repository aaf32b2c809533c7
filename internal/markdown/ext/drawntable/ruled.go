package drawntable

import (
	"bytes"
	"slices"
	"strings"

	east "github.com/yuin/goldmark/extension/ast"
	"golang.org/x/text/width"

	"presswork/internal/markdown/source"
)

// Ruled tables are Pandoc's simple and multi-line tables. Lines of dashes above or below the head give
// the widths of the columns. Rows of a multi-line table may have several lines, with blank lines
// between the rows.
//
//	  Right Left    Center       ----------------------------
//	------- ------ --------       Head    Text that
//	     12 12        12          a line  is longer
//	    123 123      123         ------- --------------------
//	                              First   A row of two
//	                                      lines.
//
//	                              Second  Another.
//	                             ----------------------------

const (
	// maxRuledLines is the largest number of lines of one table.
	maxRuledLines = 5000
	// maxRuledReads is the average number of times that each byte of the source may be read. A table needs three.
	// Sources that need more have no further tables.
	maxRuledReads = 6
)

// ruledFinder finds the ruled tables of a source.
type ruledFinder struct {
	src  []byte
	left int // the bytes that may still be read
}

// ruledLine is a line that may belong to a table.
type ruledLine struct {
	from, to int // offsets in the source
	// signs has a character for each column. A wide character has a second, empty column.
	signs []rune
}

// isBlank reports whether the line has only spaces.
func (l ruledLine) isBlank() bool { return strings.TrimSpace(string(l.signs)) == "" }

// findRuled adds the ruled tables of a source to tables, which has the grid tables, and appends the texts of their
// cells to extended.
func findRuled(src, extended []byte, tables Tables) ([]byte, Tables) {
	if !bytes.Contains(src, []byte("-- --")) && !bytes.Contains(src, []byte("--  ")) {
		return extended, tables
	}
	f := ruledFinder{src, maxRuledReads * len(src)}
	fence := ""                   // the fence of the open code block
	var before, earlier ruledLine // the previous line and the one before it

	for at := 0; at < len(src) && f.left > 0; {
		line := f.line(at)
		text := strings.TrimSpace(string(line.signs))

		mark := ""
		if strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~") {
			mark = text[:3]
		}

		switch {
		case fence != "":
			if strings.HasPrefix(text, fence) {
				fence = ""
			}
		case mark != "":
			fence = mark
		default:
			t, next := f.table(earlier, before, line)
			if t == nil {
				break
			}

			if tables == nil {
				tables = Tables{}
			}

			if len(extended) == len(src) {
				extended = append(slices.Clip(extended), '\n')
			}
			extended = t.write(extended)
			tables[t.first] = &t.table
			earlier, before, at = ruledLine{}, ruledLine{}, next
			continue
		}
		earlier, before, at = before, line, line.to
	}

	return extended, tables
}

// line reads the line at an offset.
func (f *ruledFinder) line(at int) ruledLine {
	src := f.src
	l := ruledLine{from: at, to: source.LineEnd(src, at)}

	f.left -= l.to - at
	for _, r := range strings.TrimRight(string(src[at:l.to]), " \r\n") {
		l.signs = append(l.signs, r)
		if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
			l.signs = append(l.signs, 0)
		}
	}

	return l
}

// rules returns the first column of each group of dashes and the column after the group. It returns nil if the line has
// other characters than dashes and spaces.
func (l ruledLine) rules() (groups [][2]int) {
	for i := 0; i < len(l.signs); i++ {
		switch {
		case l.signs[i] == ' ':
		case l.signs[i] != '-':
			return nil
		case i > 0 && l.signs[i-1] == '-':
			groups[len(groups)-1][1] = i + 1
		default:
			groups = append(groups, [2]int{i, i + 1})
		}
	}

	for _, g := range groups {
		if g[1]-g[0] < 2 { // "- - -" is a thematic break
			return nil
		}
	}

	return groups
}

// ruledTable is a table before the texts of its cells are appended to the source.
type ruledTable struct {
	table
	first int          // the offset of its first character
	texts [][][]string // the lines of each cell of each row
}

// table reads the table to which rule, a line of dashes, belongs: rule is its first line, or the line below its head.
// In the second case before is the head, and the line earlier must be blank. It returns nil if there is no table, else
// the table and the offset after it.
func (f *ruledFinder) table(earlier, before, rule ruledLine) (*ruledTable, int) {
	columns := rule.rules()
	switch {
	case len(columns) == 1 && before.isBlank():
		return f.multiline(rule)
	case len(columns) < 2:
		return nil, 0
	}
	var heads []ruledLine
	begin := rule

	if !before.isBlank() {
		if !earlier.isBlank() {
			return nil, 0
		}
		heads, begin = []ruledLine{before}, before
	}

	// Without a head, the table may be a multi-line table: rows are then separated by blank lines.
	rows, next, closed := f.rows(rule.to, columns, false)
	if len(heads) == 0 && !closed {
		rows, next, closed = f.rows(rule.to, columns, true)
	}

	if len(rows) == 0 || len(heads) == 0 && !closed {
		return nil, 0
	}

	return newRuled(begin, columns, heads, rows, next)
}

// multiline reads a multi-line table whose first line is top. It returns nil if there is no table.
func (f *ruledFinder) multiline(top ruledLine) (*ruledTable, int) {
	var heads []ruledLine

	at := top.to
	for range 20 { // the largest number of lines of a head
		if at >= len(f.src) {
			return nil, 0
		}
		line := f.line(at)
		at = line.to

		columns := line.rules()
		switch {
		case line.isBlank() || len(columns) == 1:
			return nil, 0
		case len(columns) == 0:
			heads = append(heads, line)
			continue
		case len(heads) == 0:
			return nil, 0
		}

		rows, next, closed := f.rows(at, columns, true)
		if len(rows) == 0 || !closed {
			return nil, 0
		}

		return newRuled(top, columns, heads, rows, next)
	}

	return nil, 0
}

// rows reads rows up to the line of dashes that ends a table. A blank line ends a simple table as well. closed reports
// whether a line of dashes ends the table, and next is the offset after it. rows is nil if a line does not fit the
// columns.
func (f *ruledFinder) rows(at int, columns [][2]int, multiline bool) (rows [][]ruledLine, next int, closed bool) {
	open := false // whether the next line continues the last row

	for n := 0; at < len(f.src) && n < maxRuledLines && f.left > 0; n++ {
		line := f.line(at)
		if line.isBlank() {
			if !multiline {
				return rows, at, false
			}
			open, at = false, line.to
			continue
		}

		at = line.to
		if groups := line.rules(); len(groups) == 1 || len(groups) == len(columns) {
			return rows, at, true
		}

		if !fits(line, columns) {
			return nil, 0, false
		}

		if open {
			rows[len(rows)-1] = append(rows[len(rows)-1], line)
			continue
		}
		rows, open = append(rows, []ruledLine{line}), multiline
	}

	return rows, at, false
}

// fits reports whether a line has spaces between its columns.
func fits(line ruledLine, columns [][2]int) bool {
	for i, c := range columns {
		before := c[0] - 1
		if i > 0 && before < len(line.signs) && line.signs[before] != ' ' {
			return false
		}
	}

	return true
}

// newRuled returns the table of heads and rows. Its first line is begin, and next is the offset after it. newRuled
// returns nil if a head does not fit the columns.
func newRuled(begin ruledLine, columns [][2]int, heads []ruledLine, rows [][]ruledLine, next int) (*ruledTable, int) {
	for _, h := range heads {
		if !fits(h, columns) {
			return nil, 0
		}
	}

	t := &ruledTable{first: begin.from}
	for t.first < begin.to && begin.signs[t.first-begin.from] == ' ' {
		t.first++
	}
	t.end, t.ruled = next, true

	shown := heads // the lines that show how columns are aligned
	if len(heads) > 0 {
		t.heads = 1
		rows = slices.Insert(rows, 0, heads)
	} else {
		shown = rows[0]
	}

	for i, c := range columns {
		t.columns = append(t.columns, ruledAlignment(shown, c, i == len(columns)-1))
	}

	for _, row := range rows {
		var cells [][]string

		for i := range columns {
			var lines []string

			for _, l := range row {
				from, to := columns[i][0], len(l.signs)
				if i == 0 {
					from = 0
				}

				if i+1 < len(columns) {
					to = min(to, columns[i+1][0])
				}
				text := strings.ReplaceAll(string(l.signs[min(from, to):to]), "\x00", "")
				lines = append(lines, strings.TrimSpace(text))
			}
			cells = append(cells, lines)
		}
		t.texts = append(t.texts, cells)
	}

	return t, next
}

// ruledAlignment returns the alignment of a column, by the place of its head above the dashes. A head that reaches only
// the first dash is left, one that reaches only the last dash is right. A head that reaches neither is centred. If it
// reaches both, the alignment is not set.
func ruledAlignment(heads []ruledLine, column [2]int, last bool) east.Alignment {
	left, right := false, false

	for _, h := range heads {
		sign := func(at int) bool { return at < len(h.signs) && h.signs[at] != ' ' }
		left = left || sign(column[0])
		right = right || sign(column[1]-1) || last && len(h.signs) > column[1]
	}

	switch {
	case left && !right:
		return east.AlignLeft
	case right && !left:
		return east.AlignRight
	case !left && !right:
		return east.AlignCenter
	}

	return east.AlignNone
}

// write appends the texts of the cells to the source.
func (t *ruledTable) write(src []byte) []byte {
	for _, row := range t.texts {
		var cells []cell

		for column, lines := range row {
			cell := cell{from: len(src), colspan: 1, rowspan: 1, column: column}
			for _, line := range lines {
				src = append(append(src, line...), '\n')
			}
			cell.to = len(src)
			cells = append(cells, cell)
		}
		t.rows = append(t.rows, cells)
	}

	return src
}
