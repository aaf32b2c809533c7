package document

import (
	"fmt"
	"strconv"

	"presswork/internal/document/sheet"
	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/block"
)

const (
	// normalCode is the size of code in points in print.css, for themes that set no other. smallestCode is the
	// smallest size that is easy to read.
	normalCode, smallestCode = 8.2, 7
	// columnWidth is the width of a letter in code in em. codePadding is the space that print.css leaves on the
	// sides of the lines.
	columnWidth, codePadding = 0.602, 1.9
)

var codeSize = lazyregexp.New(`^([0-9]{1,2}(?:\.[0-9]+)?)pt$`)

// normalCodeSize is the size of code in points: the theme's ("8.8pt"), if it has one.
func normalCodeSize(size string) float64 {
	m := codeSize().FindStringSubmatch(size)
	if m == nil {
		return normalCode
	}
	points, _ := strconv.ParseFloat(m[1], 64) // digits

	return points
}

// code writes a code block. A block with long lines gets a smaller size in which they fit. If they do not fit in
// the smallest size, the block keeps the normal size and its lines wrap.
func (t *typesetter) code(b *block.Block, a area) {
	tag := b.Tag()
	if b.Columns > 0 {
		style := ""

		width := a.sheet.TextWidth() / a.sheet.Scale / sheet.Point
		if fits := width / (float64(b.Columns)*columnWidth + codePadding); fits < t.codeSize &&
			fits*a.sheet.Scale >= smallestCode {
			style = fmt.Sprintf("font-size:%.2fpt", fits-0.005)
		}
		tag = b.TagWithStyle(style)
	}
	t.out.WriteString(tag)
	t.inner(b, a.within())
}
