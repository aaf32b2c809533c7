package document

import (
	"strings"

	xhtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// attributeOf returns the value of an attribute, or "".
func attributeOf(n *xhtml.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key && a.Namespace == "" {
			return a.Val
		}
	}

	return ""
}

// setAttribute sets an attribute of a node.
func setAttribute(n *xhtml.Node, key, value string) {
	dropAttribute(n, key)
	n.Attr = append(n.Attr, xhtml.Attribute{Key: key, Val: value})
}

func dropAttribute(n *xhtml.Node, key string) {
	var kept []xhtml.Attribute

	for _, a := range n.Attr {
		if a.Key != key {
			kept = append(kept, a)
		}
	}
	n.Attr = kept
}

// textOfNode returns the text of a node and its descendants.
func textOfNode(n *xhtml.Node) string {
	var b strings.Builder

	for d := range n.Descendants() {
		if d.Type == xhtml.TextNode {
			b.WriteString(d.Data)
		}
	}

	return b.String()
}

// rendered returns nodes as HTML.
func rendered(nodes ...*xhtml.Node) string {
	var b strings.Builder
	for _, n := range nodes {
		_ = xhtml.Render(&b, n) // a strings.Builder takes everything
	}

	return b.String()
}

func isHeadingNode(n *xhtml.Node) bool {
	return n.DataAtom == atom.H1 || n.DataAtom == atom.H2 || n.DataAtom == atom.H3
}

func hasClassOf(n *xhtml.Node, class string) bool {
	return strings.Contains(" "+attributeOf(n, "class")+" ", " "+class+" ")
}
