package markdown

import (
	"github.com/yuin/goldmark/ast"

	"presswork/internal/fault"
	"presswork/internal/markdown/ext/bookindex"
	"presswork/internal/markdown/ext/comment"
	"presswork/internal/markdown/ext/component"
	"presswork/internal/markdown/tree"
)

// placeComponents replaces the components of MDX by their content and warns of those that have
// none.
func (d *draft) placeComponents(root ast.Node) {
	component.Place(root, d.src, func(name string, offset int) {
		d.warn(
			fault.SyntaxDropped,
			d.lines.At(offset),
			"MDX: the component "+name+" is left out: it encloses no text",
		)
	})
}

// collectIndex collects the entries of the index. Without a place in the source, the index is
// printed at the end, unless the document is one of several that are printed together.
func (d *draft) collectIndex(root ast.Node) {
	if d.dialect == GFM {
		return
	}

	placed := false
	if d.index, placed = bookindex.Collect(root, d.src); len(d.index) > 0 && !placed && d.options.Links == nil {
		d.src = bookindex.Append(root, d.src, d.options.Lang)
	}
}

// dropComments removes comments, and warns of those that are code.
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
