// Package themes is the catalogue of looks a document can have: 35 built-in
// themes, one CSS file each, and the custom ones of a folder.
//
// A theme is a stylesheet whose :root rule sets tokens: --primary, --base-100
// and --base-content at least. Everything else a document needs (tints, link
// and code colours with enough contrast) is derived from those, unless the
// theme sets it.
package themes

import (
	"maps"
	"slices"
	"strings"
)

// Default is the theme of a document that names none.
const Default = "light"

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
	// Custom tells that the theme came from the folder.
	Custom bool `json:"custom"`

	css string
	// own are the tokens the theme sets, all those and the derived ones.
	own, all tokens
}

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
func (t Theme) Tokens() string { return t.all.rule(t.Scheme) }

// CSS returns the theme's own stylesheet, free of references to anything
// outside. It goes after the print sheet.
func (t Theme) CSS() string { return t.css }

// Token returns the value of one token ("--link"), "" for an unknown one.
func (t Theme) Token(name string) string { return t.all[name] }

// InkSaver returns the theme for white paper: dark text, tints only. Its
// Tokens must go last, for its CSS still sets the colours of the full theme.
func (t Theme) InkSaver() Theme {
	own := maps.Clone(t.own)
	maps.DeleteFunc(own, func(name, _ string) bool {
		return !slices.Contains(colorNames(), name[2:]) && !strings.HasPrefix(name, "--font") && name != "--radius"
	})
	delete(own, "--base-200")
	delete(own, "--base-300")
	own["--base-100"] = "#ffffff"
	if c, ok := parseColor(own["--base-content"]); !ok || contrast(c, white) < 7 {
		own["--base-content"] = "#1c1c1e"
	}
	own["--cover-bg"], own["--cover-text"] = own["--base-100"], own["--base-content"]
	t.Scheme = "light"
	t.own, t.all = own, derive(own)
	t.describe()
	return t
}
