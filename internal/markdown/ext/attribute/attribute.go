// Package attribute reads attributes in braces, {.class #id key=value}, and those of kramdown, {: .class}. An inline
// parser puts them into the tree as nodes. When the tree is parsed, a transformer finds the element of each node. That
// is the inline element or formula before it, a span in brackets, or the block that it ends.
package attribute

import (
	"bytes"
	"slices"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"presswork/internal/markdown/label"
	"presswork/internal/markdown/source"
	"presswork/internal/markdown/tree"
)

// Extension adds attributes to inline elements and blocks, and spans: [text]{.class}.
type Extension struct{}

// Extend implements goldmark.Extender. The transformer comes before others that search texts, such as that of
// abbreviations (110), because it joins the texts that goldmark has cut.
func (Extension) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(
		parser.WithInlineParsers(util.Prioritized(bracesParser{}, 450)),
		parser.WithASTTransformers(util.Prioritized(transformer{}, 100)),
	)
}

// braces is a node for attributes until the transformer finds their element.
type braces struct {
	ast.BaseInline
	attributes tree.Attributes
	segment    text.Segment // the braces in the source
	// last reports whether the block ends with the braces.
	last bool
	// kramdown reports whether the braces have the form of kramdown: {: .class}.
	kramdown bool
}

// formula is a formula of package math, which may have a label. Extensions do not import each other.
type formula interface {
	ast.Node
	// IsDisplay reports whether the formula stands on a line of its own.
	IsDisplay() bool
}

func (*braces) Kind() ast.NodeKind { return kindBraces }

func (n *braces) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

// kindBraces is the kind of braces. No renderer has it: the transformer removes all of them.
var kindBraces = ast.NewNodeKind("Braces")

// bracesParser finds attributes right after an inline element or at the end of a block.
type bracesParser struct{}

func (bracesParser) Trigger() []byte { return []byte{'{'} }

// Parse reads attributes in braces after an inline element, or at the start or the end of a block. Braces without an
// effect stay text.
func (bracesParser) Parse(parent ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, segment := block.PeekLine()
	before := block.PrecendingCharacter()

	adjacent := before < 0x80 && bytes.IndexByte([]byte(")]`*_~^=+>"), byte(before)) >= 0
	if !adjacent && before != ' ' && before != '\t' && before != '\n' {
		return nil
	}

	a, size := tree.ReadAttributes(line)
	if size == 0 {
		return nil
	}
	kramdown := line[1] == ':'
	alone := len(bytes.TrimSpace(line[size:])) == 0
	// Also remove braces without an effect that cannot be text: after a link or an image, and in the form of kramdown.
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

	if !adjacent && !last &&
		(label.KindOf(a.ID) != label.Equation || displayBefore(parent.LastChild(), block.Source()) == nil) {
		return nil
	}
	block.Advance(size)

	return n
}

// listNames returns the names of attribute lists that documents for kramdown and kramdown-rfc use
// without a definition.
func listNames() []string { return []string{"aside", "compact", "toc", "unlisted"} }

// transformer gives the attributes to their elements. Braces without an element become text. It also joins the texts
// that goldmark has cut.
type transformer struct{}

// Transform sets the attributes on their elements.
func (transformer) Transform(root *ast.Document, reader text.Reader, _ parser.Context) {
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

	// Make spans first: their attributes must not go to an element within the brackets.
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

// joinTexts joins a text with the texts after it. Goldmark cuts a text at every character that triggers
// an inline parser, even if the parser finds nothing there.
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

// settle sets the attributes on the element before them or on their block, and removes the braces. It returns false if
// they belong to neither.
func (b *braces) settle(src []byte) bool {
	before := b.PreviousSibling()

	switch {
	case b.settleOnFormula(before, src), b.settleOnElement(before):
		return true
	case before == nil && b.kramdown && !b.last && b.NextSibling() != nil: // on the line above a paragraph
		parent := b.Parent()
		parent.RemoveChild(parent, b)
		b.attributes.SetOn(parent)

		return true
	case !b.last || b.NextSibling() != nil:
		return false
	case before == nil:
		return b.settleAlone(src)
	}

	target := b.block(src)
	if target == nil || !trimBefore(before, src) {
		return false
	}
	b.Parent().RemoveChild(b.Parent(), b)
	b.attributes.SetOnBlock(target)

	return true
}

// settleOnFormula sets the label of an equation on the display formula before it. It returns false if there is none.
func (b *braces) settleOnFormula(before ast.Node, src []byte) bool {
	if label.KindOf(b.attributes.ID) != label.Equation {
		return false
	}

	f := displayBefore(before, src)
	if f == nil {
		return false
	}
	parent := b.Parent()

	if t, ok := before.(*ast.Text); ok {
		parent.RemoveChild(parent, t)
	}
	b.attributes.SetOn(f)
	parent.RemoveChild(parent, b)

	return true
}

// settleOnElement sets the attributes on the inline element before them. It returns false for other nodes.
func (b *braces) settleOnElement(before ast.Node) bool {
	switch n := before.(type) {
	case *ast.Link, *ast.CodeSpan, *ast.Emphasis, *ast.AutoLink, *east.Strikethrough, *tree.Element:
	case *ast.Image:
		if alt, ok := b.attributes.Get("fig-alt", "alt"); ok && !n.HasChildren() {
			n.AppendChild(n, ast.NewString([]byte(alt)))
		}
	default:
		return false
	}
	b.attributes.SetOn(before)
	b.Parent().RemoveChild(b.Parent(), b)

	return true
}

// settleAlone sets attributes without text before them on the block to which they belong, and removes their own block.
// It returns false if they belong to no block.
func (b *braces) settleAlone(src []byte) bool {
	var target ast.Node

	switch p := b.Parent().(type) {
	case *ast.Paragraph:
		if target = b.neighbour(p, src); target == nil {
			return false
		}
		p.Parent().RemoveChild(p.Parent(), p)
	case *east.TableCell:
		if target = tableAbove(p); target != nil {
			target.RemoveChild(target, p.Parent())
			break
		}
		target = b.block(src)
		p.RemoveChild(p, b)
	default:
		if target = b.block(src); target == nil {
			return false
		}
		p.RemoveChild(p, b)
	}
	b.attributes.SetOnBlock(target)

	return true
}

// block returns the block that ends with the attributes, nil for one that cannot have attributes. For the text of a
// list item or of a definition, it returns the item or the definition.
func (b *braces) block(src []byte) ast.Node {
	switch p := b.Parent().(type) {
	case *ast.Heading, *ast.Paragraph, *east.TableCell:
		return p
	case *ast.TextBlock:
		item := p.Parent()
		if item.Kind() != ast.KindListItem && item.Kind() != east.KindDefinitionDescription {
			return nil
		}
		// On an unindented line after the last item, kramdown's attributes belong to the list.
		if b.kramdown && src[b.segment.Start-1] == '\n' && item.NextSibling() == nil {
			return item.Parent()
		}

		return item
	}

	return nil
}

// trimBefore removes the space between a text and the attributes after it. It returns false if there is no space:
// "f{.x}" is text.
func trimBefore(before ast.Node, src []byte) bool {
	t, ok := before.(*ast.Text)
	if !ok {
		return true
	}

	trimmed := t.Segment.TrimRightSpace(src)
	if !t.SoftLineBreak() && t.Segment.Len() == trimmed.Len() {
		return false
	}
	t.Segment = trimmed
	t.SetSoftLineBreak(false)

	if trimmed.Len() == 0 {
		t.Parent().RemoveChild(t.Parent(), t)
	}

	return true
}

// neighbour returns the block to which attributes in a paragraph of their own belong, nil for none. It is the block
// before them. In the form of kramdown it is the block after them, if only a blank line above separates them from a
// block.
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

// tableAbove returns the table of a cell that is alone in the last row, else nil. Goldmark parses
// a line right after a table as a row.
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

// displayBefore returns the display formula at n, nil for none. If n is only spaces, it returns the
// formula before n.
func displayBefore(n ast.Node, src []byte) ast.Node {
	if t, ok := n.(*ast.Text); ok && len(bytes.TrimSpace(t.Segment.Value(src))) == 0 {
		n = t.PreviousSibling()
	}

	if f, ok := n.(formula); ok && f.IsDisplay() {
		return f
	}

	return nil
}
