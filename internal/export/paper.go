package export

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"presswork/internal/input"
	"presswork/internal/lazyregexp"
)

// Paper is the sheet for a page. Lengths are in inches.
type Paper struct {
	// Width and Height are swapped if Landscape is true.
	Width, Height float64
	Landscape     bool
	// The margins are those of the sheet as printed: Landscape does not turn them.
	Top, Right, Bottom, Left float64
	// Scale is 0.1 to 2.
	Scale float64
	// Ranges is a list of pages, such as "1-3,5"; "" selects all.
	Ranges string
}

const (
	minSide    = 0.5   // inches, shortest side of a sheet
	maxSide    = 200.0 // inches, the limit of PDF readers
	minContent = 0.25  // inches that the margins must leave for content
)

// formats returns Puppeteer's paper sizes, in inches.
func formats() map[string][2]float64 {
	return map[string][2]float64{
		"letter": {8.5, 11}, "legal": {8.5, 14}, "tabloid": {11, 17}, "ledger": {17, 11},
		"a0": {33.1102, 46.811}, "a1": {23.3858, 33.1102}, "a2": {16.5354, 23.3858}, "a3": {11.6929, 16.5354},
		"a4": {8.2677, 11.6929}, "a5": {5.8268, 8.2677}, "a6": {4.1339, 5.8268},
	}
}

// PaperOf returns the paper for the options, with the defaults filled in. Errors: InvalidOption.
func PaperOf(o PDFOptions) (Paper, error) {
	p := Paper{Landscape: isTrue(o.Landscape)}
	if err := p.readSize(o); err != nil {
		return p, err
	}

	for _, m := range []struct {
		name  string
		text  Length
		value *float64
	}{
		{"margin.top", o.Margin.Top, &p.Top},
		{"margin.right", o.Margin.Right, &p.Right},
		{"margin.bottom", o.Margin.Bottom, &p.Bottom},
		{"margin.left", o.Margin.Left, &p.Left},
	} {
		if err := readLength(m.name, m.text, m.value); err != nil {
			return p, err
		}
	}

	width, height := p.Width, p.Height
	if p.Landscape {
		width, height = height, width
	}

	if p.Left+p.Right+minContent > width || p.Top+p.Bottom+minContent > height {
		return p, input.Invalid("margin",
			"the margins leave less than %gin of a page of %gin x %gin", minContent, width, height)
	}

	var err error
	if p.Scale, err = input.Scale(o.Scale); err != nil {
		return p, err
	}

	p.Ranges, err = input.PageRanges("pageRanges", o.PageRanges)

	return p, err
}

// readSize sets the size of the sheet: that of a named format, or width and height. Default: letter.
func (p *Paper) readSize(o PDFOptions) error {
	size := formats()["letter"]

	if o.Format != "" {
		var known bool
		if size, known = formats()[strings.ToLower(o.Format)]; !known {
			names := slices.Sorted(maps.Keys(formats()))

			return input.Invalid("format", "format %q is not known%s; allowed: %s, or width and height",
				input.Short(o.Format), input.DidYouMean(o.Format, names), strings.Join(names, ", "))
		}
	}
	p.Width, p.Height = size[0], size[1]

	if o.Format != "" {
		return nil
	}

	for _, side := range []struct {
		name  string
		text  Length
		value *float64
	}{{"width", o.Width, &p.Width}, {"height", o.Height, &p.Height}} {
		if err := readLength(side.name, side.text, side.value); err != nil {
			return err
		}

		if *side.value < minSide || *side.value > maxSide {
			return input.Invalid(side.name, "%s %q is not allowed; allowed: %gin to %gin",
				side.name, input.Short(string(side.text)), minSide, maxSide)
		}
	}

	return nil
}

// lengthForm accepts up to 20 decimals, because scripts compute lengths: 210mm is 793.7007874015749px.
var lengthForm = lazyregexp.New(`^([0-9]{1,6}(?:\.[0-9]{1,20})?|\.[0-9]{1,20})(px|in|cm|mm|pt)?$`)

// readLength converts l to inches and stores the result; if l is empty, it leaves inches unchanged. A number without a
// unit is in px, as in Puppeteer.
func readLength(name string, l Length, inches *float64) error {
	if l == "" {
		return nil
	}
	wrong := input.Invalid(name,
		"%s %q is not a length; allowed: a number of pixels, or one with a unit: px, in, cm, mm, pt",
		name, input.Short(string(l)))

	m := lengthForm().FindStringSubmatch(strings.ToLower(strings.TrimSpace(string(l))))
	if m == nil {
		return wrong
	}

	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return wrong
	}
	*inches = n / map[string]float64{"": 96, "px": 96, "in": 1, "cm": 2.54, "mm": 25.4, "pt": 72}[m[2]]

	return nil
}
