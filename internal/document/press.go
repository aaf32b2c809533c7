package document

import (
	"presswork"
	"presswork/internal/input"
	"presswork/internal/pdffile/pack"
)

const (
	maxBinding = 50.0 // mm
	maxBleed   = 25.0 // mm
	// usualBleed is what print shops ask for; marksRoom holds marks of 5 mm that begin
	// 3 mm outside of the edge, or outside of the bleed.
	usualBleed = 3.0
	marksRoom  = 9.0
)

// readPress reads what is for binding and cutting the pages.
func (s *sheet) readPress(o presswork.Options) error {
	if o.Binding != "" {
		mm, err := parseLength(o.Binding)
		if err != nil {
			return invalid("binding", "binding %q is not valid: %v", input.Short(o.Binding), err)
		}

		if mm > maxBinding || s.left+s.right+mm+minContent > s.width {
			return invalid(
				"binding",
				"binding %q is not allowed: at most %gmm, and the margins must leave %gmm of the page",
				input.Short(o.Binding),
				maxBinding,
				minContent,
			)
		}
		s.left += mm
		s.mirrored = true
	}

	if isTrue(o.CropMarks) {
		s.bleed, s.marks = usualBleed, marksRoom
	}

	if o.Bleed != "" {
		mm, err := parseLength(o.Bleed)
		if err != nil {
			return invalid("bleed", "bleed %q is not valid: %v", input.Short(o.Bleed), err)
		}

		if mm > maxBleed {
			return invalid("bleed", "bleed %q is not allowed: at most %gmm", input.Short(o.Bleed), maxBleed)
		}
		s.bleed = mm
	}

	return nil
}

// mirror makes the outer margin wider than the inner one, as in books: two inner ones
// lie side by side. Margins that were asked for stay.
func (s *sheet) mirror(o presswork.Options) {
	const shift = 0.1 // of both margins

	s.mirrored = true
	if o.Margins.Left == "" && o.Margins.Right == "" {
		by := shift * min(s.left, s.right)
		s.left, s.right = s.left-by, s.right+by
	}
}

// sides are the margins of a page, the first of which is 1.
func (s sheet) sides(page int, rtl bool) (left, right float64) {
	if s.mirrored && (page%2 == 0) != rtl {
		return s.right, s.left
	}

	return s.left, s.right
}

// boxes are those of the printed pages.
func (s sheet) boxes() pack.Boxes {
	const points = 72 / 25.4 // to the millimetre
	return pack.Boxes{Bleed: s.bleed * points, Marks: s.marks * points}
}
