// Package block describes rendered Markdown as blocks: which element each one is,
// and what a page must know of it. Its callers read fields and never search HTML.
package block

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Kind says what a block is.
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
	Note                  // one footnote in it
	PageBreak             // a div that ends the page
	Place                 // an empty nav that stands for a list; its class says which
)

// Block is a topmost element of rendered Markdown, or one within it that a page treats
// on its own: a paragraph, heading, table, code block, div or place.
type Block struct {
	Kind    Kind
	Level   int // of a heading, 1 to 6
	ID      string
	Classes []string
	// Columns is how many columns of type a code block wants, 0 for one with short lines.
	Columns int
	// HTML is all of it. That of a topmost block includes the space after it.
	HTML string
	// Blocks are those within it, in order. Each begins at its At in HTML.
	Blocks []Block
	At     int
	// Anchor reports that it is an a element.
	Anchor bool
	// Pictures, Drawings, Tables and LineBreaks report that it holds or is such.
	Pictures, Drawings, Tables, LineBreaks bool
	// Rich reports that it holds more than headings, paragraphs and their text: lists,
	// quotes, images, drawings, code, page breaks, columns.
	Rich bool
	// Closed reports that its own end tag ends it.
	Closed bool
	// Unsound reports that tags in it are missing or too many. Leaks reports that elements
	// begun in it go on after it: browsers open them again.
	Unsound, Leaks bool

	name, tag, end int // lengths: of the element's name, the start tag, all up to the end tag's end
}

// Tag is the start tag, "" of text.
func (b *Block) Tag() string { return b.HTML[:b.tag] }

// NameEnd is where in HTML the name ends, so that an attribute may follow.
func (b *Block) NameEnd() int { return 1 + b.name }

// Element is the HTML without the space after it, After that space.
func (b *Block) Element() string { return b.HTML[:b.end] }

// After is the space after the element, or text that belongs to no element.
func (b *Block) After() string { return b.HTML[b.end:] }

// Inner is what stands between start tag and end tag.
func (b *Block) Inner() string {
	inner := b.HTML[b.tag:b.end]
	if b.Closed {
		inner = inner[:len(inner)-len("</>")-b.name]
	}

	return inner
}

// HoldsParagraphs reports whether paragraphs or code blocks stand in it.
func (b *Block) HoldsParagraphs() bool {
	return slices.ContainsFunc(b.Blocks, func(within Block) bool {
		return within.Kind == Paragraph || within.Kind == Code || within.HoldsParagraphs()
	})
}

// HasClass reports whether it has a class.
func (b *Block) HasClass(class string) bool { return slices.Contains(b.Classes, class) }

// Walk calls visit for every block of a tree, parents first.
func Walk(blocks []Block, visit func(*Block)) {
	for i := range blocks {
		visit(&blocks[i])
		Walk(blocks[i].Blocks, visit)
	}
}

// Join is the HTML of blocks.
func Join(blocks []Block) string {
	var out strings.Builder
	for _, b := range blocks {
		out.WriteString(b.HTML)
	}

	return out.String()
}

// voids are the elements without an end tag.
var voids = []string{
	"area",
	"base",
	"br",
	"col",
	"embed",
	"hr",
	"img",
	"input",
	"link",
	"meta",
	"param",
	"source",
	"track",
	"wbr",
}

// implied are the elements that end with their parent.
var implied = []string{"p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot"}

// Read cuts HTML that package markdown wrote into blocks. Joined, they are the HTML again.
// It reads wrong nesting as browsers do, as far as it can, and marks it.
func Read(source string) []Block {
	r := reader{source: source}

	z := html.NewTokenizer(strings.NewReader(source))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		length := len(z.Raw())

		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			r.start(z, kind == html.StartTagToken, length)
		case html.EndTagToken:
			name, _ := z.TagName()
			r.close(string(name), length)
		}
		r.at += length
	}

	r.at = len(source) // a tag may be cut off
	for len(r.open) > 0 {
		r.closeLast(r.at, false)
	}
	r.end()

	return r.blocks
}

// reader is the state of Read.
type reader struct {
	source string
	at     int
	open   []element
	begun  []begun
	blocks []Block // topmost
	parts  []Block // of begun blocks, complete: they wait for their parents
}

// element is an open element; block reports that it becomes a block.
type element struct {
	name  string
	block bool
}

// begun is a block whose end is not read yet.
type begun struct {
	Block
	start int
	parts int // how many parts were complete before it
}

// end gives the last topmost block what follows it, up to here.
func (r *reader) end() {
	start := 0

	if n := len(r.blocks); n > 0 {
		last := &r.blocks[n-1]
		start = last.At
		last.HTML = r.source[start:r.at]

		return
	}

	if r.at > start { // text before the first element
		r.blocks = append(r.blocks, Block{HTML: r.source[:r.at]})
	}
}

func (r *reader) start(z *html.Tokenizer, hasEnd bool, length int) {
	if len(r.open) == 0 {
		r.end()
	}
	raw, more := z.TagName()

	name := atom.Lookup(raw).String()
	if name == "" {
		name = string(raw)
	}
	hasEnd = hasEnd && !slices.Contains(voids, name)
	kind, level := kindOf(name)
	isNote := r.isNote(name)

	block := len(r.open) == 0 || kind != Other || isNote
	if block {
		b := begun{
			start: r.at,
			parts: len(r.parts),
			Block: Block{Kind: kind, Level: level, Anchor: name == "a", name: len(name), tag: length},
		}

		for more {
			var key, value []byte
			key, value, more = z.TagAttr()
			b.note(string(key), value)
		}
		b.refine(r.source[r.at:], isNote)
		r.begun = append(r.begun, b)
	}
	r.mark(name, block)

	switch {
	case hasEnd:
		r.open = append(r.open, element{name, block})
	case block:
		r.pop(r.at+length, false)
	}
}

// kindOf is the kind of an element, by its name alone.
func kindOf(name string) (kind Kind, level int) {
	switch name {
	case "p":
		return Paragraph, 0
	case "h1", "h2", "h3", "h4", "h5", "h6":
		return Heading, int(name[1] - '0')
	case "table":
		return Table, 0
	case "pre":
		return Code, 0
	case "div":
		return Division, 0
	case "nav":
		return Place, 0
	}

	return Other, 0
}

// isNote reports whether an element that begins here is one footnote.
func (r *reader) isNote(name string) bool {
	n := len(r.open)

	return name == "li" && n > 1 && r.open[n-1].name == "ol" && r.open[n-2].block &&
		r.begun[len(r.begun)-1].Kind == Footnotes
}

// note takes what matters of an attribute.
func (b *Block) note(key string, value []byte) {
	switch key {
	case "id":
		b.ID = string(value)
	case "class":
		b.Classes = strings.Fields(string(value))
	case "data-columns":
		for _, digit := range value { // package markdown writes digits only
			b.Columns = b.Columns*10 + int(digit-'0')
		}
	}
}

// refine tells the kinds of div, nav and li apart. Source begins with the element.
func (b *Block) refine(source string, isNote bool) {
	class := ""
	if len(b.Classes) == 1 {
		class = b.Classes[0]
	}

	switch {
	case isNote:
		b.Kind = Note
	case b.Kind == Place && (class == "" || !strings.HasPrefix(source[b.tag:], "</nav>")):
		b.Kind = Other
	case b.Kind != Division:
	case class == "footnotes":
		b.Kind = Footnotes
	case class == "page-break":
		b.Kind = PageBreak
	case class == "diagram" && strings.HasPrefix(source[b.tag:], "<svg "):
		b.Kind = Diagram
	}
}

// mark notes on the begun blocks what an element means to them; own reports that the last
// one is the element's.
func (r *reader) mark(name string, own bool) {
	picture, drawing, table, lineBreak, rich := false, false, name == "table", false, false
	switch name {
	case "br":
		lineBreak = true
	case "img":
		picture, rich = true, true
	case "ul", "ol", "dl", "li", "blockquote", "details", "nav", "pre", "svg", "figure", "section":
		rich = true
	}

	if own {
		b := &r.begun[len(r.begun)-1]
		drawing = b.Kind == Diagram
		rich = rich || b.Kind == PageBreak || len(b.Classes) > 0 && strings.HasPrefix(b.Classes[0], "columns")
	}

	if !picture && !drawing && !table && !lineBreak && !rich {
		return
	}

	for i := range r.begun {
		b := &r.begun[i]
		b.Pictures, b.Drawings, b.Tables = b.Pictures || picture, b.Drawings || drawing, b.Tables || table
		b.LineBreaks, b.Rich = b.LineBreaks || lineBreak, b.Rich || rich
	}
}

// phrasing are the elements that browsers open again after the end of what they stand in.
var phrasing = []string{
	"a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u",
	"abbr", "cite", "del", "dfn", "ins", "kbd", "mark", "q", "samp", "span", "sub", "sup", "var", "bdi", "bdo",
}

// close ends what an end tag ends. One that ends none of the open elements is ignored, as
// browsers ignore it.
func (r *reader) close(name string, length int) {
	if len(r.open) == 0 {
		if n := len(r.blocks); n > 0 {
			r.blocks[n-1].Unsound = true
		}

		return
	}
	leaks := false

	for i, e := range slices.Backward(r.open) {
		if e.name == name {
			r.begun[0].Unsound = r.begun[0].Unsound || i < len(r.open)-1

			r.begun[0].Leaks = r.begun[0].Leaks || leaks
			for len(r.open) > i+1 {
				r.closeLast(r.at, false)
			}
			r.closeLast(r.at+length, true)

			return
		}

		switch {
		case slices.Contains(implied, e.name):
		case slices.Contains(phrasing, e.name) && !slices.Contains(phrasing, name):
			leaks = true
		default:
			r.begun[0].Unsound = true
			return
		}
	}
	r.begun[0].Unsound = true
}

// closeLast ends the innermost open element.
func (r *reader) closeLast(end int, closed bool) {
	last := len(r.open) - 1
	if r.open[last].block {
		r.pop(end, closed)
	}
	r.open = r.open[:last]
}

// pop ends the block that was begun last, and adds it to those that it stands among.
func (r *reader) pop(end int, closed bool) {
	last := len(r.begun) - 1
	b := r.begun[last]
	r.begun = r.begun[:last]

	b.Closed, b.end = closed, end-b.start
	if own := r.parts[b.parts:]; len(own) > 0 {
		b.Blocks = slices.Clone(own)
		for i := range b.Blocks {
			b.Blocks[i].At -= b.start
		}
		r.parts = r.parts[:b.parts]
	}

	b.HTML, b.At = r.source[b.start:end], b.start
	if last == 0 {
		r.blocks = append(r.blocks, b.Block)
		return
	}
	r.parts = append(r.parts, b.Block)
}
