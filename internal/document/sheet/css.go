package sheet

import (
	"fmt"
	"strconv"
)

const (
	// overhang is the distance in millimetres by which numbers of long lists and ornaments of themes may extend
	// into the side margins. Chromium paints nothing else in the margin of a page.
	overhang = 12
	// rise is how far, in millimetres, letters and their backgrounds may extend above the first line of a page and below
	// the last. A heading of 34 pt needs 4 mm for marks above Arabic letters.
	rise = 5
)

// Strips returns the widths of the strips in which Chromium also paints text, in millimetres: of the side, top and
// bottom margins.
func (s Sheet) Strips() (side, above, below float64) {
	return min(overhang, s.Left, s.Right), min(rise, s.Top), min(rise, s.Bottom)
}

// CSS returns the @page rules of the sheet. Chromium's margins are smaller than those of the sheet by the strips, in
// which print.css then leaves space.
func (s Sheet) CSS() string {
	side, above, below := s.Strips()
	width, height := Round(s.Width+2*s.Bleed), Round(s.Height+2*s.Bleed)

	css := fmt.Sprintf("@page{size:%gmm %gmm;margin:%gmm %gmm %gmm %gmm;", width, height,
		Round(s.Top-above+s.Bleed), Round(s.Right-side+s.Bleed),
		Round(s.Bottom-below+s.Bleed), Round(s.Left-side+s.Bleed))
	// Header and footer have the whole margin and the width of the text.
	css += fmt.Sprintf(
		"@top-center{margin-bottom:%gmm;padding:0 %gmm}@bottom-center{margin-top:%gmm;padding:0 %gmm}}\n",
		Round(-above),
		Round(side),
		Round(-below),
		Round(side),
	)
	css += fmt.Sprintf("@page turned{size:%gmm %gmm}\n", height, width)

	if s.Bleed > 0 { // header and footer keep their distance from the edge of the cut page
		css += fmt.Sprintf(
			"@page{@top-center{margin-top:%[1]gmm}@bottom-center{margin-bottom:%[1]gmm}}\n",
			Round(s.Bleed),
		)
	}

	return css
}

// FacingCSS returns the @page rules that differ between left and right pages, "" if none do. With folios, header and
// footer stand at the outer margin.
func (s Sheet) FacingCSS(folios bool) string {
	if !s.Mirrored {
		return ""
	}
	folio := func(edge string) string {
		if !folios {
			return ""
		}

		return "@top-center{text-align:" + edge + "}@bottom-center{text-align:" + edge + "}"
	}
	side, _, _ := s.Strips()
	inner, outer := Round(s.Left-side+s.Bleed), Round(s.Right-side+s.Bleed)

	return fmt.Sprintf(
		"@page:right{margin-left:%gmm;margin-right:%gmm;%s}@page:left{margin-left:%gmm;margin-right:%gmm;%s}\n",
		inner, outer, folio("right"), outer, inner, folio("left"))
}

// Properties returns the custom properties by which stylesheets know the paper. Chromium multiplies all lengths of a
// page by the scale, so they are divided by it.
func (s Sheet) Properties() map[string]string {
	side, above, below := s.Strips()
	length := func(mm float64) string { return fmt.Sprintf("%gmm", Round(mm/s.Scale)) }

	return map[string]string{
		"--sheet-width":  length(s.Width + 2*s.Bleed),
		"--sheet-height": length(s.Height + 2*s.Bleed),
		"--area-height":  length(s.TextHeight()),
		"--text-top":     length(s.Top + s.Bleed),
		"--text-left":    length(s.Left + s.Bleed),
		"--mm":           length(1),
		"--overhang":     length(side),
		"--rise":         length(above),
		"--drop":         length(below),
	}
}

// Round rounds a length to three decimals, for CSS.
func Round(mm float64) float64 {
	v, _ := strconv.ParseFloat(strconv.FormatFloat(mm, 'f', 3, 64), 64)
	return v
}
