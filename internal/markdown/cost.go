package markdown

import (
	"bytes"
	"math"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// What Chromium takes to lay out and print a document grows with its elements
// more than with its bytes. A part is a phrase, of about 10 KB and a third of a
// millisecond:
const (
	// MaxParts bounds what is printed at once. A table of 5000 rows and 8 columns
	// has 85 000, a book of 1000 pages 60 000.
	MaxParts  = 100_000
	cellPart  = 2
	blockPart = 3 // some 27 blocks are a page, which takes 30 ms
	// So many elements of formulas and diagrams, or spans of coloured code, are
	// one part.
	shapesPerPart, spansPerPart = 4, 20

	embedPart = 2 // a formula or diagram, without its elements
	// maxSquares bounds the sum of the squares of the pieces of text, line breaks, images
	// and formulas in each block. To tag a block of n pieces takes Chromium 28 ns times n².
	maxSquares = 400_000_000

	// maxWord bounds what the browser finds no place in to break, in characters,
	// maxMarks the marks on one letter: both take it time that grows with the
	// square. Letters of no script have more than ten.
	maxWord  = 500_000
	maxMarks = 500
	// maxColumns is how many columns a cell can span: as HTML has it.
	maxColumns = 1000
)

// cost counts what a document is made of, on its way through finish.
type cost struct {
	cells, blocks, elements, shapes, spans, embeds int

	pieces  int  // of the block that is being read
	inCode  bool // reports whether that is a block of code
	squares int  // see maxSquares
	largest int  // the most pieces of a block
}

func (c *cost) parts() int {
	return c.cells*cellPart + c.blocks*blockPart + c.embeds*embedPart + c.elements + c.shapes/shapesPerPart + c.spans/spansPerPart
}

// tag counts the element that a start tag begins.
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
		if c.inCode { // it holds some of the lines
			c.endBlock()
		}
	default:
		c.elements++
	}
}

// endBlock adds the block that has been read.
func (c *cost) endBlock() {
	c.squares += c.pieces * c.pieces
	c.largest = max(c.largest, c.pieces)
	c.pieces = 0
}

// span is how many columns a cell takes.
func span(raw []byte) int {
	if !bytes.Contains(raw, []byte("colspan")) {
		return 1
	}
	z := html.NewTokenizer(bytes.NewReader(raw))
	z.Next()

	n := 0
	for _, digit := range attr(z.Token(), "colspan") { // the sanitiser leaves digits only
		n = min(n*10+int(digit-'0'), maxColumns)
	}

	return max(n, 1)
}

// embed counts a finished piece.
func (c *cost) embed(piece string) {
	c.embeds++
	c.pieces++

	for i := 0; i+1 < len(piece); i++ {
		if piece[i] == '<' && piece[i+1] != '/' {
			c.shapes++
		}
	}
}

// check refuses a document that would take the browser too long.
func (c *cost) check(most int) error {
	c.endBlock()

	if c.squares > maxSquares {
		return tooComplex(
			"the document has blocks of too many pieces: the largest has %d pieces of text, line breaks, images and formulas, and the squares of all are %d together; at most %d are allowed (one block of %d): divide it into paragraphs",
			c.largest,
			c.squares,
			maxSquares,
			int(math.Sqrt(maxSquares)),
		)
	}

	if n := c.parts(); n > most {
		return tooComplex(
			"the document is too much to print at once: with %d table cells, %d blocks and %d other elements it has %d parts; at most %d are allowed (a cell counts as %d, a block as %d)",
			c.cells,
			c.blocks,
			c.elements+c.shapes+c.spans+c.embeds,
			n,
			most,
			cellPart,
			blockPart,
		)
	}

	return nil
}

// checkText refuses text that takes the browser too long to shape or to break.
func (d *draft) checkText(text []byte) error {
	if len(text) <= 2*maxMarks {
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
			return d.tooLong(text, i, "letter with over %d combining marks; at most %d are allowed", maxMarks)
		}

		if word > maxWord {
			return d.tooLong(text, start, "word of over %d characters without a space; at most %d are allowed", maxWord)
		}
	}

	return nil
}

// joins reports whether a character becomes one with that before it.
func joins(r rune) bool {
	switch {
	case r < 0x300 || r >= 0x3400 && r < 0xd800:
		return false
	case r >= 0x1100 && r < 0x1200, r == 0x200c, r == 0x200d, r >= 0x1f3fb && r <= 0x1f3ff, r >= 0xe0000 && r < 0xe0080:
		return true
	}

	return unicode.Is(unicode.M, r)
}

// tooLong names the line of some text if it is written in the source as it is
// printed.
func (d *draft) tooLong(text []byte, at int, what string, limit int) error {
	const looked = 60

	begin := max(0, at-looked)
	for begin < at && !utf8.RuneStart(text[begin]) {
		begin++
	}

	end := min(len(text), max(at, begin+looked))
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end++
	}

	if i := bytes.Index(d.src, bytes.TrimSpace(text[begin:end])); i >= 0 {
		return tooComplex("line %d: a "+what, d.lines.At(i), limit, limit)
	}

	return tooComplex("the document holds a "+what, limit, limit)
}
