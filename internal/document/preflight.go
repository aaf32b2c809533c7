package document

import (
	"presswork"
	"presswork/internal/document/preflight"
	"presswork/internal/document/sheet"
	"presswork/internal/markdown/ext/direction"
	"presswork/internal/pdffile/inspect"
)

// maybeWide reports whether a formula may be wider than an area. em is the width of the formula, area is in
// millimetres.
func maybeWide(em, area float64) bool {
	const doubt = 1.4 // guesses are not that far off
	return em*bodySize*doubt > area
}

// preflightOf returns the check of a document. doubtful means that some table may be too wide. Text, and code in
// the print stylesheet, always breaks.
func preflightOf(d Document, o presswork.Options, p page, doubtful bool, widest float64) preflight.Check {
	check := preflight.Check{Sources: []preflight.Source{{Path: d.Path, Content: d.Content}}}
	for _, part := range d.Parts {
		check.Sources = append(check.Sources, preflight.Source{Path: part.Path, Content: part.Content})
	}

	area := p.sheet.TextWidth() / p.sheet.Scale
	if !doubtful && !maybeWide(widest, area) && o.CSS == "" && !p.theme.Custom {
		return check
	}
	sheet, cover, rtl := p.sheet, isTrue(o.Cover), direction.Of(p.lang) == "rtl"
	check.Area = func(page int, width, height float64) *inspect.Area {
		if cover && page == 1 {
			return nil
		}

		return textArea(sheet, page, width, height, rtl)
	}

	return check
}

// textArea returns the area of a page for text, in points. It is the area inside the margins with a small
// tolerance for content that overhangs on purpose. Lines that are too long overflow at their end.
func textArea(s sheet.Sheet, page int, width, height float64, rtl bool) *inspect.Area {
	const tolerance = 6
	const legible = 3.5 // points

	left, right := s.Sides(page, rtl)
	left, right = left+s.Bleed, right+s.Bleed

	a := inspect.Area{
		Smallest: legible * s.Scale,
		LineEnd:  width - right*pointsPerMM,
		Left:     0,
		Right:    width - right*pointsPerMM + tolerance,
		Bottom:   (s.Bottom + s.Bleed) * pointsPerMM,
		Top:      height - (s.Top+s.Bleed)*pointsPerMM,
	}
	if rtl {
		a.LineEnd = left * pointsPerMM
		a.Left, a.Right = left*pointsPerMM-tolerance, width
	}

	return &a
}
