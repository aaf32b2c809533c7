package diagram

// Style is the look that a diagram takes from its document. Colours are "#rrggbb".
type Style struct {
	// Dark reports whether the page is darker than its text.
	Dark bool
	// Page is the background, Text the colour of all texts, Line the colour of lines and borders.
	Page, Text, Line string
	// Accents distinguish parts by colour. There must be at least one. Draw skips accents that look like an
	// earlier one.
	Accents []string
	// Font is a CSS font stack, Size the size of the text in CSS pixels.
	Font string
	Size int
}

// withVisibleLines returns the style with a Line that contrasts with the page. The line colour of a theme may be too
// faint for a grid or a life line.
func (s Style) withVisibleLines() Style {
	const (
		visible = 1.5
		step    = 0.05
	)

	line := s.Line
	for share := step; share < 1 && contrast(s.Line, s.Page) < visible; share += step {
		s.Line = mix(s.Text, line, share)
	}

	return s
}

// accent returns accent n, counted from 0 and repeated.
func (s Style) accent(n int) string { return s.Accents[n%len(s.Accents)] }

// wash returns accent n as a light background for Text. When the accents repeat, their washes get stronger, in three
// steps.
func (s Style) wash(n int) string {
	share := 0.2 + 0.1*float64(n/len(s.Accents)%3)
	return s.tint(n, share)
}

// tint returns a mix of accent n and the page. share is the part of the accent, 0 to 1. tint reduces it until Text is
// readable on the mix.
func (s Style) tint(n int, share float64) string {
	const (
		readable = 4.5 // WCAG AA
		step     = 0.04
	)

	tint := mix(s.accent(n), s.Page, share)
	for ; share > step && contrast(tint, s.Text) < readable; share -= step {
		tint = mix(s.accent(n), s.Page, share-step)
	}

	return tint
}

// stroke returns accent n, mixed with Text until a line in it is visible on the page.
func (s Style) stroke(n int) string {
	const (
		visible = 3 // WCAG 1.4.11
		step    = 0.1
	)

	line := s.accent(n)
	for share := 1 - step; share > 0 && contrast(line, s.Page) < visible; share -= step {
		line = mix(s.accent(n), s.Text, share)
	}

	return line
}
