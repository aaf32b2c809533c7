package themes

import (
	"maps"
	"slices"
	"strings"
)

// inkTokens returns the tokens of a theme for white paper. The palette stays for lines and small marks. Backgrounds of
// text become white or a tint. Text whose colour was chosen for another background gets a derived colour.
func inkTokens(full tokens) tokens {
	own := maps.Clone(full)

	expanded := expand(full)
	for name := range expanded {
		// Keep the palette, values that are not colours, and colours that derive computes for white paper.
		_, isColor := expanded.color(name)
		if slices.Contains(colorNames(), name[2:]) || !isColor && expanded[name] != "transparent" ||
			isDerivedColor(expanded[name]) {
			continue
		}
		own[name] = "" // derive or setInkDefaults sets it
	}
	own["--base-200"], own["--base-300"] = "", ""

	own["--base-100"] = "#ffffff"
	if c, ok := full.color("--base-content"); !ok || contrast(c, white) < 7 {
		own["--base-content"] = "#1c1c1e"
	}
	own["--fill"], own["--fill-text"] = "var(--tint)", "var(--base-content)"
	own["--cover-bg"], own["--cover-text"] = "var(--base-100)", "var(--base-content)"
	own["--cover-accent"] = "var(--primary)"

	return own
}

// isDerivedColor reports whether a value refers to a token that derive sets by the colour of the page.
func isDerivedColor(value string) bool {
	switch strings.TrimSuffix(strings.TrimPrefix(value, "var("), ")") {
	case "--base-100",
		"--base-200",
		"--base-300",
		"--base-content",
		"--fill",
		"--fill-text",
		"--tint",
		"--rule",
		"--muted",
		"--link",
		"--heading":
		return true
	}

	return false
}

// setInkDefaults sets the empty tokens that derive has not set: backgrounds become transparent, and others get the
// colour of headings.
func (t tokens) setInkDefaults() {
	for name, value := range t {
		switch {
		case value != "":
		case strings.HasSuffix(name, "-bg"):
			t[name] = "transparent"
		default:
			t[name] = "var(--heading)"
		}
	}
}
