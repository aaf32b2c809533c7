package block

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// IsVoid reports whether an element has no end tag (HTML, "void elements").
func IsVoid(element string) bool {
	switch element {
	case "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr":
		return true
	}

	return false
}

// implied are the elements that end with their parent.
var implied = []string{"p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot"}

// Read cuts HTML from package markdown into blocks. Join returns the HTML again. Read resolves wrong nesting the
// way browsers do, as far as possible, and marks the block.
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
	open   []element // the open elements
	begun  []begun   // the open blocks
	blocks []Block   // topmost
	parts  []Block   // of begun blocks, complete: they wait for their parents
}

// element is an open element. block reports whether it becomes a block.
type element struct {
	name  string
	block bool
}

// begun is a block whose end has not been read.
type begun struct {
	Block
	start int
	parts int // how many parts were complete before it
}

// end adds the text up to here to the last top-level block.
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

// start reads a start tag of the given length. An element that becomes a block is begun.
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

// note keeps the attributes that callers need.
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

// mark records in all begun blocks what an element adds to them. own reports whether the last of them is the
// element itself.
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

// phrasing are the elements that browsers open again after the end of their parent.
var phrasing = []string{
	"a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u",
	"abbr", "cite", "del", "dfn", "ins", "kbd", "mark", "q", "samp", "span", "sub", "sup", "var", "bdi", "bdo",
}

// close closes the elements that an end tag closes. Like browsers, it ignores an end tag without an open element.
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

// closeLast closes the innermost open element.
func (r *reader) closeLast(end int, closed bool) {
	last := len(r.open) - 1
	if r.open[last].block {
		r.pop(end, closed)
	}
	r.open = r.open[:last]
}

// pop ends the last begun block and adds it to its parent.
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
