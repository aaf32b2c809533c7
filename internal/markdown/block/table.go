package block

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/text/width"
)

var emptyCell = regexp.MustCompile(`(<t[dh](?: [^<>]*)?>)\s*(</t[dh]>)`)

// FillCells puts a no-break space into the empty cells of a table or a part of one.
func FillCells(source string) string { return emptyCell.ReplaceAllString(source, "$1\u00a0$2") }

// longestWord is the number of letters of a word that stay together in a cell. Package markdown allows breaks in
// longer words.
const longestWord = 18

// Sizes describes the content of a table.
type Sizes struct {
	Columns []Column
	Letters int // of all cells
	Rows    int // those of tables within it included
	// Spans reports whether cells span columns or rows, HoldsMore whether cells contain images, formulas, code or
	// tables.
	Spans, HoldsMore bool
}

// Column describes the content of a column. Lengths are in letters.
type Column struct {
	Word int // its longest word
	Cell int // its longest cell
	// Prose reports whether a cell below the head has several words, or a word that may break.
	Prose bool
}

// Sizes measures the columns of a table by the words in their cells.
func (b *Block) Sizes() Sizes {
	const maxColumns = 1000
	var columns []Column
	spans, holdsMore := false, false
	at, span, letters, word, depth := -1, 1, 0, 0, 0
	longest := 0      // word of the cell
	all, rows := 0, 0 // letters, rows
	inCell, inHead := false, false
	closeWord := func() {
		word = min(word, longestWord)
		if at >= 0 && at < len(columns) && span == 1 {
			columns[at].Word = max(columns[at].Word, word)
		}
		word, longest = 0, max(longest, word)
	}
	closeCell := func() {
		closeWord()
		all += letters

		if at >= 0 && at < len(columns) && span == 1 {
			c := &columns[at]
			c.Cell = max(c.Cell, letters)
			c.Prose = c.Prose || !inHead && letters > longest
		}
		letters, longest = 0, 0
	}

	z := html.NewTokenizer(strings.NewReader(b.Element()))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		switch kind {
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()

			tag := atom.Lookup(name)
			if tag == atom.Tr && kind == html.StartTagToken {
				rows++
			}

			switch {
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
				var down bool
				span, down = spanOf(z, more)

				spans = spans || down || span > 1
				for len(columns) < min(at+span, maxColumns) {
					columns = append(columns, Column{})
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

	return Sizes{columns, all, rows, spans, holdsMore}
}

// lettersOf returns the width of a character in Latin letters.
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

// spanOf returns the number of columns that a cell spans, and whether it spans rows.
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
