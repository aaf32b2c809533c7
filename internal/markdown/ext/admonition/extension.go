// Package admonition reads admonitions, tabs and fenced divisions: GitHub's alerts, Obsidian's callouts, the indented
// blocks of MkDocs and the ":::" blocks of Pandoc, Quarto and Docusaurus. Parsers make the nodes Alert and Division of
// package tree. Place completes them when the tree is parsed.
package admonition

import (
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/util"

	"presswork/internal/markdown/tree"
)

// Extension adds the blocks of MkDocs and the blocks between lines of colons. They become nodes of package
// tree, which Place completes.
type Extension struct{}

// Extend implements goldmark.Extender.
func (Extension) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(parser.WithBlockParsers(
		util.Prioritized(indentedParser{}, 810),
		util.Prioritized(fenceParser{}, 820),
	))
}

// Place completes divisions and alerts, and turns block quotes with [!NOTE] and the like into alerts. Alerts without a
// title in the source get one in the language lang (BCP 47).
func Place(root ast.Node, src []byte, lang string) {
	tree.EachBlock(root, func(n ast.Node) {
		switch n := n.(type) {
		case *tree.Division:
			switch {
			case n.Figure:
				n.MakeFigure()
			case n.Heads >= 0:
				makeTable(n)
			case tree.HasClass(n, "columns"):
				shareColumns(n)
			}
		case *tree.Alert:
			takeTitle(n)
			setTitle(n, lang)
		case *ast.Blockquote:
			placeQuote(n, src, lang)
		}
	})
}
