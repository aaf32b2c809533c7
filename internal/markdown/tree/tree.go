// Package tree has the nodes, attributes and walks of goldmark's tree that Markdown extensions share. Attributes are
// the {braces} of a document and the rules for ids and classes. Embeds carry finished HTML past the sanitiser. Renderer
// renders the nodes.
package tree

import "github.com/yuin/goldmark/ast"

// EachBlock calls f for every block below n, children before their parent. f may replace or remove the node that it
// gets.
func EachBlock(n ast.Node, f func(ast.Node)) {
	for c := n.FirstChild(); c != nil; {
		next := c.NextSibling()
		if c.Type() == ast.TypeBlock {
			EachBlock(c, f)
			f(c)
		}
		c = next
	}
}

// Each calls f for root and every node below it, in document order. f must not change the tree.
func Each(root ast.Node, f func(ast.Node)) {
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			f(n)
		}

		return ast.WalkContinue, nil
	})
}

// Replace puts the node new in place of old.
func Replace(old, new ast.Node) {
	old.Parent().ReplaceChild(old.Parent(), old, new)
}

// BlockText returns a copy of the source lines of a block, at most max of them; all if max is 0.
func BlockText(n ast.Node, src []byte, max int) []byte {
	var out []byte

	lines := n.Lines()
	for i := range lines.Len() {
		if max > 0 && i == max {
			break
		}
		s := lines.At(i)
		out = append(out, s.Value(src)...)
	}

	return out
}

// HTMLText returns a copy of the source of a block of HTML. goldmark stores the line that closes a comment, a script or
// the like apart from the other lines.
func HTMLText(n *ast.HTMLBlock, src []byte) []byte {
	out := BlockText(n, src, 0)
	if n.HasClosure() {
		out = append(out, n.ClosureLine.Value(src)...)
	}

	return out
}

// MoveChildren appends all children of one node to another.
func MoveChildren(from, to ast.Node) {
	for c := from.FirstChild(); c != nil; c = from.FirstChild() {
		to.AppendChild(to, c)
	}
}
