package markdown

import (
	"strconv"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"presswork/internal/markdown/tree"
)

// markLines marks blocks with the line of the file on which they begin, if Options.SourceLines is set. Containers such
// as lists have no mark of their own: that of their first content has the same line.
func (p *parserState) markLines(root ast.Node) {
	if !p.options.SourceLines {
		return
	}

	tree.EachBlock(root, func(n ast.Node) {
		switch n.(type) {
		case *ast.Blockquote, *ast.List, *ast.TextBlock, *ast.HTMLBlock, *east.DefinitionList, *east.TableCell:
			return
		}

		if at := startOf(n); at >= 0 {
			n.SetAttributeString(tree.LineAttribute, []byte(strconv.Itoa(p.warnings.lines.At(at))))
		}
	})
}

// startOf returns the offset of a block in the source, -1 for a generated one.
func startOf(n ast.Node) int {
	if at := n.Pos(); at >= 0 {
		return at
	}

	if lines := n.Lines(); lines != nil && lines.Len() > 0 {
		return lines.At(0).Start
	}

	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.Type() != ast.TypeBlock {
			return c.Pos()
		}

		if at := startOf(c); at >= 0 {
			return at
		}
	}

	return -1
}
