package markdown

import (
	"github.com/yuin/goldmark/ast"

	"presswork/internal/fault"
	"presswork/internal/markdown/ext/comment"
	"presswork/internal/markdown/tree"
)

// dropComments takes the comments out of the tree, and warns of those that are
// code.
func (d *draft) dropComments(root ast.Node) {
	var found []ast.Node
	tree.Each(root, func(n ast.Node) {
		what, start := "", 0

		switch n := n.(type) {
		case *comment.Comment:
			what, start = n.What, n.Start
		case *comment.Inline:
			what, start = n.What, n.Start
		default:
			return
		}
		found = append(found, n)

		if what != "" {
			d.warn(fault.SyntaxDropped, d.lines.At(start), what)
		}
	})

	for _, n := range found {
		parent := n.Parent()
		parent.RemoveChild(parent, n)

		if parent.Kind() == ast.KindParagraph && parent.FirstChild() == nil {
			parent.Parent().RemoveChild(parent.Parent(), parent)
		}
	}
}
