package block

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/text/width"

	"presswork/internal/lazyregexp"
)

// emptyCell matches a table cell without content.
var emptyCell = lazyregexp.New(`(<t[dh](?: [^<>]*)?>)\s*(</t[dh]>)`)

// FillCells returns the HTML of a table, or of a part of one, with a no-break space in each empty cell.
func FillCells(source string) string { return emptyCell().ReplaceAllString(source, "$1\u00a0$2") }

// longestWord is the number of letters of a word that stay together in a cell. Package markdown allows breaks in
// longer words.
const longestWord = 18

// Sizes describes the content of a table.
type Sizes struct {
	Columns []Column // at most maxColumns
	Letters int      // of all cells
	Rows    int      // those of tables in its cells included
	// Spans reports whether cells span columns or rows, HoldsMore whether cells contain images, formulas, code or
	// tables.
	Spans, HoldsMore bool
}

// Column describes the content of a column. Lengths are in Latin letters: a Chinese character counts as two.
type Column struct {
	Word int // its longest word
	Cell int // its longest cell
	// Prose reports whether a cell below the head has several words, or a word that may break.
	Prose bool
}

// maxColumns bounds the columns that are measured.
const maxColumns = 1000

// Sizes measures the columns of a table by the words in their cells.
func (b *Block) Sizes() Sizes {
	r := tableReader{at: -1, span: 1}

	z := html.NewTokenizer(strings.NewReader(b.Element()))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		switch kind {
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			r.readTag(z, kind)
		case html.TextToken:
			if r.inCell {
				r.readText(z.Text())
			}
		}
	}
	r.closeCell()

	return r.sizes
}

// tableReader measures the cells of a table.
type tableReader struct {
	sizes Sizes
	depth int // the number of open tables
	// at is the column of the current cell, which spans span columns.
	at, span int
	// inCell reports whether a cell is open, inHead whether the current cell is a header cell.
	inCell, inHead bool
	// word and letters are the lengths of the current word and cell so far. longest is the length of the longest word
	// in the cell.
	word, letters, longest int
}

// readTag reads the current tag of the tokenizer.
func (r *tableReader) readTag(z *html.Tokenizer, kind html.TokenType) {
	name, more := z.TagName()
	tag, starts := atom.Lookup(name), kind == html.StartTagToken

	if tag == atom.Tr && starts {
		r.sizes.Rows++
	}

	switch {
	case tag == atom.Table && starts:
		r.depth++
	case tag == atom.Table && kind == html.EndTagToken:
		r.depth--
	case r.depth > 1: // the words of a table in a cell are words of the cell
		r.sizes.HoldsMore = true
	case tag == atom.Tr && starts:
		r.closeCell()
		r.at, r.span = -1, 1
	case (tag == atom.Td || tag == atom.Th) && starts:
		r.closeCell()
		r.inCell, r.inHead = true, tag == atom.Th
		r.at += r.span
		var spansRows bool
		r.span, spansRows = spanOf(z, more)

		r.sizes.Spans = r.sizes.Spans || spansRows || r.span > 1
		for len(r.sizes.Columns) < min(r.at+r.span, maxColumns) {
			r.sizes.Columns = append(r.sizes.Columns, Column{})
		}
	case tag == atom.Td, tag == atom.Th:
		r.closeCell()
		r.inCell = false
	case tag == atom.Br, tag == atom.P, tag == atom.Li:
		r.closeWord()
	case tag == atom.Img, tag == atom.Svg, tag == atom.Math, tag == atom.Pre:
		r.sizes.HoldsMore = true
	}
}

// readText measures text in a cell.
func (r *tableReader) readText(text []byte) {
	for len(text) > 0 {
		c, size := utf8.DecodeRune(text)
		text = text[size:]

		switch {
		case c == ' ' || c == '\n' || c == '\t':
			r.closeWord()
			r.letters++
		case c == '\u00ad':
			r.word++ // at the end of a line, the soft hyphen becomes a hyphen
			r.closeWord()
		case isWide(c):
			r.closeWord() // a line may end at any such character
			r.word, r.letters = 2, r.letters+2
			r.closeWord()
		default:
			r.word += lettersOf(c)
			r.letters += lettersOf(c)
		}
	}
}

// column returns the column of the current cell, nil for a cell that spans several columns: its text may take width
// from any of them.
func (r *tableReader) column() *Column {
	if r.at < 0 || r.at >= len(r.sizes.Columns) || r.span != 1 {
		return nil
	}

	return &r.sizes.Columns[r.at]
}

// closeWord adds the current word to its column.
func (r *tableReader) closeWord() {
	word := min(r.word, longestWord)
	if c := r.column(); c != nil {
		c.Word = max(c.Word, word)
	}
	r.word, r.longest = 0, max(r.longest, word)
}

// closeCell adds the current cell to its column.
func (r *tableReader) closeCell() {
	r.closeWord()
	r.sizes.Letters += r.letters

	if c := r.column(); c != nil {
		c.Cell = max(c.Cell, r.letters)
		c.Prose = c.Prose || !r.inHead && r.letters > r.longest
	}
	r.letters, r.longest = 0, 0
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

// isWide reports whether a character is as wide as two letters.
func isWide(r rune) bool {
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
