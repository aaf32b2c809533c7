// Package tree has the nodes, attributes and walks that Markdown extensions share.
package tree

import "github.com/yuin/goldmark/ast"

// EachBlock calls f on every block node; f may replace the node it gets.
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

// Each calls f on every node in document order; f must not change the tree.
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

// BlockText returns the source lines of a block, at most max of them (0: all).
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

// MoveChildren appends all children of one node to another.
func MoveChildren(from, to ast.Node) {
	for c := from.FirstChild(); c != nil; c = from.FirstChild() {
		to.AppendChild(to, c)
	}
}
