package attribute

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"presswork/internal/markdown/tree"
)

// makeSpans replaces [text]{.class} among the children of a node by spans. It takes linear time.
func makeSpans(parent ast.Node, src []byte) {
	type bracket struct {
		node *ast.Text
		at   int // the offset in the source
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

// wrapSpan moves the nodes between two brackets into a span with the attributes b. The opening bracket is in the text
// first, at the offset opening of the source. The closing bracket is the last byte of the text last, at the offset
// closing.
func wrapSpan(first *ast.Text, opening int, last *ast.Text, closing int, b *braces) {
	parent, span := first.Parent(), &tree.Element{Tag: "span"}
	span.SetPos(opening)
	b.attributes.SetOn(span)
	parent.InsertAfter(parent, last, span)

	if first == last {
		span.AppendChild(span, ast.NewTextSegment(text.NewSegment(opening+1, closing)))
		first.Segment = first.Segment.WithStop(opening)

		return
	}
	inner := ast.NewTextSegment(text.NewSegment(opening+1, first.Segment.Stop))
	inner.SetSoftLineBreak(first.SoftLineBreak())
	inner.SetHardLineBreak(first.HardLineBreak())
	span.AppendChild(span, inner)

	for c := first.NextSibling(); c != span; {
		next := c.NextSibling()
		span.AppendChild(span, c)
		c = next
	}
	last.Segment = last.Segment.WithStop(closing)
	first.Segment = first.Segment.WithStop(opening)
	first.SetSoftLineBreak(false)
	first.SetHardLineBreak(false)
}
