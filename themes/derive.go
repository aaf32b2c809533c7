package themes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// tokens are the custom properties of a theme by name, such as "--primary".
type tokens map[string]string

// colorNames returns the names of the palette, Theme.Colors, in daisyUI's order.
func colorNames() []string {
	return []string{
		"base-100", "base-200", "base-300", "base-content",
		"primary", "primary-content", "secondary", "secondary-content", "accent", "accent-content",
		"neutral", "neutral-content",
		"info", "info-content", "success", "success-content", "warning", "warning-content", "error", "error-content",
	}
}

// textRatio is the contrast ratio of derived colours of text: the 4.5 of WCAG AA and a reserve for rounding.
const textRatio = 4.6

// derive returns the tokens of a theme and all others that a document needs. The caller has checked the three required
// colours. The order of the steps matters: later ones use the colours of earlier ones as backgrounds.
func derive(own tokens) tokens {
	t := expand(own)
	t.derivePalette()
	t.deriveSurfaces()
	t.deriveAlerts()
	t.deriveText()
	t.deriveCode()
	t.deriveType()

	return t
}

// color returns the colour of a token whose value is a colour or refers to one by var(). It returns false for other
// values, and for more than maxNesting references.
func (t tokens) color(name string) (color, bool) {
	value := t[name]
	for range maxNesting {
		inner, ok := strings.CutPrefix(value, "var(")
		if !ok {
			break
		}
		value = t[strings.TrimSpace(strings.TrimSuffix(inner, ")"))]
	}

	return parseColor(value)
}

// get returns the colour of a token, black if it has none.
func (t tokens) get(name string) color {
	c, _ := t.color(name)
	return c
}

// setDefault sets the colour of a token that the theme does not set, or not to a colour that parseColor reads.
func (t tokens) setDefault(name string, c color) {
	if _, ok := t.color(name); !ok {
		t[name] = c.hex()
	}
}

// derivePalette sets the missing colours of the palette. Colours that stand for a status have fixed hues.
func (t tokens) derivePalette() {
	page, text, primary := t.get("--base-100"), t.get("--base-content"), t.get("--primary")
	t.setDefault("--base-200", mix(text, page, 0.04))
	t.setDefault("--base-300", mix(text, page, 0.12))
	t.setDefault("--secondary", mix(primary, text, 0.7))
	t.setDefault("--accent", mix(primary, t.get("--secondary"), 0.5))
	t.setDefault("--neutral", mix(text, page, 0.85))

	status := oklch{l: 0.62, c: 0.15}
	if page.luminance() < 0.2 {
		status.l = 0.76
	}

	for name, hue := range map[string]float64{"--info": 245, "--success": 155, "--warning": 75, "--error": 25} {
		status.h = hue
		t.setDefault(name, status.color())
	}

	for _, name := range []string{
		"--primary", "--secondary", "--accent", "--neutral",
		"--info", "--success", "--warning", "--error",
	} {
		t.setDefault(name+"-content", blackOrWhite(t.get(name)))
	}
}

// deriveSurfaces sets the backgrounds of text, and the colours of text on solid ones. The backgrounds are a fill, a
// tint, the stripes of tables, marks, code and the cover.
func (t tokens) deriveSurfaces() {
	page, text, primary := t.get("--base-100"), t.get("--base-content"), t.get("--primary")
	t.setDefault("--tint", tint(primary, page, text, 0.12))
	t.setDefault("--fill", primary)
	fill := t.get("--fill")
	t.setDefault("--fill-text", readable(t.get("--primary-content"), blackOrWhite(fill), textRatio, fill))
	t.setDefault("--rule", mix(text, page, 0.22))
	t.setDefault("--table-stripe", mix(text, page, 0.035))
	t.setDefault("--mark-bg", tint(t.get("--warning"), page, text, 0.35))
	t.setDefault("--code-bg", codeBackground(page, t.get("--base-200"), text))
	t.setDefault("--code-inline-bg", codeBackground(page, mix(text, page, 0.07), text))
	t.setDefault("--cover-bg", primary)
	cover := t.get("--cover-bg")
	t.setDefault("--cover-text", readable(t.get("--primary-content"), blackOrWhite(cover), textRatio, cover))
	t.setDefault("--cover-accent", t.get("--cover-text"))
}

// deriveAlerts sets the colours of alerts: the background, and the title with enough contrast on it.
func (t tokens) deriveAlerts() {
	page, text := t.get("--base-100"), t.get("--base-content")
	for name, from := range map[string]string{
		"note": "--info", "tip": "--success", "important": "--primary", "warning": "--warning", "caution": "--error",
	} {
		t.setDefault("--alert-"+name+"-bg", tint(t.get(from), page, text, 0.09))
		t.setDefault("--alert-"+name, readable(t.get(from), text, textRatio, t.get("--alert-"+name+"-bg")))
	}
}

// deriveText sets the colours of text. Each is readable on all of its backgrounds.
func (t tokens) deriveText() {
	page, text := t.get("--base-100"), t.get("--base-content")

	quote := page
	if c, ok := t.color("--quote-bg"); ok {
		quote = c
	}
	surfaces := []color{page, quote, t.get("--table-stripe"), t.get("--tint")}

	for _, name := range []string{"note", "tip", "important", "warning", "caution"} {
		surfaces = append(surfaces, t.get("--alert-"+name+"-bg"))
	}
	t.setDefault("--muted", readable(mix(text, page, 0.68), text, textRatio, surfaces...))
	t.setDefault("--link", readable(t.get("--primary"), text, textRatio, surfaces...))
	t.setDefault("--heading", text)

	for _, level := range []string{"--h1", "--h2", "--h3"} {
		t.setDefault(level+"-color", t.get("--heading"))
	}
	t.setDefault("--quote-text", t.get("--muted"))

	head := page
	if c, ok := t.color("--table-head-bg"); ok {
		head = c
	}
	t.setDefault("--table-head-text", readable(t.get("--heading"), blackOrWhite(head), textRatio, head))
}

// deriveCode sets the colours of highlighted code, each with enough contrast on the background of code.
func (t tokens) deriveCode() {
	background := t.get("--code-bg")

	text := t.get("--base-content")
	if contrast(text, background) < 7 && contrast(text, t.get("--base-100")) > contrast(text, background) {
		text = mix(blackOrWhite(background), background, 0.88) // a dark block on a light page, or the reverse
	}
	t.setDefault("--code-text", readable(text, blackOrWhite(background), textRatio, background))

	text = t.get("--code-text")
	for name, from := range map[string]string{
		"keyword": "--primary", "string": "--success", "number": "--warning", "function": "--info",
		"type": "--accent", "name": "--secondary", "deleted": "--error",
	} {
		t.setDefault("--code-"+name, readable(t.get(from), text, textRatio, background))
	}
	t.setDefault("--code-added-bg", tint(t.get("--alert-tip"), background, text, 0.13))
	t.setDefault("--code-removed-bg", tint(t.get("--alert-caution"), background, text, 0.13))
	t.setDefault("--code-comment", readable(mix(text, background, 0.62), text, textRatio, background))
}

// deriveType sets fonts and sizes. Headings have the font of the body by default.
func (t tokens) deriveType() {
	leading := "1.5"
	if t.get("--base-100").luminance() < 0.2 {
		leading = "1.56" // light text on a dark page looks larger and needs more space
	}

	for _, d := range []struct{ name, value string }{
		{"--font-body", `Inter, "Noto Sans", "Helvetica Neue", sans-serif`},
		{"--font-heading", ""}, // the font of the body, which is set by then
		{"--font-mono", `"JetBrains Mono", "DejaVu Sans Mono", Menlo, monospace`},
		{"--text-size", "10.6875pt"},
		{"--leading", leading},
		{"--scale", "1.25"},
		{"--radius", "3pt"},
	} {
		t[d.name] = cmp.Or(t[d.name], d.value, t["--font-body"])
	}
}

// tint returns a mix of a colour and the page. share is the part of the colour, 0 to 1. tint reduces it, down to the
// page itself, until text is readable on the mix.
func tint(c, page, text color, share float64) color {
	for ; share > 0.01; share -= 0.03 {
		if x := mix(c, page, share); contrast(text, x) >= textRatio {
			return x
		}
	}

	return page
}

// codeBackground returns base200 if it differs visibly from the page and text is readable on it. Otherwise it returns a
// mix of a little text and the page.
func codeBackground(page, base200, text color) color {
	if contrast(text, base200) >= textRatio && contrast(page, base200) >= 1.03 {
		return base200
	}

	for share := 0.07; share > 0.01; share -= 0.02 {
		if c := mix(text, page, share); contrast(text, c) >= textRatio {
			return c
		}
	}

	return page
}

// blackOrWhite returns the one with the higher contrast on a background.
func blackOrWhite(background color) color {
	if contrast(black, background) > contrast(white, background) {
		return black
	}

	return white
}

// rule returns the tokens as a :root rule. The values come from a filtered stylesheet, so none can end the rule. Tokens
// that only Presswork reads, not the browser, are left out.
func (t tokens) rule(scheme string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ":root{color-scheme:%s;", scheme)

	for _, name := range slices.Sorted(maps.Keys(t)) {
		switch name {
		case "--label", "--description", "--tags", "--folio-text", "--page-margins", "--setting":
		default:
			fmt.Fprintf(&b, "%s:%s;", name, t[name])
		}
	}
	b.WriteString("}\n")

	return b.String()
}
