package drawntable

import (
	"bytes"
	"slices"
	"strings"

	east "github.com/yuin/goldmark/extension/ast"
	"golang.org/x/text/width"

	"presswork/internal/markdown/source"
)

// Ruled tables are Pandoc's simple and multi-line ones: columns are as wide as the
// dashes above or below their heads. Rows of the second kind may have several lines,
// and white lines between them.
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
	// maxRuledLines bounds the lines of one table.
	maxRuledLines = 5000
	// maxRuledLooks is how often each byte may be looked at; in a table that is one
	// three times suffice.
	maxRuledLooks = 6
)

// ruledFinder finds tables in a text.
type ruledFinder struct {
	src  []byte
	left int // bytes that may still be looked at
}

// ruledLine is a line of what may be a table.
type ruledLine struct {
	from, to int // in the source
	signs    []rune
}

func (l ruledLine) blank() bool { return strings.TrimSpace(string(l.signs)) == "" }

// findRuled finds the ruled tables of a text, and adds them to others by the offset of
// their first sign. The texts of their cells are put behind extended.
func findRuled(src, extended []byte, tables Tables) ([]byte, Tables) {
	if !bytes.Contains(src, []byte("-- --")) && !bytes.Contains(src, []byte("--  ")) {
		return extended, tables
	}
	f := ruledFinder{src, maxRuledLooks * len(src)}
	fence, before := "", ruledLine{} // the line before; what opened the code that is open
	last := ruledLine{}              // the line before that one

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
			t, next := f.table(last, before, line)
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
			tables[t.first] = &t.drawnTable
			last, before, at = ruledLine{}, ruledLine{}, next
			continue
		}
		last, before, at = before, line, line.to
	}

	return extended, tables
}

// line reads a line, a sign a place; behind a wide sign there is an empty one.
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

// rules are where the groups of dashes of a line begin and end; none when it has
// anything else.
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
		if g[1]-g[0] < 2 { // "- - -" is a rule
			return nil
		}
	}

	return groups
}

// ruledTable is a table whose cells are not in the source yet.
type ruledTable struct {
	drawnTable
	first int // offset of its first sign
	texts [][][]string
}

// table reads the table whose columns a line of dashes may give, or that begins with
// it; its head is the line before, behind a white one.
func (f *ruledFinder) table(last, before, rule ruledLine) (*ruledTable, int) {
	columns := rule.rules()
	switch {
	case len(columns) == 1 && before.blank():
		return f.multiline(rule)
	case len(columns) < 2:
		return nil, 0
	}
	var heads []ruledLine
	begin := rule

	if !before.blank() {
		if !last.blank() {
			return nil, 0
		}
		heads, begin = []ruledLine{before}, before
	}

	rows, next, closed := f.rows(rule.to, columns, false)
	if len(heads) == 0 && !closed {
		rows, next, closed = f.rows(rule.to, columns, true)
	}

	if len(rows) == 0 || len(heads) == 0 && !closed {
		return nil, 0
	}

	return newRuled(begin, columns, heads, rows, next)
}

// multiline reads a table with white lines between its rows, from the line above it
// on.
func (f *ruledFinder) multiline(top ruledLine) (*ruledTable, int) {
	var heads []ruledLine

	at := top.to
	for range 20 { // lines of a head
		if at >= len(f.src) {
			return nil, 0
		}
		line := f.line(at)
		at = line.to

		columns := line.rules()
		switch {
		case line.blank() || len(columns) == 1:
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

// rows reads rows to the white line, or of a multi-line table to the line of
// dashes, that ends it.
func (f *ruledFinder) rows(at int, columns [][2]int, multiline bool) (rows [][]ruledLine, next int, closed bool) {
	open := false // whether the last row goes on

	for n := 0; at < len(f.src) && n < maxRuledLines && f.left > 0; n++ {
		line := f.line(at)
		if line.blank() {
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

// fits reports whether nothing of a line stands between its columns.
func fits(line ruledLine, columns [][2]int) bool {
	for i, c := range columns {
		before := c[0] - 1
		if i > 0 && before < len(line.signs) && line.signs[before] != ' ' {
			return false
		}
	}

	return true
}

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

	shown := heads // what shows how a column is aligned
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
				lines = append(
					lines,
					strings.TrimSpace(strings.ReplaceAll(string(l.signs[min(from, to):to]), "\x00", "")),
				)
			}
			cells = append(cells, lines)
		}
		t.texts = append(t.texts, cells)
	}

	return t, next
}

// ruledAlignment is that of a column, by where its head stands over the dashes.
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

// write puts the texts of the cells behind the source.
func (t *ruledTable) write(src []byte) []byte {
	for _, row := range t.texts {
		var cells []drawnCell

		for column, lines := range row {
			cell := drawnCell{from: len(src), colspan: 1, rowspan: 1, column: column}
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
