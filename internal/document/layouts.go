package document

import (
	"strconv"
	"strings"

	"presswork"
	"presswork/internal/document/layout"
	"presswork/internal/document/sheet"
	"presswork/themes"
)

// columnGap is the distance of the columns of a paper in millimetres before it is scaled, as in the stylesheet.
const columnGap = 6

// inColumns reports whether a document is printed in two columns.
func inColumns(o presswork.Options, output presswork.Output) bool {
	return o.As == layout.Paper && o.Columns != nil && *o.Columns > 1 && onPages(output)
}

func onPages(output presswork.Output) bool {
	return output != presswork.HTML && output != presswork.EPUB
}

// layoutOptions returns the options with the defaults of their layout.
func layoutOptions(o presswork.Options) presswork.Options {
	if o.As == layout.Paper && o.NumberedHeadings == nil {
		o.NumberedHeadings = new(true)
	}

	if o.As == layout.Paper && o.Numbering == "" {
		o.Numbering = "document"
	}

	return o
}

// themeFor returns the theme as layout and density change it.
func themeFor(t themes.Theme, o presswork.Options, output presswork.Output) themes.Theme {
	columns := 1
	if inColumns(o, output) {
		columns = 2
	}

	return layout.Of(o.As).Theme(t, columns).Dense(o.Density)
}

// checkLayout returns an error for options that only other layouts have. The options are those of the caller and
// of the front matter together.
func checkLayout(o presswork.Options) error {
	if o.Columns != nil && *o.Columns > 1 && o.As != layout.Paper && o.As != asAuto {
		return invalid("columns", "columns goes with as: paper only")
	}

	return nil
}

// textSize returns the size of the running text as a multiple of bodySize, for layouts and densities that set one.
func textSize(theme themes.Theme, o presswork.Options) float64 {
	if layout.Of(o.As).Name == "" && o.Density == "" {
		return 1
	}

	points, err := strconv.ParseFloat(strings.TrimSuffix(theme.Token("--text-size"), "pt"), 64)
	if err != nil || points <= 0 {
		return 1
	}

	return points * sheet.Point / bodySize
}

// column returns a sheet whose text area is as wide as one of two columns of s.
func column(s sheet.Sheet) sheet.Sheet {
	s.Left += (s.TextWidth() + columnGap*s.Scale) / 2
	return s
}

// asAuto is the value of the option as that chooses the layout by the text.
const asAuto = "auto"
