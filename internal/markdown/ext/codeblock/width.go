package codeblock

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"

	"presswork/internal/markdown/tree"
)

// ColumnsAttribute is how many columns of type a code block wants that has long lines:
// the page may set it smaller.
const ColumnsAttribute = "data-columns"

// noteColumns notes how wide a code block is, and whether it is a drawing, whose lines
// are to join.
func (p preparedCode) noteColumns(n ast.Node) {
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

// indents reports whether a block indents what it holds. Blocks of other extensions say so by
// a method.
func indents(n ast.Node) bool {
	other, ok := n.(interface{ Indents() bool })

	return n.Kind() == ast.KindListItem || n.Kind() == ast.KindBlockquote || ok && other.Indents()
}

func isBoxDrawing(r rune) bool { return r >= 0x2500 && r <= 0x257f }

// columnsOf counts columns: a tab has four, a character beyond the Latin ones may have
// two.
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
