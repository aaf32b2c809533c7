package themes

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// tokens are the custom properties of a theme by name, "--primary" say.
type tokens map[string]string

// colorNames are the colours of the catalogue, in daisyUI's order.
func colorNames() []string {
	return []string{"base-100", "base-200", "base-300", "base-content", "primary", "primary-content", "secondary", "secondary-content",
		"accent", "accent-content", "neutral", "neutral-content", "info", "info-content", "success", "success-content",
		"warning", "warning-content", "error", "error-content"}
}

// textRatio is WCAG AA with a hair of reserve for renderers that round.
const textRatio = 4.6

// derive completes what a theme sets to everything a document needs. The three
// colours it starts from have been checked.
func derive(own tokens) tokens {
	t := maps.Clone(own)
	get := func(name string) color {
		c, _ := parseColor(t[name])
		return c
	}
	// set gives a colour the theme has not set, or not in a form we can read.
	set := func(name string, c color) {
		if _, ok := parseColor(t[name]); !ok {
			t[name] = c.hex()
		}
	}
	page, text, primary := get("--base-100"), get("--base-content"), get("--primary")
	set("--base-200", mix(text, page, 0.04))
	set("--base-300", mix(text, page, 0.12))
	set("--secondary", mix(primary, text, 0.7))
	set("--accent", mix(primary, get("--secondary"), 0.5))
	set("--neutral", mix(text, page, 0.85))
	status := oklch{l: 0.62, c: 0.15}
	if page.luminance() < 0.2 {
		status.l = 0.76
	}
	for name, hue := range map[string]float64{"--info": 245, "--success": 155, "--warning": 75, "--error": 25} {
		status.h = hue
		set(name, status.color())
	}
	for _, name := range []string{"--primary", "--secondary", "--accent", "--neutral", "--info", "--success", "--warning", "--error"} {
		on := white
		if contrast(black, get(name)) > contrast(white, get(name)) {
			on = black
		}
		set(name+"-content", on)
	}

	// What only a document has.
	set("--code-bg", codeBackground(page, get("--base-200"), text))
	set("--rule", mix(text, page, 0.22))
	set("--table-stripe", mix(text, page, 0.035))
	set("--code-inline-bg", codeBackground(page, mix(text, page, 0.07), text))
	codeBG, stripe := get("--code-bg"), get("--table-stripe")
	set("--muted", readable(mix(text, page, 0.68), text, textRatio, page))
	set("--heading", text)
	set("--link", readable(primary, text, textRatio, page, stripe))
	set("--code-text", readable(text, extreme(codeBG), textRatio, codeBG))

	codeText := get("--code-text")
	for name, from := range map[string]string{
		"--code-keyword": "--primary", "--code-string": "--success", "--code-number": "--warning", "--code-function": "--info",
		"--code-type": "--accent", "--code-name": "--secondary", "--code-deleted": "--error",
	} {
		set(name, readable(get(from), codeText, textRatio, codeBG))
	}
	set("--code-comment", readable(mix(codeText, codeBG, 0.62), codeText, textRatio, codeBG))

	for name, from := range map[string]string{
		"note": "--info", "tip": "--success", "important": "--primary", "warning": "--warning", "caution": "--error",
	} {
		tint := mix(get(from), page, 0.09)
		if contrast(text, tint) < textRatio {
			tint = page
		}
		set("--alert-"+name+"-bg", tint)
		set("--alert-"+name, readable(get(from), text, textRatio, get("--alert-"+name+"-bg")))
	}
	highlight := 0.35
	for highlight > 0.05 && contrast(text, mix(get("--warning"), page, highlight)) < textRatio {
		highlight -= 0.05
	}
	set("--mark-bg", mix(get("--warning"), page, highlight))
	set("--cover-bg", get("--primary"))
	set("--cover-text", readable(get("--primary-content"), extreme(get("--cover-bg")), textRatio, get("--cover-bg")))
	for name, value := range map[string]string{
		"--font-body":    `"Noto Sans", "Helvetica Neue", "Liberation Sans", sans-serif`,
		"--font-heading": t["--font-body"],
		"--font-mono":    `"DejaVu Sans Mono", Menlo, "Liberation Mono", monospace`,
		"--radius":       "3pt",
	} {
		if t[name] == "" {
			t[name] = value
		}
	}
	if t["--font-heading"] == "" {
		t["--font-heading"] = t["--font-body"]
	}
	return t
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
		case "--label", "--description", "--tags":
		default:
			fmt.Fprintf(&b, "%s:%s;", name, t[name])
		}
	}
	b.WriteString("}\n")
	return b.String()
}
