// Package block describes rendered Markdown as blocks: the kind of each element and what page composition needs to
// know about it. Read cuts HTML into blocks. Callers read the fields and methods of a Block and never search HTML.
package block

import (
	"slices"
	"strings"
)

// Kind is the kind of a block.
type Kind uint8

// The kinds of blocks.
const (
	Other     Kind = iota // an element of no other kind, or text outside of elements
	Paragraph             // p
	Heading               // h1 to h6
	Table                 // table
	Code                  // pre
	Division              // div
	Diagram               // a div with a drawn diagram
	Footnotes             // the div of all footnotes
	Note                  // one footnote in Footnotes
	PageBreak             // a div that ends the page
	Place                 // an empty nav where a list is printed; its class says which list
)

// Block is an element of rendered Markdown. Blocks are all top-level elements, and those within them that page
// composition treats on their own: paragraphs, headings, tables, code, divs and places. A Block has no source line:
// with lines in the HTML, rendering took 21 % longer, because tags with an attribute miss the sanitiser's fast path.
type Block struct {
	Kind    Kind
	Level   int // of a heading, 1 to 6
	ID      string
	Classes []string
	// Columns is the number of characters in the longest lines of a code block, 0 if all lines are short.
	Columns int
	// HTML is the whole element. That of a top-level block includes the space after it.
	HTML string
	// Blocks are the blocks within this one, in order. Each begins at its At in HTML.
	Blocks []Block
	At     int
	// Anchor reports whether the block is an element of the name a.
	Anchor bool
	// Pictures, Drawings, Tables and LineBreaks report whether the block is or contains an img, a drawn diagram, a
	// table or a br.
	Pictures, Drawings, Tables, LineBreaks bool
	// Rich reports whether the block has more than headings, paragraphs and their text: lists, quotes, images,
	// drawings, code, page breaks or columns.
	Rich bool
	// Closed reports whether the block ends with its own end tag.
	Closed bool
	// Unsound reports whether tags within a top-level block are missing or superfluous. Leaks reports whether elements
	// that begin in a top-level block continue after it, because browsers open them again.
	Unsound, Leaks bool

	name, tag, end int // the lengths in bytes of the name, of the start tag, and of the element with its end tag
}

// Tag returns the start tag, "" for text.
func (b *Block) Tag() string { return b.HTML[:b.tag] }

// Bare reports whether the start tag has no attribute except that of the source line.
func (b *Block) Bare() bool {
	if b.tag == 0 {
		return false
	}

	attributes := b.Tag()[b.NameEnd():]
	if line, ok := strings.CutPrefix(attributes, ` data-line="`); ok {
		attributes = strings.TrimPrefix(strings.TrimLeft(line, "0123456789"), `"`)
	}

	return attributes == ">"
}

// NameEnd returns the offset in HTML after the name of the element, where an attribute may be inserted.
func (b *Block) NameEnd() int { return 1 + b.name }

// Element returns the HTML without the space after the element.
func (b *Block) Element() string { return b.HTML[:b.end] }

// After returns the space after the element, or text outside of elements.
func (b *Block) After() string { return b.HTML[b.end:] }

// Inner returns the HTML between start tag and end tag.
func (b *Block) Inner() string {
	inner := b.HTML[b.tag:b.end]
	if b.Closed {
		inner = inner[:len(inner)-len("</>")-b.name]
	}

	return inner
}

// HoldsParagraphs reports whether the block contains paragraphs or code blocks.
func (b *Block) HoldsParagraphs() bool {
	return slices.ContainsFunc(b.Blocks, func(within Block) bool {
		return within.Kind == Paragraph || within.Kind == Code || within.HoldsParagraphs()
	})
}

// HasClass reports whether the block has a class.
func (b *Block) HasClass(class string) bool { return slices.Contains(b.Classes, class) }

// Walk calls visit for every block of a tree, parents before their children. visit may change the block.
func Walk(blocks []Block, visit func(*Block)) {
	for i := range blocks {
		visit(&blocks[i])
		Walk(blocks[i].Blocks, visit)
	}
}
