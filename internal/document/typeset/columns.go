package typeset

import (
	"strconv"
	"strings"

	"presswork/internal/document/sheet"
	"presswork/internal/markdown/block"
)

const (
	// BodySize is the size of the running text in millimetres, as in print.css.
	BodySize = 11 * sheet.Point
	// LetterWidth is the mean width of a letter in em. wideLetter is that of words in heads, of digits and of wide
	// typefaces.
	LetterWidth, wideLetter = 0.5, 0.66
	// tallText is the number of letters from which a table of few rows may be divided, because its rows have many
	// lines.
	tallText = 800
)

// tableSize is one way to set a table. size is in em of the running text, the horizontal padding of cells in em of
// the cell. The values are those of print.css and paper.css.
type tableSize struct {
	class         string
	size, padding float64
}

// tableSizes returns the ways to set a table, the largest first.
func tableSizes() []tableSize {
	return []tableSize{{"", .9, 1.4}, {"wide", .78, .9}, {"wider", .66, .9}}
}

// isShort reports whether the cells of a column should stay on one line: numbers with units, dates, names.
func isShort(c block.Column) bool {
	const maxLetters = 14 // "2026-11-28", "1 234.56 EUR"
	return c.Cell <= maxLetters
}

// comfortable returns the preferred width of a column in letters: short cells on one line, long ones on a few.
func comfortable(c block.Column) int {
	const aFew, many = 40, 160 // letters of the longest cell, for about three and seven lines
	switch {
	case isShort(c):
		return c.Cell
	case c.Cell <= aFew:
		return max(c.Word, 16)
	case c.Cell <= many:
		return max(c.Word, 22)
	}

	return max(c.Word, 30)
}

// tableWidth returns the width of a table in millimetres. letters is the length of its longest rows, width that of
// a letter in em.
func tableWidth(t block.Sizes, letters int, width float64, s tableSize) float64 {
	return (float64(letters)*width + float64(len(t.Columns))*s.padding) * s.size * BodySize
}

// least returns the number of letters that cannot be broken: short cells and the longest words of the others.
func least(t block.Sizes) (letters int) {
	for _, c := range t.Columns {
		if isShort(c) {
			letters += c.Cell
		} else {
			letters += c.Word
		}
	}

	return letters
}

// surelyFits reports whether a table fits an area even if each letter is as wide as the widest. area is a width in
// millimetres.
func surelyFits(t block.Sizes, area float64) bool {
	const widest = 1 // em
	return !t.Spans && !t.HoldsMore && tableWidth(t, least(t), widest, tableSizes()[0]) <= area
}

// fitTable returns the classes of a table for areas of these widths in millimetres: upright, and turned (0 if the page
// cannot be turned). turn is true if the table needs a turned page.
func fitTable(t block.Sizes, upright, turned float64) (class string, turn bool) {
	// squeezed is the factor by which a table may be narrower than its preferred width.
	const squeezed = 1.15

	wanted, full, shortest, words := 0, 0, least(t), 0
	for _, c := range t.Columns {
		wanted += comfortable(c)
		full += c.Cell
		words += c.Word
	}
	takes := func(letters int, s tableSize) float64 { return tableWidth(t, letters, LetterWidth, s) }
	needs := func(letters int, s tableSize) float64 { return tableWidth(t, letters, wideLetter, s) }

	// Prefer the upright page, and on each page the larger type.
	for _, area := range []float64{upright, turned} {
		if area < upright {
			break
		}

		for _, s := range tableSizes() {
			switch {
			case takes(full, s) <= area && needs(words, s) <= area:
				if needs(full, s) > area {
					return s.class + whole(t), area != upright
				}

				return s.class, area != upright
			case takes(wanted, s) <= area*squeezed && needs(shortest, s) <= area:
				return s.class + unbroken(t), area != upright
			}
		}
	}
	smallest := tableSizes()[2]

	// In the smallest type, keep short cells on one line if possible, and otherwise at least the words.
	for _, area := range []float64{upright, turned} {
		switch {
		case needs(shortest, smallest) <= area:
			return smallest.class + unbroken(t), area != upright
		case needs(words, smallest) <= area:
			return smallest.class + whole(t), area != upright
		}
	}

	return smallest.class + " crowded", turned > upright
}

// unbroken returns the classes that keep the cells of short columns on one line. Without them the browser gives
// their space to long columns.
func unbroken(t block.Sizes) string {
	return onOneLine(t, isShort)
}

// whole returns the classes that keep columns of dates and similar values on one line. A browser would break them at
// their hyphens. Heads of columns may be broken.
func whole(t block.Sizes) string {
	classes := onOneLine(t, func(c block.Column) bool { return !c.Prose })
	if classes == "" {
		return ""
	}

	return " folded" + classes
}

// onOneLine returns the classes of the columns for which keep is true, whose cells are not broken.
func onOneLine(t block.Sizes, keep func(block.Column) bool) string {
	const maxColumns = 20 // print.css has a rule for each
	var b strings.Builder

	for i, c := range t.Columns[:min(len(t.Columns), maxColumns)] {
		if keep(c) && !t.Spans {
			b.WriteString(" nb" + strconv.Itoa(i+1))
		}
	}

	return b.String()
}
