package markdown

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// componentParser is the parser of HTML blocks, which in MDX does not take what a
// component encloses: that is Markdown, on the very next line.
type componentParser struct{ parser.BlockParser }

// Continue closes the block of a component's tag at its first line. A line that
// would be indented code stays within.
func (p componentParser) Continue(node ast.Node, reader text.Reader, pc parser.Context) parser.State {
	if dialectOf(pc) == MDX && isComponentTag(node, reader.Source()) {
		const code = 4 // columns
		line, _ := reader.PeekLine()
		if indent, _ := util.IndentWidth(line, reader.LineOffset()); indent < code {
			return parser.Close
		}
	}
	return p.BlockParser.Continue(node, reader, pc)
}

// isComponentTag reports whether a block begins with a tag in upper case; those
// of HTML are in lower case in MDX.
func isComponentTag(node ast.Node, source []byte) bool {
	block, ok := node.(*ast.HTMLBlock)
	if !ok || block.HTMLBlockType != ast.HTMLBlockType7 || block.Lines().Len() == 0 {
		return false
	}
	first := block.Lines().At(0)
	return component.Match(first.Value(source))
}
