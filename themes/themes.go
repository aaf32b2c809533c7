// Package themes is the catalogue of themes for documents. It has 35 built-in themes, one CSS file each, and the custom
// themes of a folder, which may be hostile.
//
// A theme is a stylesheet whose :root rule sets tokens, at least --primary, --base-100 and --base-content. FilterCSS
// first removes all references to external resources. The package then derives the other tokens, such as tints and
// colours of links and code with enough contrast, unless the theme sets them. A Catalogue finds themes by name.
// Theme.Fit writes the stylesheet of a page.
package themes

// Default is the theme of a document that names none.
const Default = "light"

// Auto asks Presswork to choose the theme from the text. No theme has that name.
const Auto = "auto"

// Theme is one entry of the catalogue. Its JSON form is that of GET /api/themes. Copies share its maps and slices, so
// the caller must not write to them.
type Theme struct {
	// Name is the name of the file without .css.
	Name string `json:"name"`
	// Label is the name for readers.
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

	css string // the filtered stylesheet
	// sheet parses css into rules at its first call.
	sheet func() *Stylesheet
	// own has the tokens that the theme sets, all the derived ones as well.
	own, all tokens
	// ink reports whether this is the ink-saving variant. full then has the tokens that the original theme sets.
	ink  bool
	full tokens
	// changed reports whether With has changed tokens.
	changed bool
}

// noCoverArt is a rule that hides the pictures that themes draw on covers.
const noCoverArt = ".cover::before,.cover::after{display:none}\n"

// Fonts are CSS font stacks.
type Fonts struct {
	Body    string `json:"body"`
	Heading string `json:"heading"`
	Mono    string `json:"mono"`
}

// Contrast has the contrast ratios of WCAG 2 with the background of the page, 1 to 21, rounded to one decimal.
type Contrast struct {
	Text float64 `json:"text"`
	Link float64 `json:"link"`
}

// Tokens returns the :root rule with every token of the theme, including derived tokens. It goes before the print
// stylesheet, but that of an ink-saving theme after CSS.
func (t Theme) Tokens() string {
	if t.ink {
		return t.all.rule(t.Scheme) + noCoverArt
	}

	return t.all.rule(t.Scheme)
}

// CSS returns the theme's own stylesheet without references to external resources. It goes after the print stylesheet.
func (t Theme) CSS() string { return t.css }

// Token returns the value of a token such as "--link", "" for an unknown one. A colour has the form "#rrggbb".
func (t Theme) Token(name string) string {
	if c, ok := t.all.color(name); ok {
		return c.hex()
	}

	return t.all[name]
}

// InkSaver returns the theme for white paper: dark text, tints instead of solid colours, and a white cover without a
// picture. Its Tokens must go last, because its CSS still sets the colours of the full theme.
func (t Theme) InkSaver() Theme {
	own := inkTokens(t.own)
	t.Scheme = "light"
	t.full, t.own, t.all, t.ink = t.own, own, derive(own), true
	t.all.setInkDefaults()
	t.describe()

	return t
}
