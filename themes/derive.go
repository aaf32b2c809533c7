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

// colorNames are the colours of the catalogue, in daisyUI's order.
func colorNames() []string {
	return []string{
		"base-100",
		"base-200",
		"base-300",
		"base-content",
		"primary",
		"primary-content",
		"secondary",
		"secondary-content",
		"accent",
		"accent-content",
		"neutral",
		"neutral-content",
		"info",
		"info-content",
		"success",
		"success-content",
		"warning",
		"warning-content",
		"error",
		"error-content",
	}
}

// textRatio is WCAG AA with a hair of reserve for renderers that round.
const textRatio = 4.6

// derive completes what a theme sets to everything a document needs. The three
// colours it starts from have been checked.
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

// color reads a token that is a colour or stands for another that is.
func (t tokens) color(name string) (color, bool) {
	value := t[name]
	for range 8 {
		inner, ok := strings.CutPrefix(value, "var(")
		if !ok {
			break
		}
		value = t[strings.TrimSpace(strings.TrimSuffix(inner, ")"))]
	}

	return parseColor(value)
}

func (t tokens) get(name string) color {
	c, _ := t.color(name)
	return c
}

// set gives a colour the theme has not set, or not in a form we can read.
func (t tokens) set(name string, c color) {
	if _, ok := t.color(name); !ok {
		t[name] = c.hex()
	}
}

// derivePalette completes the colours of the catalogue.
func (t tokens) derivePalette() {
	page, text, primary := t.get("--base-100"), t.get("--base-content"), t.get("--primary")
	t.set("--base-200", mix(text, page, 0.04))
	t.set("--base-300", mix(text, page, 0.12))
	t.set("--secondary", mix(primary, text, 0.7))
	t.set("--accent", mix(primary, t.get("--secondary"), 0.5))
	t.set("--neutral", mix(text, page, 0.85))

	status := oklch{l: 0.62, c: 0.15}
	if page.luminance() < 0.2 {
		status.l = 0.76
	}

	for name, hue := range map[string]float64{"--info": 245, "--success": 155, "--warning": 75, "--error": 25} {
		status.h = hue
		t.set(name, status.color())
	}

	for _, name := range []string{
		"--primary", "--secondary", "--accent", "--neutral",
		"--info", "--success", "--warning", "--error",
	} {
		t.set(name+"-content", extreme(t.get(name)))
	}
}

// deriveSurfaces sets what text stands on: a solid fill, a tint, the stripes of
// tables, the background of code, the cover.
func (t tokens) deriveSurfaces() {
	page, text, primary := t.get("--base-100"), t.get("--base-content"), t.get("--primary")
	t.set("--tint", wash(primary, page, text, 0.12))
	t.set("--fill", primary)
	t.set("--fill-text", readable(t.get("--primary-content"), extreme(t.get("--fill")), textRatio, t.get("--fill")))
	t.set("--rule", mix(text, page, 0.22))
	t.set("--table-stripe", mix(text, page, 0.035))
	t.set("--mark-bg", wash(t.get("--warning"), page, text, 0.35))
	t.set("--code-bg", codeBackground(page, t.get("--base-200"), text))
	t.set("--code-inline-bg", codeBackground(page, mix(text, page, 0.07), text))
	t.set("--cover-bg", primary)
	t.set(
		"--cover-text",
		readable(t.get("--primary-content"), extreme(t.get("--cover-bg")), textRatio, t.get("--cover-bg")),
	)
	t.set("--cover-accent", t.get("--cover-text"))
}

func (t tokens) deriveAlerts() {
	page, text := t.get("--base-100"), t.get("--base-content")
	for name, from := range map[string]string{
		"note": "--info", "tip": "--success", "important": "--primary", "warning": "--warning", "caution": "--error",
	} {
		t.set("--alert-"+name+"-bg", wash(t.get(from), page, text, 0.09))
		t.set("--alert-"+name, readable(t.get(from), text, textRatio, t.get("--alert-"+name+"-bg")))
	}
}

// deriveText sets the colours of text, each readable wherever it can stand.
func (t tokens) deriveText() {
	page, text := t.get("--base-100"), t.get("--base-content")

	quote := page
	if c, ok := t.color("--quote-bg"); ok {
		quote = c
	}
	surfaces := []color{page, quote, t.get("--table-stripe"), t.get("--tint")}
	t.set("--muted", readable(mix(text, page, 0.68), text, textRatio, surfaces...))

	for _, name := range []string{"note", "tip", "important", "warning", "caution"} {
		surfaces = append(surfaces, t.get("--alert-"+name+"-bg"))
	}
	t.set("--link", readable(t.get("--primary"), text, textRatio, surfaces...))
	t.set("--heading", text)

	for _, level := range []string{"--h1", "--h2", "--h3"} {
		t.set(level+"-color", t.get("--heading"))
	}
	t.set("--quote-text", t.get("--muted"))

	head := page
	if c, ok := t.color("--table-head-bg"); ok {
		head = c
	}
	t.set("--table-head-text", readable(t.get("--heading"), extreme(head), textRatio, head))
}

// deriveCode sets the colours of highlighted code.
func (t tokens) deriveCode() {
	background := t.get("--code-bg")

	text := t.get("--base-content")
	if contrast(text, background) < 7 && contrast(text, t.get("--base-100")) > contrast(text, background) {
		text = mix(extreme(background), background, 0.88) // a dark block on a light page, or the reverse
	}
	t.set("--code-text", readable(text, extreme(background), textRatio, background))

	text = t.get("--code-text")
	for name, from := range map[string]string{
		"keyword": "--primary", "string": "--success", "number": "--warning", "function": "--info",
		"type": "--accent", "name": "--secondary", "deleted": "--error",
	} {
		t.set("--code-"+name, readable(t.get(from), text, textRatio, background))
	}
	t.set("--code-added-bg", wash(t.get("--alert-tip"), background, text, 0.13))
	t.set("--code-removed-bg", wash(t.get("--alert-caution"), background, text, 0.13))
	t.set("--code-comment", readable(mix(text, background, 0.62), text, textRatio, background))
}

// deriveType sets fonts and measures.
func (t tokens) deriveType() {
	leading := "1.5"
	if t.get("--base-100").luminance() < 0.2 {
		leading = "1.56" // light text on dark spreads, and wants more air
	}

	for _, d := range []struct{ name, value string }{
		{"--font-body", `Inter, "Noto Sans", "Helvetica Neue", sans-serif`},
		{"--font-heading", t["--font-body"]},
		{"--font-mono", `"JetBrains Mono", "DejaVu Sans Mono", Menlo, monospace`},
		{"--text-size", "10.6875pt"},
		{"--leading", leading},
		{"--scale", "1.25"},
		{"--radius", "3pt"},
	} {
		t[d.name] = cmp.Or(t[d.name], d.value, t["--font-body"])
	}
}

// wash lays share of a colour over the page: less of it where text would not
// be readable, none at worst.
func wash(c, page, text color, share float64) color {
	for ; share > 0.01; share -= 0.03 {
		if x := mix(c, page, share); contrast(text, x) >= textRatio {
			return x
		}
	}

	return page
}

// codeBackground is base-200 where it shows and text stays readable on it.
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

// extreme is black or white, whichever reads better on a background.
func extreme(background color) color {
	if contrast(black, background) > contrast(white, background) {
		return black
	}

	return white
}

// rule writes the tokens as a :root rule. Values were cut out of a sanitised
// stylesheet, so none can end the rule.
func (t tokens) rule(scheme string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ":root{color-scheme:%s;", scheme)

	for _, name := range slices.Sorted(maps.Keys(t)) {
		switch name {
		case "--label",
			"--description",
			"--tags",
			"--folio-text",
			"--page-margins",
			"--setting": // for us, not for the browser
		default:
			fmt.Fprintf(&b, "%s:%s;", name, t[name])
		}
	}
	b.WriteString("}\n")

	return b.String()
}
