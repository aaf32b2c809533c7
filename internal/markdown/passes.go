package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"

	"presswork/internal/fault"
	"presswork/internal/markdown/dialect"
	"presswork/internal/markdown/dialect/pandoc"
	"presswork/internal/markdown/dialect/quarto"
	"presswork/internal/markdown/ext/bookindex"
	"presswork/internal/markdown/ext/comment"
	"presswork/internal/markdown/ext/component"
	"presswork/internal/markdown/tree"
)

// placeForeign replaces the raw HTML of Pandoc and warns of Pandoc's raw code in other formats. It removes the content
// of Quarto that is for other output formats.
func (p *parserState) placeForeign(root ast.Node) {
	if p.dialect == dialect.GFM {
		return
	}

	if bytes.Contains(p.src, []byte("{=")) {
		pandoc.PlaceRaw(root, p.src, func(format string, offset int) {
			p.warnings.at(offset, fault.SyntaxDropped, "the raw code in "+format+" is left out")
		})
	}

	if len(p.options.Formats) > 0 && bytes.Contains(p.src, []byte("content-")) {
		quarto.DropHidden(root, p.options.Formats)
	}
}

// placeComponents replaces the components of MDX by their content, and warns of those without any.
func placeComponents(root ast.Node, src []byte, w *warnings) {
	component.Place(root, src, func(name string, offset int) {
		w.at(offset, fault.SyntaxDropped, "MDX: the component "+name+" is left out: it encloses no text")
	})
}

// collectIndex collects the entries of the index. An index without a place in the source is printed at the
// end, unless the document is one of several that are printed together.
func (p *parserState) collectIndex(root ast.Node) {
	if p.dialect == dialect.GFM {
		return
	}

	entries, placed := bookindex.Collect(root, p.src)
	if p.out.Index = entries; len(entries) > 0 && !placed && p.options.Links == nil {
		p.src = bookindex.Append(root, p.src, p.options.Lang)
	}
}

// dropComments removes comments, and paragraphs of comments only. It warns of comments that were code, such as the
// imports of MDX.
func dropComments(root ast.Node, w *warnings) {
	var found []ast.Node
	tree.Each(root, func(n ast.Node) {
		warning, start := "", 0

		switch n := n.(type) {
		case *comment.Comment:
			warning, start = n.Warning, n.Start
		case *comment.Inline:
			warning, start = n.Warning, n.Start
		default:
			return
		}
		found = append(found, n)

		if warning != "" {
			w.at(start, fault.SyntaxDropped, warning)
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
