package finish

import (
	"bytes"
	"math"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"

	"presswork/internal/markdown/source"
)

// Chromium's time to lay out and print a document depends on its elements more than on its bytes. A part is the cost
// of an inline element: about 10 KB of memory and a third of a millisecond.
const (
	// MaxParts is the largest number of parts that are printed at once. A table of 5000 rows and 8 columns has 85 000
	// parts, a book of 1000 pages 60 000.
	MaxParts  = 100_000
	cellPart  = 2 // the parts of a table cell
	blockPart = 3 // the parts of a block; a page has about 27 blocks and takes 30 ms
	// shapesPerPart elements of formulas and diagrams, or spansPerPart spans of coloured code, count as one part.
	shapesPerPart, spansPerPart = 4, 20

	embedPart = 2 // the parts of a formula or diagram, without its elements
	// maxSquares bounds the sum, over all blocks, of the square of the number of pieces: texts, line breaks, images
	// and formulas. Chromium takes 28 ns times n² to tag a block of n pieces.
	maxSquares = 400_000_000

	// maxWord bounds a word without a place to break, in characters. maxMarks bounds the combining marks on one
	// letter. The browser's time grows with the square of both. No script puts more than ten marks on a letter.
	maxWord  = 500_000
	maxMarks = 500
	// maxColumns is the number of columns that a cell can span in HTML.
	maxColumns = 1000
)

// cost counts what the browser has to lay out.
type cost struct {
	// The numbers of table cells, blocks, other elements, elements of formulas and diagrams, spans, and formulas and
	// diagrams.
	cells, blocks, elements, shapes, spans, embeds int

	pieces  int  // of the current block so far
	inCode  bool // whether the current block is code
	squares int  // the sum that maxSquares bounds
	largest int  // the number of pieces of the largest block
}

// parts returns the size of the document as MaxParts counts it.
func (c *cost) parts() int {
	return c.cells*cellPart + c.blocks*blockPart + c.embeds*embedPart +
		c.elements + c.shapes/shapesPerPart + c.spans/spansPerPart
}

// tag counts the element of a start tag, as the sanitiser writes it.
func (c *cost) tag(raw []byte) {
	end := bytes.IndexAny(raw, " />")
	if end < 1 {
		return
	}

	switch name := string(raw[1:end]); name {
	case "td", "th":
		c.cells += span(raw)
		c.endBlock()
	case "p", "li", "dt", "dd", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "hr", "div":
		c.blocks++
		c.endBlock()
		c.inCode = name == "pre"
	case "span":
		c.spans++
	case "br", "img":
		c.elements++
		c.pieces++
	case "code":
		c.elements++
		if c.inCode { // long code is written as several code elements
			c.endBlock()
		}
	default:
		c.elements++
	}
}

// endBlock adds the current block to the sums.
func (c *cost) endBlock() {
	c.squares += c.pieces * c.pieces
	c.largest = max(c.largest, c.pieces)
	c.pieces = 0
}

// span returns the number of columns that a cell spans, from its start tag.
func span(raw []byte) int {
	if !bytes.Contains(raw, []byte("colspan")) {
		return 1
	}
	z := html.NewTokenizer(bytes.NewReader(raw))
	z.Next()

	n := 0
	for _, digit := range attribute(z.Token(), "colspan") { // the sanitiser leaves digits only
		n = min(n*10+int(digit-'0'), maxColumns)
	}

	return max(n, 1)
}

// embed counts a finished piece of HTML, such as a formula, and its elements.
func (c *cost) embed(piece string) {
	c.embeds++
	c.pieces++

	for i := 0; i+1 < len(piece); i++ {
		if piece[i] == '<' && piece[i+1] != '/' {
			c.shapes++
		}
	}
}

// check returns ContentTooComplex for a document of more than most parts, or with blocks of too many pieces.
func (c *cost) check(most int) error {
	c.endBlock()

	if c.squares > maxSquares {
		return source.TooComplex(
			"the document has blocks of too many pieces: the largest has %d pieces of text, line breaks, "+
				"images and formulas, and the squares of all are %d together; at most %d are allowed "+
				"(one block of %d): divide it into paragraphs",
			c.largest, c.squares, maxSquares, int(math.Sqrt(maxSquares)))
	}

	if n := c.parts(); n > most {
		return source.TooComplex(
			"the document is too much to print at once: with %d table cells, %d blocks and %d other elements "+
				"it has %d parts; at most %d are allowed (a cell counts as %d, a block as %d)",
			c.cells, c.blocks, c.elements+c.shapes+c.spans+c.embeds, n, most, cellPart, blockPart)
	}

	return nil
}

// checkText returns ContentTooComplex for a text that the browser takes too long to shape or to
// break into lines.
func (p *pass) checkText(text []byte) error {
	if len(text) <= 2*maxMarks { // a combining mark has at least two bytes
		return nil
	}
	word, marks, start := 0, 0, 0

	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
		}
		i += size

		switch {
		case r == ' ' || r == '\n' || r == '\t' || r > unicode.MaxLatin1 && unicode.IsSpace(r):
			word, marks, start = 0, 0, i
			continue
		case joins(r):
			marks++
		default:
			marks = 0
		}
		word++

		if marks > maxMarks {
			return p.tooLong(text, i, "letter with over %d combining marks; at most %d are allowed", maxMarks)
		}

		if word > maxWord {
			return p.tooLong(text, start, "word of over %d characters without a space; at most %d are allowed", maxWord)
		}
	}

	return nil
}

// joins reports whether a character combines with the one before it: marks, conjoining Jamo, joiners, skin tones and
// tags of emoji.
func joins(r rune) bool {
	switch {
	// Latin letters, and Chinese characters up to Hangul syllables: most text, decided without a table.
	case r < 0x300 || r >= 0x3400 && r < 0xd800:
		return false
	case r >= 0x1100 && r < 0x1200, r == 0x200c, r == 0x200d, r >= 0x1f3fb && r <= 0x1f3ff, r >= 0xe0000 && r < 0xe0080:
		return true
	}

	return unicode.Is(unicode.M, r)
}

// tooLong returns ContentTooComplex for the text around offset at. The message has the source line if the source
// contains that text as it is printed. what is a format with two verbs, both for the limit.
func (p *pass) tooLong(text []byte, at int, what string, limit int) error {
	const context = 60 // bytes on either side

	begin := max(0, at-context)
	for begin < at && !utf8.RuneStart(text[begin]) {
		begin++
	}

	end := min(len(text), max(at, begin+context))
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end++
	}

	if line := p.LineOf(bytes.TrimSpace(text[begin:end])); line > 0 {
		return source.TooComplex("line %d: a "+what, line, limit, limit)
	}

	return source.TooComplex("the document holds a "+what, limit, limit)
}
