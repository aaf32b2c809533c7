package document

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"presswork"
	"presswork/internal/chromium/printable"
	"presswork/internal/input"
	"presswork/themes"
)

const (
	minSide    = 20.0   // mm, of a page
	maxSide    = 5080.0 // mm: 200 inches, the limit of PDF readers
	minContent = 10.0   // mm, what margins must leave
)

// sheet is the paper and its margins, in millimetres.
type sheet struct {
	width, height            float64
	top, right, bottom, left float64
	scale                    float64
	ranges                   string
	tagged, outline          bool
	// mirrored reports that left is the margin at the spine and right the outer one.
	mirrored bool
	// bleed goes around the page, which is cut off at the edges within; marks is how
	// much there is around that for crop marks.
	bleed, marks float64
}

// normalMargins are those of a page that nobody chose: top, right, bottom, left.
func normalMargins() [4]float64 { return [4]float64{25, 33, 26, 33} }

// marginsOf are those that a theme chose ("--page-margins: 25 33 26 33", in
// millimetres on A4).
func marginsOf(theme themes.Theme) [4]float64 {
	margins := normalMargins()

	numbers := strings.Fields(theme.Token("--page-margins"))
	for i := 0; i < len(margins) && len(numbers) == len(margins); i++ {
		if mm, err := strconv.ParseFloat(numbers[i], 64); err == nil && mm >= 0 && mm <= 60 {
			margins[i] = mm
		}
	}

	return margins
}

// pageSizes are ISO 216 and ANSI/ASME Y14.1 sizes, upright, in millimetres.
func pageSizes() map[string][2]float64 {
	return map[string][2]float64{
		"a3": {297, 420}, "a4": {210, 297}, "a5": {148, 210}, "a6": {105, 148}, "b5": {176, 250},
		"letter": {215.9, 279.4}, "legal": {215.9, 355.6}, "tabloid": {279.4, 431.8},
	}
}

const pageSizeHelp = `allowed: A3, A4, A5, A6, B5, Letter, Legal, Tabloid, or two lengths such as "210mm x 297mm"`

// sheetOf reads the options that concern the paper; normal are the margins where they
// say nothing of them. Errors: InvalidOption.
func sheetOf(o presswork.Options, normal [4]float64) (sheet, error) {
	s := sheet{scale: 1, tagged: notFalse(o.Tagged), outline: notFalse(o.Tagged) && notFalse(o.Outline)}
	if err := s.readSize(o.PageSize); err != nil {
		return s, err
	}

	if isTrue(o.Landscape) && s.width < s.height {
		s.width, s.height = s.height, s.width
	}

	if err := s.readMargins(o, normal); err != nil {
		return s, err
	}

	if err := s.readPress(o); err != nil {
		return s, err
	}

	if o.Scale != nil {
		if s.scale = *o.Scale; !(s.scale >= 0.1 && s.scale <= 2) {
			return s, invalid("scale", "scale %v is not allowed; allowed: 0.1 to 2", s.scale)
		}
	}

	var ok bool
	if s.ranges, ok = input.PageRanges(o.PageRanges); !ok {
		return s, invalid(
			"page_ranges",
			`page_ranges %q is not valid; write page numbers and ranges such as "1-3,5"`,
			input.Short(o.PageRanges),
		)
	}

	return s, nil
}

func (s *sheet) readSize(name string) error {
	size, ok := pageSizes()[strings.ToLower(strings.TrimSpace(name))]
	switch {
	case name == "":
		size = pageSizes()["a4"]
	case !ok:
		w, h, both := strings.Cut(strings.ToLower(name), "x")
		if strings.HasSuffix(strings.TrimSpace(w), "p") {
			// "100px x 200px": the first x belongs to the unit.
			rest := ""
			rest, h, both = strings.Cut(h, "x")
			w += "x" + rest
		}

		if !both {
			return invalid(
				"page_size",
				"page_size %q is not known%s; %s",
				input.Short(name),
				input.DidYouMean(
					name,
					[]string{"A3", "A4", "A5", "A6", "B5", "Letter", "Legal", "Tabloid"},
				),
				pageSizeHelp,
			)
		}

		for i, text := range []string{w, h} {
			var err error
			if size[i], err = parseLength(text); err != nil {
				return invalid("page_size", "page_size %q is not valid: %v; %s", input.Short(name), err, pageSizeHelp)
			}

			if size[i] < minSide || size[i] > maxSide {
				return invalid(
					"page_size",
					"page_size %q is not allowed: each side is %gmm to %gmm",
					input.Short(name),
					minSide,
					maxSide,
				)
			}
		}
	}
	s.width, s.height = size[0], size[1]

	return nil
}

// readMargins takes the preset, then each side that is given on its own.
func (s *sheet) readMargins(o presswork.Options, normal [4]float64) error {
	switch strings.ToLower(o.MarginPreset) {
	case "":
		s.top, s.right, s.bottom, s.left = normal[0], normal[1], normal[2], normal[3]
	case "normal":
		m := normalMargins()
		s.top, s.right, s.bottom, s.left = m[0], m[1], m[2], m[3]
	case "none":
	case "narrow":
		s.top, s.right, s.bottom, s.left = 13, 13, 15, 13
	case "wide":
		s.top, s.right, s.bottom, s.left = 32, 42, 34, 42
	default:
		return invalid(
			"margin_preset",
			"margin_preset %q is not allowed%s; allowed: none, narrow, normal, wide",
			input.Short(o.MarginPreset),
			input.DidYouMean(o.MarginPreset, []string{"none", "narrow", "normal", "wide"}),
		)
	}
	// The presets are made for A4; small paper gets less.
	if k := min(s.width, s.height) / 210; k < 1 {
		s.top, s.right, s.bottom, s.left = s.top*k, s.right*k, s.bottom*k, s.left*k
	}

	for _, side := range []struct {
		name, text string
		value      *float64
	}{
		{"top", o.Margins.Top, &s.top},
		{"right", o.Margins.Right, &s.right},
		{"bottom", o.Margins.Bottom, &s.bottom},
		{"left", o.Margins.Left, &s.left},
	} {
		if side.text == "" {
			continue
		}

		mm, err := parseLength(side.text)
		if err != nil {
			return invalid(
				"margins."+side.name,
				"margins.%s %q is not valid: %v",
				side.name,
				input.Short(side.text),
				err,
			)
		}
		*side.value = mm
	}

	if s.left+s.right+minContent > s.width || s.top+s.bottom+minContent > s.height {
		return invalid(
			"margins",
			"the margins leave less than %gmm of a page of %.4gmm x %.4gmm",
			minContent,
			s.width,
			s.height,
		)
	}

	return nil
}

var lengthForm = regexp.MustCompile(`^([0-9]{1,6}(?:\.[0-9]{1,6})?|\.[0-9]{1,6})(mm|cm|in|pt|px|pc|q)$`)

// parseLength reads a CSS length with its unit into millimetres. A bare number
// is refused: it is inches to some tools and pixels to others.
func parseLength(text string) (mm float64, err error) {
	m := lengthForm.FindStringSubmatch(strings.ToLower(strings.TrimSpace(text)))
	if m == nil {
		return 0, fmt.Errorf("a length is a number with a unit: mm, cm, in, pt, pc, px or q, such as \"20mm\"")
	}

	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return 0, err
	}
	const inch = 25.4

	return n * map[string]float64{"mm": 1, "cm": 10, "in": inch, "pt": inch / 72, "pc": inch / 6, "px": inch / 96, "q": 0.25}[m[2]], nil
}

// overhang is how far, in millimetres, the numbers of a long list and a theme's
// ornaments may reach into the side margins. Chromium paints nothing in the
// margin of a page but what is meant for it.
const overhang = 12

// rise is how far, in millimetres, letters and their backgrounds may reach above
// the first line of a page and below the last: a heading of 34 pt needs 4 mm for
// the marks above Arabic letters.
const rise = 5

// strips are how much of the margins, beside, above and below, belongs to the
// area of the text.
func (s sheet) strips() (beside, above, below float64) {
	return min(overhang, s.left, s.right), min(rise, s.top), min(rise, s.bottom)
}

// textTop is where Chromium says that the text of a page begins, in points above the
// foot: as if the page had no margins and were not scaled.
func (s sheet) textTop() float64 {
	_, above, _ := s.strips()
	return (s.height + 2*s.bleed - above/s.scale) / pointInMM
}

// css is the @page rule of the sheet.
func (s sheet) css() string {
	beside, above, below := s.strips()

	outside := ""
	if s.bleed > 0 { // header and footer stand where they do without it
		outside = fmt.Sprintf(
			"@page{@top-center{margin-top:%gmm}@bottom-center{margin-bottom:%gmm}}\n",
			round(s.bleed),
			round(s.bleed),
		)
	}
	b := s.bleed

	return fmt.Sprintf(
		"@page{size:%gmm %gmm;margin:%gmm %gmm %gmm %gmm;@top-center{margin-bottom:%gmm;padding:0 %gmm}@bottom-center{margin-top:%gmm;padding:0 %gmm}}\n@page turned{size:%gmm %gmm}\n%s",
		round(
			s.width+2*b,
		),
		round(s.height+2*b),
		round(s.top-above+b),
		round(s.right-beside+b),
		round(s.bottom-below+b),
		round(s.left-beside+b),
		round(
			-above,
		),
		round(beside),
		round(-below),
		round(beside), // header and footer have the whole margin, as wide as the text
		round(s.height+2*b),
		round(s.width+2*b),
		outside,
	)
}

// properties are what the print sheet must know of the paper: lengths in the
// document, which are scaled, while the sheet is not.
func (s sheet) properties() themes.Properties {
	beside, above, below := s.strips()
	length := func(mm float64) string { return fmt.Sprintf("%gmm", round(mm/s.scale)) }

	return themes.Properties{
		"--sheet-width": length(
			s.width + 2*s.bleed,
		),
		"--sheet-height": length(s.height + 2*s.bleed),
		"--area-height":  length(s.height - s.top - s.bottom),
		"--overhang":     length(beside),
		"--rise":         length(above),
		"--drop":         length(below),
	}
}

func round(mm float64) float64 {
	v, _ := strconv.ParseFloat(strconv.FormatFloat(mm, 'f', 3, 64), 64)
	return v
}

// forPrinter is what the browser needs beside the HTML.
func (s sheet) forPrinter() printable.Sheet {
	const inch = 25.4

	return printable.Sheet{
		Width:      (s.width + 2*s.bleed) / inch,
		Height:     (s.height + 2*s.bleed) / inch,
		Scale:      s.scale,
		PageRanges: s.ranges,
		Tagged:     s.tagged,
		Outline:    s.outline,
	}
}
