package tree

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// Unescape returns text without its escapes and entities.
func Unescape(raw []byte) string {
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(raw))))
}

// plainTexter is an inline node of an extension whose text is not in its children.
type plainTexter interface {
	// PlainText returns the text that a reader sees.
	PlainText() string
}

// anchorTexter is a plainTexter with a different text in the anchor of a heading.
type anchorTexter interface {
	AnchorText() string
}

// PlainText returns the inline content of a node as a reader sees it. A line break is a space.
func PlainText(n ast.Node, src []byte) string { return inlineText(n, src, false) }

// AnchorText returns the text from which the anchor of a heading is made, on one line.
func AnchorText(n ast.Node, src []byte) string {
	return strings.Join(strings.Fields(inlineText(n, src, true)), " ")
}

// inlineText returns the inline content of a node, for an anchor or for a reader.
func inlineText(n ast.Node, src []byte, anchor bool) string {
	var b strings.Builder
	Each(n, func(c ast.Node) {
		switch c := c.(type) {
		case *ast.Text:
			if c.IsRaw() || c.Parent().Kind() == ast.KindCodeSpan {
				b.Write(c.Value(src))
			} else {
				b.WriteString(Unescape(c.Value(src)))
			}

			if c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			if !c.IsCode() {
				b.WriteString(Unescape(c.Value))
			}
		case *ast.AutoLink:
			b.Write(c.Label(src))
		case plainTexter:
			text := c.PlainText()
			if other, ok := c.(anchorTexter); ok && anchor {
				text = other.AnchorText()
			}
			b.WriteString(text)
		}
	})

	return b.String()
}
