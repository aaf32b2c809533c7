package codeblock

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"

	"presswork/internal/markdown/tree"
)

// ColumnsAttribute is the HTML attribute of a code block with long lines. Its value is the width of the longest line in
// columns. Package document uses it to choose a smaller font size.
const ColumnsAttribute = "data-columns"

// setColumns sets the ColumnsAttribute of a block with long lines. A block with more than two lines of box-drawing
// characters gets the class "drawing", so that these lines touch.
func (p preparedCode) setColumns(n ast.Node) {
	widest, ruled := 0, 0

	for _, line := range p.lines {
		columns := 0
		drawn := false

		for _, t := range line {
			columns += columnsOf(t.Value)
			drawn = drawn || strings.ContainsFunc(t.Value, isBoxDrawing)
		}
		widest = max(widest, columns)

		if drawn {
			ruled++
		}
	}

	if ruled > 2 {
		tree.AddClass(n, "drawing")
	}

	if widest <= longLine {
		return
	}

	if p.numbered {
		const numbers = 6 // columns
		widest += numbers
	}

	for parent := n.Parent(); parent != nil; parent = parent.Parent() {
		if indents(parent) {
			const indent = 4 // columns
			widest += indent
		}
	}
	n.SetAttributeString(ColumnsAttribute, []byte(strconv.Itoa(min(widest, 9999))))
}

// indents reports whether a block indents its content. Blocks of other extensions have a method Indents.
func indents(n ast.Node) bool {
	other, ok := n.(interface{ Indents() bool })

	return n.Kind() == ast.KindListItem || n.Kind() == ast.KindBlockquote || ok && other.Indents()
}

// isBoxDrawing reports whether a character is in the Unicode block Box Drawing.
func isBoxDrawing(r rune) bool { return r >= 0x2500 && r <= 0x257f }

// columnsOf returns the width of a text in columns: a tab has four, and a wide character has two.
func columnsOf(text string) (columns int) {
	for _, r := range text {
		switch {
		case r == '\t':
			columns += 4
		case r >= 0x1100 && (r < 0x2190 || r > 0x25ff): // not arrows, boxes and shapes
			columns += 2
		default:
			columns++
		}
	}

	return columns
}
