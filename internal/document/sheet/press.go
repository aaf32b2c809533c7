package sheet

import (
	"presswork"
	"presswork/internal/input"
)

const (
	maxBinding = 50.0 // mm
	maxBleed   = 25.0 // mm
	// usualBleed is the bleed that print shops ask for, in mm.
	usualBleed = 3.0
	// marksRoom is the width in mm for crop marks of 5 mm, which begin at most 3 mm outside of the bleed.
	marksRoom = 9.0
)

// readPress sets the binding margin and the bleed.
func (s *Sheet) readPress(o presswork.Options) error {
	if o.Binding != "" {
		mm, err := parseLength(o.Binding)
		if err != nil {
			return input.Invalid("binding", "binding %q is not valid: %v", input.Short(o.Binding), err)
		}

		if mm > maxBinding || s.Left+s.Right+mm+minContent > s.Width {
			return input.Invalid("binding",
				"binding %q is not allowed: at most %gmm, and the margins must leave %gmm of the page",
				input.Short(o.Binding), maxBinding, minContent)
		}
		s.Left += mm
		s.Mirrored = true
	}

	if o.CropMarks != nil && *o.CropMarks {
		s.Bleed, s.Marks = usualBleed, marksRoom
	}

	if o.Bleed != "" {
		mm, err := parseLength(o.Bleed)
		if err != nil {
			return input.Invalid("bleed", "bleed %q is not valid: %v", input.Short(o.Bleed), err)
		}

		if mm > maxBleed {
			return input.Invalid("bleed", "bleed %q is not allowed: at most %gmm", input.Short(o.Bleed), maxBleed)
		}
		s.Bleed = mm
	}

	return nil
}

// Mirror mirrors the margins of left and right pages, as in books. The inner margin becomes narrower than the outer
// one, because two of them meet at the spine. Side margins in the options stay as they are.
func (s *Sheet) Mirror(o presswork.Options) {
	const shift = 0.1 // of the smaller side margin

	s.Mirrored = true
	if o.Margins.Left == "" && o.Margins.Right == "" {
		by := shift * min(s.Left, s.Right)
		s.Left, s.Right = s.Left-by, s.Right+by
	}
}

// Sides returns the left and right margin of a page, in millimetres; the first page is 1. A document that is read from
// right to left (rtl) begins on a left page.
func (s Sheet) Sides(page int, rtl bool) (left, right float64) {
	if s.Mirrored && (page%2 == 0) != rtl {
		return s.Right, s.Left
	}

	return s.Left, s.Right
}
