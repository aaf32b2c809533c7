package markdown

import (
	"bytes"
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/label"
	"presswork/internal/markdown/tree"
)

// nameTheorems makes the heading at the start of a theorem its name, as in Quarto. The name does not appear in the
// table of contents.
func nameTheorems(root ast.Node, src []byte) {
	tree.EachBlock(root, func(n ast.Node) {
		d, ok := n.(*tree.Division)
		if !ok || !label.KindOf(tree.AttributeText(d, "id")).IsTheorem() {
			return
		}

		if h, ok := d.FirstChild().(*ast.Heading); ok {
			d.Title = tree.VisibleText(h, src)
			d.RemoveChild(d, h)
		}
	})
}

// numberTheorem writes "Theorem 1 (name)." before the text of a theorem and makes it a target of references.
func (n *numberer) numberTheorem(node *tree.Division, kind Kind) {
	id := tree.AttributeText(node, "id")
	l := &label.Label{Kind: kind, ID: id, Number: n.counters.Next(kind)}
	n.targets[id] = l

	text := n.words.One[kind] + "\u00a0" + l.Number
	if node.Title != "" {
		text += " (" + strings.TrimSpace(node.Title) + ")"
		node.Title = "" // renderDivision would print it as a line of its own
	}

	s := ast.NewString([]byte(`<span class="xref-label">` + html.EscapeString(text) + ".</span> "))
	s.SetCode(true)

	first, ok := node.FirstChild().(*ast.Paragraph)
	if !ok {
		first = ast.NewParagraph()
		node.InsertBefore(node, node.FirstChild(), first)
	}
	first.InsertBefore(first, first.FirstChild(), s)
}

// equationLabel matches the label that Bookdown writes into a formula.
var equationLabel = lazyregexp.New(`\s*\(\\#(eq:[\w:.-]+)\)`)

// takeEquationLabel removes the label of Bookdown from a formula and returns it, "" without one.
func takeEquationLabel(source *[]byte) string {
	if !bytes.Contains(*source, []byte(`(\#eq:`)) {
		return ""
	}

	m := equationLabel().FindSubmatch(*source)
	if m == nil {
		return ""
	}
	*source = bytes.Replace(*source, m[0], nil, 1)

	return string(m[1])
}

// bookdownReference begins a reference of Bookdown.
const bookdownReference = `\@ref(`
