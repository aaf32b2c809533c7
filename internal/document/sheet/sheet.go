// Package sheet computes the geometry of pages from the options of a document: size, margins, binding and bleed. Of
// checks the options and returns a Sheet. Its methods return the CSS that sets the page, and the measures that the
// typesetting, the printer and the checks need.
package sheet

import (
	"strings"

	"presswork"
	"presswork/internal/chromium/printable"
	"presswork/internal/input"
)

const (
	// Point is a typographic point in millimetres.
	Point = 25.4 / 72
	// MaxSide is the longest side of a page in millimetres: 200 inches, the limit of PDF readers.
	MaxSide = 5080.0

	minSide    = 20.0 // mm
	minContent = 10.0 // mm that margins must leave
)

// Sheet is the paper of a document with its margins. Lengths are in millimetres.
type Sheet struct {
	Width, Height            float64
	Top, Right, Bottom, Left float64
	// Scale enlarges the text, not the paper.
	Scale float64
	// Mirrored is true if Left is the inner margin and Right the outer one. Otherwise they are those of each page.
	Mirrored bool
	// Bleed is the width around the page that is cut off. Marks is the width around the bleed for crop marks.
	Bleed, Marks float64

	ranges          string
	tagged, outline bool
}

// Of returns the sheet that the options describe, with these margins if the options have none. Errors: InvalidOption.
func Of(o presswork.Options, margins Margins) (Sheet, error) {
	s := Sheet{tagged: o.Tagged == nil || *o.Tagged}
	s.outline = s.tagged && (o.Outline == nil || *o.Outline)

	if err := s.readSize(o.PageSize); err != nil {
		return s, err
	}

	if o.Landscape != nil && *o.Landscape && s.Width < s.Height {
		s.Width, s.Height = s.Height, s.Width
	}

	if err := s.readMargins(o, margins); err != nil {
		return s, err
	}

	if err := s.readPress(o); err != nil {
		return s, err
	}

	var err error
	if s.Scale, err = input.Scale(o.Scale); err != nil {
		return s, err
	}

	s.ranges, err = input.PageRanges("page_ranges", o.PageRanges)

	return s, err
}

// TextWidth returns the width between the side margins.
func (s Sheet) TextWidth() float64 { return s.Width - s.Left - s.Right }

// TextHeight returns the height between the margins at top and bottom.
func (s Sheet) TextHeight() float64 { return s.Height - s.Top - s.Bottom }

// TextTop returns the place of an anchor in the first line of a page, in points above the bottom. Chromium reports it
// as if the page had no margin and no scale.
func (s Sheet) TextTop() float64 {
	_, above, _ := s.Strips()
	return (s.Height + 2*s.Bleed - above/s.Scale) / Point
}

// ForPrinter returns the settings of the print. Margins are not among them, because the CSS sets them.
func (s Sheet) ForPrinter() printable.Sheet {
	const inch = 25.4

	return printable.Sheet{
		Width:      (s.Width + 2*s.Bleed) / inch,
		Height:     (s.Height + 2*s.Bleed) / inch,
		Scale:      s.Scale,
		PageRanges: s.ranges,
		Tagged:     s.tagged,
		Outline:    s.outline,
	}
}

// sizes returns the page sizes of ISO 216 and ANSI/ASME Y14.1, upright.
func sizes() map[string][2]float64 {
	return map[string][2]float64{
		"a3": {297, 420}, "a4": {210, 297}, "a5": {148, 210}, "a6": {105, 148}, "b5": {176, 250},
		"letter": {215.9, 279.4}, "legal": {215.9, 355.6}, "tabloid": {279.4, 431.8},
	}
}

// sizeHelp completes the error of an unknown page size.
const sizeHelp = `allowed: A3, A4, A5, A6, B5, Letter, Legal, Tabloid, or two lengths such as "210mm x 297mm"`

// readSize sets width and height from the option page_size.
func (s *Sheet) readSize(name string) error {
	size, named := sizes()[strings.ToLower(strings.TrimSpace(name))]
	if name == "" {
		size, named = sizes()["a4"], true
	}

	if named {
		s.Width, s.Height = size[0], size[1]
		return nil
	}

	width, height, both := cutSize(strings.ToLower(name))
	if !both {
		return input.Invalid("page_size", "page_size %q is not known%s; %s", input.Short(name),
			input.DidYouMean(name, []string{"A3", "A4", "A5", "A6", "B5", "Letter", "Legal", "Tabloid"}), sizeHelp)
	}

	for i, text := range []string{width, height} {
		var err error
		if size[i], err = parseLength(text); err != nil {
			return input.Invalid("page_size", "page_size %q is not valid: %v; %s", input.Short(name), err, sizeHelp)
		}

		if size[i] < minSide || size[i] > MaxSide {
			return input.Invalid("page_size", "page_size %q is not allowed: each side is %gmm to %gmm",
				input.Short(name), minSide, MaxSide)
		}
	}
	s.Width, s.Height = size[0], size[1]

	return nil
}

// cutSize cuts "210mm x 297mm" at the x between its lengths.
func cutSize(text string) (width, height string, ok bool) {
	width, height, ok = strings.Cut(text, "x")
	if !strings.HasSuffix(strings.TrimSpace(width), "p") {
		return width, height, ok
	}
	// "100px x 200px": the first x belongs to the unit.
	unit, height, ok := strings.Cut(height, "x")

	return width + "x" + unit, height, ok
}
