package sheet

import (
	"errors"
	"strconv"
	"strings"

	"presswork"
	"presswork/internal/input"
	"presswork/internal/lazyregexp"
)

// Margins are the margins of a page in millimetres.
type Margins struct{ Top, Right, Bottom, Left float64 }

// NormalMargins returns the margins of a page for which neither options nor theme have any.
func NormalMargins() Margins { return Margins{25, 33, 26, 33} }

// ParseMargins returns the margins in a theme's token: top, right, bottom and left in millimetres on A4, such as
// "25 33 26 33". Each is 0 to 60. A number that is not allowed leaves the normal margin.
func ParseMargins(token string) Margins {
	m := NormalMargins()
	sides := []*float64{&m.Top, &m.Right, &m.Bottom, &m.Left}

	numbers := strings.Fields(token)
	if len(numbers) != len(sides) {
		return m
	}

	for i, side := range sides {
		if mm, err := strconv.ParseFloat(numbers[i], 64); err == nil && mm >= 0 && mm <= 60 {
			*side = mm
		}
	}

	return m
}

// readMargins sets the margins: those of the argument, or of the preset in the options, and then those of the options
// for single sides.
func (s *Sheet) readMargins(o presswork.Options, margins Margins) error {
	switch strings.ToLower(o.MarginPreset) {
	case "":
	case "normal":
		margins = NormalMargins()
	case "none":
		margins = Margins{}
	case "narrow":
		margins = Margins{13, 13, 15, 13}
	case "wide":
		margins = Margins{32, 42, 34, 42}
	default:
		return input.Invalid("margin_preset", "margin_preset %q is not allowed%s; allowed: none, narrow, normal, wide",
			input.Short(o.MarginPreset), input.DidYouMean(o.MarginPreset, []string{"none", "narrow", "normal", "wide"}))
	}
	s.Top, s.Right, s.Bottom, s.Left = margins.Top, margins.Right, margins.Bottom, margins.Left

	// The presets are for A4; smaller paper gets smaller margins.
	if k := min(s.Width, s.Height) / 210; k < 1 {
		s.Top, s.Right, s.Bottom, s.Left = s.Top*k, s.Right*k, s.Bottom*k, s.Left*k
	}

	for _, side := range []struct {
		name, text string
		value      *float64
	}{
		{"top", o.Margins.Top, &s.Top},
		{"right", o.Margins.Right, &s.Right},
		{"bottom", o.Margins.Bottom, &s.Bottom},
		{"left", o.Margins.Left, &s.Left},
	} {
		if side.text == "" {
			continue
		}

		mm, err := parseLength(side.text)
		if err != nil {
			return input.Invalid("margins."+side.name, "margins.%s %q is not valid: %v",
				side.name, input.Short(side.text), err)
		}
		*side.value = mm
	}

	if s.Left+s.Right+minContent > s.Width || s.Top+s.Bottom+minContent > s.Height {
		return input.Invalid("margins", "the margins leave less than %gmm of a page of %.4gmm x %.4gmm",
			minContent, s.Width, s.Height)
	}

	return nil
}

// lengthForm matches a length with its unit.
var lengthForm = lazyregexp.New(`^([0-9]{1,6}(?:\.[0-9]{1,6})?|\.[0-9]{1,6})(mm|cm|in|pt|px|pc|q)$`)

// parseLength converts a CSS length to millimetres. It rejects a number without a unit, because some tools take it for
// inches and others for pixels. Its error completes the message of the option.
func parseLength(text string) (mm float64, err error) {
	const inch = 25.4

	m := lengthForm().FindStringSubmatch(strings.ToLower(strings.TrimSpace(text)))
	if m == nil {
		return 0, errors.New(`a length is a number with a unit: mm, cm, in, pt, pc, px or q, such as "20mm"`)
	}

	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return 0, err
	}
	units := map[string]float64{
		"mm": 1, "cm": 10, "in": inch, "pt": inch / 72, "pc": inch / 6, "px": inch / 96, "q": 0.25,
	}

	return n * units[m[2]], nil
}
