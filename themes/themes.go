// Package themes is the catalogue of looks a document can have: 35 built-in
// themes, one CSS file each, and the custom ones of a folder.
//
// A theme is a stylesheet whose :root rule sets tokens: --primary, --base-100
// and --base-content at least. Everything else a document needs (tints, link
// and code colours with enough contrast) is derived from those, unless the
// theme sets it.
package themes

// Default is the theme of a document that names none.
const Default = "light"

// Auto is what a caller writes for a theme that is to be chosen; no theme has
// that name.
const Auto = "auto"

// Theme is one entry of the catalogue; its JSON form is that of GET /api/themes.
// It is a value: changing it changes nothing else, but its map and slice are
// shared and must not be written to.
type Theme struct {
	Name  string `json:"name"`
	Label string `json:"label"`
	// Scheme is light or dark.
	Scheme      string   `json:"scheme"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	Fonts       Fonts    `json:"fonts"`
	// Colors are "#rrggbb" by name: primary, base_100, base_content, ….
	Colors   map[string]string `json:"colors"`
	Contrast Contrast          `json:"contrast"`
	// Custom reports whether the theme came from the folder.
	Custom bool `json:"custom"`

	css string
	// sheet is css cut into rules, when it is first asked for.
	sheet func() *Stylesheet
	// own are the tokens the theme sets, all those and the derived ones.
	own, all tokens
	// ink reports whether it is the ink-saving variant; full is what it was made of
	// sets itself.
	ink  bool
	full tokens
	// changed reports whether With has changed tokens.
	changed bool
}

// noCoverArt takes away what themes paint on their covers.
const noCoverArt = ".cover::before,.cover::after{display:none}\n"

// Fonts are CSS font stacks.
type Fonts struct {
	Body    string `json:"body"`
	Heading string `json:"heading"`
	Mono    string `json:"mono"`
}

// Contrast holds WCAG 2 ratios against the page background, 1 to 21.
type Contrast struct {
	Text float64 `json:"text"`
	Link float64 `json:"link"`
}

// Tokens returns the :root rule with every token of the theme, the derived
// ones included. It goes before the print sheet.
func (t Theme) Tokens() string {
	if t.ink {
		return t.all.rule(t.Scheme) + noCoverArt
	}

	return t.all.rule(t.Scheme)
}

// CSS returns the theme's own stylesheet, free of references to anything
// outside. It goes after the print sheet.
func (t Theme) CSS() string { return t.css }

// Token returns the value of one token ("--link"), a colour as "#rrggbb"; ""
// for an unknown one.
func (t Theme) Token(name string) string {
	if c, ok := t.all.color(name); ok {
		return c.hex()
	}

	return t.all[name]
}

// InkSaver returns the theme for white paper: dark text, tints only, a white
// cover without its art. Its Tokens must go last, for its CSS still sets the
// colours of the full theme.
func (t Theme) InkSaver() Theme {
	own := inkTokens(t.own)
	t.Scheme = "light"
	t.full, t.own, t.all, t.ink = t.own, own, derive(own), true
	t.all.blot()
	t.describe()

	return t
}
