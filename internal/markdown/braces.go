package markdown

import (
	"bytes"
	"slices"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"presswork/internal/markdown/ext/math"
	"presswork/internal/markdown/label"
	"presswork/internal/markdown/source"
	"presswork/internal/markdown/tree"
)

// braces are attributes found in a text, until it is known what they belong to.
type braces struct {
	ast.BaseInline
	attributes tree.Attributes
	segment    text.Segment
	// last reports whether they end their block.
	last bool
	// kramdown reports whether they have its form: {: .class}.
	kramdown bool
}

func (*braces) Kind() ast.NodeKind { return kindBraces }

func (n *braces) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

var kindBraces = ast.NewNodeKind("Braces")

// bracesParser finds attributes: right behind an inline element, or at the end
// of a block.
type bracesParser struct{}

func (bracesParser) Trigger() []byte { return []byte{'{'} }

func (bracesParser) Parse(parent ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, segment := block.PeekLine()
	before := block.PrecendingCharacter()

	behind := before < 0x80 && bytes.IndexByte([]byte(")]`*_~^=+>"), byte(before)) >= 0
	if !behind && before != ' ' && before != '\t' && before != '\n' {
		return nil
	}

	a, size := tree.ReadAttributes(line)
	if size == 0 {
		return nil
	}
	kramdown := line[1] == ':'
	alone := len(bytes.TrimSpace(line[size:])) == 0
	// Other programs' attributes are dropped, too, behind a link or picture and in a form
	// that is nothing else.
	dropped := (before == ')' || kramdown) && len(a.Pairs) > 0 ||
		kramdown && alone && len(a.Words) == 1 && slices.Contains(listNames(), a.Words[0])
	if !a.Effective() && !dropped {
		return nil
	}
	lines := parent.Lines()
	last := alone && segment.Stop >= lines.At(lines.Len()-1).Stop

	n := &braces{attributes: a, segment: segment.WithStop(segment.Start + size), last: last, kramdown: kramdown}
	if kramdown && alone && !last && !parent.HasChildren() && parent.Kind() == ast.KindParagraph { // above a paragraph
		block.AdvanceLine()
		return n
	}

	if !behind && !last &&
		(label.KindOf(a.ID) != Equation || displayBefore(parent.LastChild(), block.Source()) == nil) {
		return nil
	}
	block.Advance(size)

	return n
}

// listNames are the attribute lists of kramdown and kramdown-rfc that documents name
// without defining them.
func listNames() []string { return []string{"aside", "compact", "toc", "unlisted"} }

// inlineTransformer gives attributes to what they belong to, makes text of those
// that belong to nothing, and joins texts.
type inlineTransformer struct{}

func (inlineTransformer) Transform(root *ast.Document, reader text.Reader, _ parser.Context) {
	var found []*braces
	tree.Each(root, func(n ast.Node) {
		switch n := n.(type) {
		case *braces:
			found = append(found, n)
		case *ast.Text:
			joinTexts(n)

			if n.HardLineBreak() {
				n.Segment = n.Segment.TrimRightSpace(reader.Source())
			}
		}
	})

	if len(found) == 0 {
		return
	}

	parents := map[ast.Node]bool{}
	for _, b := range found {
		if parent := b.Parent(); parent != nil && !parents[parent] {
			parents[parent] = true
			makeSpans(parent, reader.Source())
		}
	}

	for _, b := range found {
		if b.Parent() == nil {
			continue // taken by a span
		}

		if !b.settle(reader.Source()) {
			tree.Replace(b, ast.NewTextSegment(b.segment))
		}
	}
}

// joinTexts takes in the texts that continue this one. Goldmark cuts a text
// wherever a parser looked and found nothing, even in the spaces before a hard
// break.
func joinTexts(t *ast.Text) {
	for !t.IsRaw() && !t.SoftLineBreak() && !t.HardLineBreak() {
		more, ok := t.NextSibling().(*ast.Text)
		if !ok || more.IsRaw() || more.Segment.Start != t.Segment.Stop || more.Segment.Padding != 0 {
			return
		}
		t.Segment = t.Segment.WithStop(more.Segment.Stop)
		t.SetSoftLineBreak(more.SoftLineBreak())
		t.SetHardLineBreak(more.HardLineBreak())
		t.Parent().RemoveChild(t.Parent(), more)
	}
}

// settle gives attributes to the element before them or to their block.
func (b *braces) settle(src []byte) bool {
	parent, before := b.Parent(), b.PreviousSibling()
	if label.KindOf(b.attributes.ID) == Equation {
		if f := displayBefore(before, src); f != nil {
			if t, ok := before.(*ast.Text); ok && t.Parent() != nil {
				parent.RemoveChild(parent, t)
			}
			b.attributes.SetOn(f)
			parent.RemoveChild(parent, b)

			return true
		}
	}

	switch n := before.(type) {
	case *ast.Link, *ast.Image, *ast.CodeSpan, *ast.Emphasis, *ast.AutoLink, *east.Strikethrough, *tree.Element:
		if image, ok := n.(*ast.Image); ok && !image.HasChildren() {
			if alt, ok := b.attributes.Get("fig-alt", "alt"); ok {
				image.AppendChild(image, ast.NewString([]byte(alt)))
			}
		}
		b.attributes.SetOn(n)
		parent.RemoveChild(parent, b)

		return true
	}

	if before == nil && b.kramdown && !b.last && b.NextSibling() != nil {
		parent.RemoveChild(parent, b)
		b.attributes.SetOn(parent)

		return true
	}

	if !b.last || b.NextSibling() != nil {
		return false
	}
	var target ast.Node

	switch p := parent.(type) {
	case *ast.Heading:
		target = p
	case *east.TableCell:
		if table := tableAbove(p); before == nil && table != nil {
			table.RemoveChild(table, p.Parent())
			b.attributes.SetOnBlock(table)

			return true
		}
		target = p
	case *ast.TextBlock:
		target = p.Parent()
		if target.Kind() != ast.KindListItem && target.Kind() != east.KindDefinitionDescription {
			return false
		}
		// Not indented below its last item, they are the list's.
		if start := b.segment.Start; b.kramdown && src[start-1] == '\n' && target.NextSibling() == nil {
			target = target.Parent()
		}
	case *ast.Paragraph:
		target = p
		if before == nil { // on lines of their own
			if target = b.neighbour(p, src); target == nil {
				return false
			}
			p.Parent().RemoveChild(p.Parent(), p)
			b.attributes.SetOnBlock(target)

			return true
		}
	default:
		return false
	}

	if t, ok := before.(*ast.Text); ok {
		trimmed := t.Segment.TrimRightSpace(src)
		if !t.SoftLineBreak() && t.Segment.Len() == trimmed.Len() {
			return false // "f{.x}" is a text
		}
		t.Segment = trimmed
		t.SetSoftLineBreak(false)

		if trimmed.Len() == 0 {
			parent.RemoveChild(parent, t)
		}
	}
	parent.RemoveChild(parent, b)
	b.attributes.SetOnBlock(target)

	return true
}

// neighbour is the block that attributes in a paragraph of their own belong to, nil for
// none: the one before or, in kramdown's form, the one that no blank line is before.
func (b *braces) neighbour(p *ast.Paragraph, src []byte) ast.Node {
	before, after := p.PreviousSibling(), p.NextSibling()
	if before != nil && before.Kind() == ast.KindLinkReferenceDefinition {
		before = nil
	}

	if b.kramdown && after != nil {
		blank := func(line []byte) bool { return len(bytes.Trim(line, " \t>\n")) == 0 }
		above := src[:bytes.LastIndexByte(src[:b.segment.Start], '\n')+1]

		below := src[source.LineEnd(src, b.segment.Start):]
		if before == nil ||
			blank(above[bytes.LastIndexByte(bytes.TrimSuffix(above, []byte("\n")), '\n')+1:]) &&
				!blank(below[:source.LineEnd(below, 0)]) {
			return after
		}
	}

	return before
}

// tableAbove is the table of which a cell is alone in the last row: right under a table,
// a line is taken for one.
func tableAbove(cell *east.TableCell) ast.Node {
	row := cell.Parent()
	if row.Kind() != east.KindTableRow || row.NextSibling() != nil || row.FirstChild() != cell {
		return nil
	}

	for c := cell.NextSibling(); c != nil; c = c.NextSibling() {
		if c.HasChildren() {
			return nil
		}
	}

	return row.Parent()
}

// displayBefore returns the display formula that n is or, with nothing but space
// between, that stands before n.
func displayBefore(n ast.Node, src []byte) *math.Formula {
	if t, ok := n.(*ast.Text); ok && len(bytes.TrimSpace(t.Segment.Value(src))) == 0 {
		n = t.PreviousSibling()
	}

	if f, ok := n.(*math.Formula); ok && f.Display {
		return f
	}

	return nil
}

// makeSpans turns [text]{.class} among the children of a node into spans, in
// one pass.
func makeSpans(parent ast.Node, src []byte) {
	type bracket struct {
		node *ast.Text
		at   int // in the source
	}
	var open []bracket

	for c := parent.FirstChild(); c != nil; {
		next := c.NextSibling()

		t, ok := c.(*ast.Text)
		if !ok {
			c = next
			continue
		}

		for i := t.Segment.Start; i < t.Segment.Stop; i++ {
			switch src[i] {
			case '\\':
				i++
			case '[':
				open = append(open, bracket{t, i})
			case ']':
				if len(open) == 0 {
					continue
				}
				from := open[len(open)-1]
				open = open[:len(open)-1]

				if b, ok := next.(*braces); ok && i == t.Segment.Stop-1 && !t.SoftLineBreak() {
					wrapSpan(from.node, from.at, t, i, b)
					next = b.NextSibling()
					parent.RemoveChild(parent, b)
				}
			}
		}
		c = next
	}
}

// wrapSpan puts what stands between the bracket at from in first and the one
// that ends last into a span.
func wrapSpan(first *ast.Text, from int, last *ast.Text, to int, b *braces) {
	parent, span := first.Parent(), &tree.Element{Tag: "span"}
	span.SetPos(from)
	b.attributes.SetOn(span)
	parent.InsertAfter(parent, last, span)

	if first == last {
		span.AppendChild(span, ast.NewTextSegment(text.NewSegment(from+1, to)))
		first.Segment = first.Segment.WithStop(from)

		return
	}
	inner := ast.NewTextSegment(text.NewSegment(from+1, first.Segment.Stop))
	inner.SetSoftLineBreak(first.SoftLineBreak())
	inner.SetHardLineBreak(first.HardLineBreak())
	span.AppendChild(span, inner)

	for c := first.NextSibling(); c != span; {
		next := c.NextSibling()
		span.AppendChild(span, c)
		c = next
	}
	last.Segment = last.Segment.WithStop(to)
	first.Segment = first.Segment.WithStop(from)
	first.SetSoftLineBreak(false)
	first.SetHardLineBreak(false)
}
