package typeset

import (
	"fmt"
	"strconv"
	"strings"

	"presswork/internal/document/sheet"
	"presswork/internal/imagetype"
	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/block"
)

// turnedStart begins the content of a page that is turned to the other side.
const turnedStart = `<div class="turned">`

// fit decides how tables and diagrams are set, and which neighbours share their turned pages.
func (t *writer) fit(list []neighbour, a area) {
	t.fitTables(list, a)

	for i := range list {
		switch s := &list[i]; {
		case s.Kind == block.Diagram:
			t.fitDiagram(list, i, a.sheet)
		case t.columns && a.topmost && s.Pictures:
			fitPicture(s)
		}
	}
}

// fitPicture gives a picture both columns if it would be low and its details small in one of them.
func fitPicture(s *neighbour) {
	const (
		fromRatio = 2.2  // of width to height
		fromWidth = 1000 // pixels
	)

	_, src, _ := strings.Cut(s.Inner(), ` src="`)
	src, rest, _ := strings.Cut(src, `"`)

	data, err := imagetype.ReadDataURI(src)
	if err != nil || strings.Contains(rest, "<img") {
		return
	}

	info, err := imagetype.Inspect(data)
	if err != nil || info.Width < fromWidth || float64(info.Width) < fromRatio*float64(info.Height) {
		return
	}

	switch {
	case s.Kind == block.Paragraph && s.Bare() && s.PicturesOnly():
		s.tag = `<p class="spanning" data-pictures>`
	case strings.HasPrefix(s.Tag(), "<figure"):
		s.tag = s.TagWithClasses([]string{"spanning"})
	}
}

// manyColumns is the number of columns from which a table spans two columns of text.
const manyColumns = 6

// fitTables sets each table in the largest type in which it fits the page. A table that is too wide in the
// smallest type is turned to the other side. If it is too wide there as well, it is broken within words. A table
// may still be too wide, because the widths of letters differ.
func (t *writer) fitTables(list []neighbour, a area) {
	if a.table {
		return
	}
	upright := a.sheet.TextWidth()

	turned := 0.0

	switch {
	case t.columns:
		turned = 2*upright + ColumnGap*a.sheet.Scale
	case a.sheet.Height > a.sheet.Width:
		turned = a.sheet.Height - a.sheet.Left - a.sheet.Right
	}
	unit := a.sheet.Scale * t.textSize
	// While alone is true, the neighbours from the index from on begin a page, and no table on it has stayed upright.
	// If they are few words, they turn with the next table.
	alone, from := a.page, 0

	for i := range list {
		s := &list[i]
		if s.Kind != block.Table {
			if t.turnsPage(s.Block, a) {
				alone, from = a.page, i+1
			}
			continue
		}
		sizes := s.Sizes()
		spans := t.columns && (s.HasClass("wide") || len(sizes.Columns) >= manyColumns)

		class, turn := fitTable(sizes, upright/unit, turned/unit)
		if spans {
			class, _ = fitTable(sizes, turned/unit, 0)
		}

		t.doubtful = t.doubtful || !surelyFits(sizes, upright/unit)
		if sizes.Letters > tallText && sizes.Rows <= 8 {
			class += " tall"
		}

		if spans || turn && t.columns {
			class, turn = class+" spanning", false
		}
		s.tag = s.TagWithClasses(strings.Fields(class), "wide", "wider")

		if !turn {
			alone = false
			continue
		}

		first := leadIn(list, i)
		if alone && isFewWords(list[from:i]) {
			first = from
		}
		list[first].until, s.wrapper = i+1, turnedStart
		alone, from = a.page, i+1
	}
}

// turnsPage reports whether a block is a section of turned pages.
func (t *writer) turnsPage(b *block.Block, a area) bool {
	other := "landscape"
	if t.sheet.Width > t.sheet.Height {
		other = "portrait"
	}

	return !a.turned && !t.columns && b.Kind == block.Division && b.HasClass(other)
}

// isFewWords reports whether some blocks are too little for a page: a title, one or two sentences.
func isFewWords(list []neighbour) bool {
	const maxLetters = 300

	letters, size := 0, 0
	for _, s := range list {
		size += len(s.HTML)
		if s.Rich || s.Tables || s.Unsound || size > 10*maxLetters {
			return false
		}
		letters += block.Letters(block.Visible(s.HTML))
	}

	return letters <= maxLetters
}

// leadIn returns the index of the first neighbour that turns with a block because it introduces it. These are
// headings, or a line that ends in a colon and the headings above it. Without such neighbours it returns the index
// of the block.
func leadIn(list []neighbour, of int) int {
	const (
		maxBlocks = 3
		maxSize   = 400 // bytes of HTML of one block
	)

	first := of
	for n := range maxBlocks {
		at := of - 1 - n
		if at < 0 || strings.Trim(list[at].after, "\n") != "" || !list[at].Closed || len(list[at].Element()) > maxSize {
			break
		}

		b := list[at].Block
		if b.Kind != block.Heading && (n > 0 || b.Kind != block.Paragraph || !b.EndsWithColon()) {
			break
		}
		first = at
	}

	return first
}

// table writes a table.
func (t *writer) table(s *neighbour, a area) {
	tag := s.tag
	if tag == "" { // in another table
		tag = s.Tag()
	}
	t.out.WriteString(tag)
	inner := a.within()
	inner.table = true
	t.inner(s.Block, inner)
}

const (
	// normalCode is the size of code in points in print.css, for themes that set no other. smallestCode is the
	// smallest size that is easy to read.
	normalCode, smallestCode = 8.2, 7
	// columnWidth is the width of a letter in code in em. codePadding is the space that print.css leaves on the
	// sides of the lines.
	columnWidth, codePadding = 0.602, 1.9
)

// codeSize matches the size of code of a theme, in points.
var codeSize = lazyregexp.New(`^([0-9]{1,2}(?:\.[0-9]+)?)pt$`)

// normalCodeSize returns the size of code in points: the theme's ("8.8pt") if it has one, or else normalCode.
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
func (t *writer) code(b *block.Block, a area) {
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
