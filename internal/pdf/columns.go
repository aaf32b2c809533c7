package pdf

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/text/width"
)

// Sizes of type in a table, in em of the running text, and their cells' padding
// left and right in em of their own: those of print.css and paper.css.
const (
	pointInMM = 25.4 / 72
	bodySize  = 11 * pointInMM
	// letterWidth is the mean width of a letter in em, wideLetter that of words in
	// heads, of digits and of wide typefaces.
	letterWidth, wideLetter = 0.5, 0.66
	// longestWord is how many letters of a word stay together in a cell:
	// markdown lets longer ones break.
	longestWord = 18
	// tallText is how many letters a table of few rows holds that may be divided
	// all the same, because its rows are of many lines.
	tallText = 800
)

// tableSize is one way to set a table.
type tableSize struct {
	class         string
	size, padding float64
}

func tableSizes() []tableSize {
	return []tableSize{{"", .9, 1.4}, {"wide", .78, .9}, {"wider", .66, .9}}
}

// tableWidths is what a table's columns hold.
type tableWidths struct {
	columns []column
	letters int // of all cells
	// spans reports that cells reach over columns or rows, holdsMore that some hold
	// other things than text.
	spans, holdsMore bool
}

// column is what a table's column holds, in letters.
type column struct {
	word int // its longest word
	cell int // its longest cell
	// prose reports that some cell below the head has several words, or one that
	// may be broken.
	prose bool
}

// short reports whether the column's cells are to stay on one line: numbers with
// their units, dates, names.
func (c column) short() bool { return c.cell <= 14 }

// comfortable is how wide a column wants to be, in letters: short cells on one
// line, long ones on a few.
func (c column) comfortable() int {
	const aFew, many = 40, 160
	switch {
	case c.short():
		return c.cell
	case c.cell <= aFew:
		return max(c.word, 16)
	case c.cell <= many:
		return max(c.word, 22)
	}
	return max(c.word, 30)
}

// takes is how many millimetres wide the table is when its longest rows have so
// many letters of a width in em.
func (t tableWidths) takes(letters int, width float64, s tableSize) float64 {
	return (float64(letters)*width + float64(len(t.columns))*s.padding) * s.size * bodySize
}

// least is how many letters cannot be broken: short cells and the longest words
// of the others.
func (t tableWidths) least() (letters int) {
	for _, c := range t.columns {
		if c.short() {
			letters += c.cell
		} else {
			letters += c.word
		}
	}
	return letters
}

// surelyFits reports that the table does not leave an area of so many millimetres
// even if every letter is as wide as the widest.
func (t tableWidths) surelyFits(area float64) bool {
	const widest = 1
	return !t.spans && !t.holdsMore && t.takes(t.least(), widest, tableSizes()[0]) <= area
}

// fit picks the classes of a table for an area of so many millimetres upright,
// and turned (0: it cannot be).
func fit(t tableWidths, upright, turned float64) (class string, turn bool) {
	// squeezed is by how much a table may be narrower than it wants.
	const squeezed = 1.15
	comfortable, full, least, words := 0, 0, t.least(), 0
	for _, c := range t.columns {
		comfortable += c.comfortable()
		full += c.cell
		words += c.word
	}
	takes := func(letters int, s tableSize) float64 { return t.takes(letters, letterWidth, s) }
	needs := func(letters int, s tableSize) float64 { return t.takes(letters, wideLetter, s) }
	for _, area := range []float64{upright, turned} {
		if area < upright {
			break
		}
		for _, s := range tableSizes() {
			switch {
			case takes(full, s) <= area && needs(words, s) <= area:
				if needs(full, s) > area {
					return s.class + t.whole(), area != upright
				}
				return s.class, area != upright
			case takes(comfortable, s) <= area*squeezed && needs(least, s) <= area:
				return s.class + t.unbroken(), area != upright
			}
		}
	}
	smallest := tableSizes()[2]
	for _, area := range []float64{upright, turned} {
		switch {
		case needs(least, smallest) <= area:
			return smallest.class + t.unbroken(), area != upright
		case needs(words, smallest) <= area:
			return smallest.class + t.whole(), area != upright
		}
	}
	return smallest.class + " crowded", turned > upright
}

// unbroken lists the classes that keep the cells of short columns on one line:
// else the browser takes from them what the long ones want.
func (t tableWidths) unbroken() string {
	return t.onOneLine(column.short)
}

// whole lists the classes that keep dates and the like, which a browser breaks
// at their hyphens, in one piece; the columns' heads may be broken.
func (t tableWidths) whole() string {
	classes := t.onOneLine(func(c column) bool { return !c.prose })
	if classes == "" {
		return ""
	}
	return " folded" + classes
}

// onOneLine lists the classes of the columns whose cells are not broken.
func (t tableWidths) onOneLine(is func(column) bool) string {
	const most = 20 // the print sheet has a rule for each
	var b strings.Builder
	for i, c := range t.columns[:min(len(t.columns), most)] {
		if is(c) && !t.spans {
			b.WriteString(" nb" + strconv.Itoa(i+1))
		}
	}
	return b.String()
}

// measure reads a table's columns by the words in their cells.
func measure(table string) tableWidths {
	const maxColumns = 1000
	var columns []column
	spans, holdsMore := false, false
	at, span, letters, word, depth := -1, 1, 0, 0, 0
	longest := 0 // word of the cell
	all := 0     // letters
	inCell, inHead := false, false
	closeWord := func() {
		word = min(word, longestWord)
		if at >= 0 && at < len(columns) && span == 1 {
			columns[at].word = max(columns[at].word, word)
		}
		word, longest = 0, max(longest, word)
	}
	closeCell := func() {
		closeWord()
		all += letters
		if at >= 0 && at < len(columns) && span == 1 {
			c := &columns[at]
			c.cell = max(c.cell, letters)
			c.prose = c.prose || !inHead && letters > longest
		}
		letters, longest = 0, 0
	}
	z := html.NewTokenizer(strings.NewReader(table))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		switch kind {
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			switch tag := atom.Lookup(name); {
			case tag == atom.Table:
				depth += map[html.TokenType]int{html.StartTagToken: 1, html.EndTagToken: -1}[kind]
			case depth > 1: // a table within: its words count for its cell
				holdsMore = true
			case tag == atom.Tr && kind == html.StartTagToken:
				closeCell()
				at, span = -1, 1
			case (tag == atom.Td || tag == atom.Th) && kind == html.StartTagToken:
				closeCell()
				inCell, inHead = true, tag == atom.Th
				at += span
				var rows bool
				span, rows = spanOf(z, more)
				spans = spans || rows || span > 1
				for len(columns) < min(at+span, maxColumns) {
					columns = append(columns, column{})
				}
			case tag == atom.Td || tag == atom.Th:
				closeCell()
				inCell = false
			case tag == atom.Br, tag == atom.P, tag == atom.Li:
				closeWord()
			case tag == atom.Img, tag == atom.Svg, tag == atom.Math, tag == atom.Pre:
				holdsMore = true
			}
		case html.TextToken:
			if !inCell {
				break
			}
			for text := z.Text(); len(text) > 0; {
				r, size := utf8.DecodeRune(text)
				text = text[size:]
				switch {
				case r == ' ' || r == '\n' || r == '\t':
					closeWord()
					letters++
				case r == '\u00ad':
					word++ // the hyphen that it becomes
					closeWord()
				case wideRune(r):
					closeWord() // a line may end at any such character
					word, letters = 2, letters+2
					closeWord()
				default:
					word += lettersOf(r)
					letters += lettersOf(r)
				}
			}
		}
	}
	closeCell()
	return tableWidths{columns, all, spans, holdsMore}
}

// lettersOf is how many Latin letters a character of an alphabet is as wide as.
func lettersOf(r rune) int {
	switch {
	case r >= 0x1000 && r <= 0x109f: // Myanmar
		return 2
	case r >= 0x12000 && r <= 0x1342f: // cuneiform, hieroglyphs
		return 4
	}
	return 1
}

// wideRune reports whether a character is as wide as two letters.
func wideRune(r rune) bool {
	if r < 0x1100 {
		return false
	}
	k := width.LookupRune(r).Kind()
	return k == width.EastAsianWide || k == width.EastAsianFullwidth
}

// spanOf is how many columns a cell reaches over, and whether it does over
// rows.
func spanOf(z *html.Tokenizer, more bool) (columns int, rows bool) {
	const maxSpan = 1000
	columns = 1
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		n, err := strconv.Atoi(string(value))
		switch string(key) {
		case "colspan":
			if err == nil && n > 1 {
				columns = min(n, maxSpan)
			}
		case "rowspan":
			rows = string(value) != "1"
		}
	}
	return columns, rows
}
