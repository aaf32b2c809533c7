package block

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// IsVoid reports whether an element never has an end tag: HTML calls it a void element.
func IsVoid(element string) bool {
	switch element {
	case "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr":
		return true
	}

	return false
}

// implied are the elements whose end tag may be missing: they end with their parent.
var implied = []string{"p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot"}

// Read cuts HTML from package markdown into blocks. The HTML of the top-level blocks, joined, is the source. Read
// resolves wrong nesting as browsers do, as far as possible, and marks the top-level block as Unsound or Leaks.
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

	r.at = len(source) // a tag that is cut off gives no token
	for len(r.open) > 0 {
		r.closeLast(r.at, false)
	}
	r.end()

	return r.blocks
}

// reader is the state of Read.
type reader struct {
	source string
	at     int       // the offset of the current token
	open   []element // the open elements
	begun  []begun   // the open blocks
	blocks []Block   // the top-level blocks that have ended
	parts  []Block   // the blocks within open blocks that have ended, for Block.Blocks of their parents
}

// element is an open element. block reports whether it becomes a block.
type element struct {
	name  string
	block bool
}

// begun is a block whose end has not been read.
type begun struct {
	Block
	start int // the offset of the start tag
	parts int // the length of reader.parts when the block began
}

// end adds the text up to the current offset to the last top-level block.
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

// start reads a start tag of the given length. Top-level elements, elements of a known kind and footnotes become
// blocks.
func (r *reader) start(z *html.Tokenizer, hasEnd bool, length int) {
	if len(r.open) == 0 {
		r.end()
	}
	raw, more := z.TagName()

	name := atom.Lookup(raw).String()
	if name == "" {
		name = string(raw)
	}
	hasEnd = hasEnd && !IsVoid(name)
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
			b.setAttribute(string(key), value)
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

// kindOf returns the kind of an element by its name alone, and the level of a heading.
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

// isNote reports whether an element that begins here is a footnote: an item of the list in the footnotes.
func (r *reader) isNote(name string) bool {
	n := len(r.open)

	return name == "li" && n > 1 && r.open[n-1].name == "ol" && r.open[n-2].block &&
		r.begun[len(r.begun)-1].Kind == Footnotes
}

// setAttribute sets the field for an attribute that callers need.
func (b *Block) setAttribute(key string, value []byte) {
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

// refine distinguishes the kinds of div, nav and li. source begins with the element.
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

// mark sets Pictures, Drawings, Tables, LineBreaks and Rich of all open blocks for an element in them. own reports
// whether the last open block is the element itself.
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

// phrasing are the elements that browsers open again after their parent if they are not closed within it.
var phrasing = []string{
	"a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u",
	"abbr", "cite", "del", "dfn", "ins", "kbd", "mark", "q", "samp", "span", "sub", "sup", "var", "bdi", "bdo",
}

// close closes the elements that an end tag closes: the last one of its name and those within it. Like browsers, it
// ignores an end tag without an open element.
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

// closeLast closes the innermost open element at the offset end. closed reports whether it has an end tag.
func (r *reader) closeLast(end int, closed bool) {
	last := len(r.open) - 1
	if r.open[last].block {
		r.pop(end, closed)
	}
	r.open = r.open[:last]
}

// pop ends the innermost open block at the offset end and adds it to its parent. closed reports whether it has an end
// tag.
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
