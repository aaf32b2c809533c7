package themes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"presswork/internal/input"
)

// style is a named look of a part of a document, such as tables: a short word for several tokens.
type style struct {
	name string
	sets tokens // the tokens that the style stands for
}

// styles returns the styles that each style token may name. The first is the default.
func styles() map[string][]style {
	const (
		dots = `path("M3 0a3 3 0 1 0 0 6a3 3 0 1 0 0-6zM21 0a3 3 0 1 0 0 6a3 3 0 1 0 0-6zM39 0a3 3 0 1 0 0 6a3 3 0 ` +
			`1 0 0-6z")`
		wave = `path("M0 5Q10-5 20 5T40 5T60 5T80 5V7Q70 17 60 7T40 7T20 7T0 7z")`
		// The corners of slides, of opaque colours: pdf.js draws transparent ones black.
		disc     = "radial-gradient(circle at 100% 0, var(--primary) 0 2.2em, var(--base-100) calc(2.2em + .5px))"
		triangle = "linear-gradient(225deg, var(--primary) 1.7em, var(--base-100) calc(1.7em + .5px))"
		tab      = "linear-gradient(var(--primary), var(--primary)) calc(100% - 2.3em) 0 / 2.8em .45em no-repeat"
		ring     = "radial-gradient(circle at 100% 0, var(--base-100) 1.5em, var(--primary) calc(1.5em + .5px) " +
			"2.2em, var(--base-100) calc(2.2em + .5px))"
		target = "radial-gradient(circle at 100% 0, var(--accent) 0 1.2em, var(--primary) calc(1.2em + .5px) " +
			"2.2em, var(--base-100) calc(2.2em + .5px))"
		three = "linear-gradient(var(--primary), var(--primary)) calc(100% - 2.3em) 1.2em / .4em .4em no-repeat, " +
			"linear-gradient(var(--primary), var(--primary)) calc(100% - 3.1em) 1.2em / .4em .4em no-repeat, " +
			"linear-gradient(var(--primary), var(--primary)) calc(100% - 3.9em) 1.2em / .4em .4em no-repeat"
		rule    = "linear-gradient(var(--rule), var(--rule)) "
		colour  = "linear-gradient(var(--primary), var(--primary)) "
		diamond = "polygon(50% 0, 100% 50%, 50% 100%, 0 50%)"
	)

	return map[string][]style{
		"--headings": {
			{
				"ruled",
				tokens{
					"--slide-head-rule": "2.2pt solid var(--primary)",
					"--h1-rule":         "1.5pt solid var(--primary)",
					"--h2-rule":         ".6pt solid var(--rule)",
				},
			},
			{"plain", tokens{"--slide-corner": "var(--slide-shape)"}},
			{"stub", tokens{"--h1-mark": `""`, "--slide-edge": ".5em solid var(--primary)"}},
			{
				"overline",
				tokens{
					"--slide-top": ".45em solid var(--primary)",
					"--h1-over":   "3pt solid var(--primary)",
					"--h1-pad":    ".4em 0",
					"--h2-over":   ".6pt solid var(--rule)",
					"--h2-pad":    ".5em 0",
				},
			},
			{
				"bar",
				tokens{
					"--slide-edge": ".5em solid var(--primary)",
					"--h2-bar":     "3pt solid var(--primary)",
					"--h2-inset":   ".5em",
				},
			},
			{
				"band",
				tokens{
					"--slide-head-bg":   "var(--fill)",
					"--slide-head-text": "var(--fill-text)",
					"--h2-bg":           "var(--fill)",
					"--h2-color":        "var(--fill-text)",
					"--h2-inset":        ".55em",
					"--h2-pad":          ".22em",
				},
			},
			{
				"centered",
				tokens{
					"--slide-align": "center",
					"--slide-frame": "1pt solid var(--rule)",
					"--h1-align":    "center",
					"--h2-align":    "center",
				},
			},
		},
		"--tables": {
			{
				"ruled",
				tokens{"--table-head-rule": "1.1pt solid var(--primary)", "--table-row-rule": ".5pt solid var(--rule)"},
			},
			{
				"booktabs",
				tokens{
					"--table-top":       "1.2pt solid var(--heading)",
					"--table-head-rule": ".6pt solid var(--heading)",
					"--table-bottom":    "1.2pt solid var(--heading)",
				},
			},
			{
				"striped",
				tokens{
					"--table-head-rule": "1.1pt solid var(--primary)",
					"--table-zebra":     "var(--table-stripe)",
					"--table-bottom":    ".6pt solid var(--rule)",
				},
			},
			{
				"filled",
				tokens{
					"--table-head-bg":   "var(--fill)",
					"--table-head-text": "var(--fill-text)",
					"--table-row-rule":  ".5pt solid var(--rule)",
				},
			},
			{
				"tinted",
				tokens{
					"--table-head-bg":   "var(--tint)",
					"--table-head-text": "var(--base-content)",
					"--table-row-rule":  ".5pt solid var(--rule)",
				},
			},
		},
		"--quotes": {
			{"bar", tokens{"--quote-bar": "2.5pt solid var(--primary)"}},
			{
				"mark",
				tokens{"--quote-mark": `"\201c" / ""`, "--quote-pad": ".2em 1em .2em 2.6em", "--quote-slant": "italic"},
			},
			{"panel", tokens{"--quote-bg": "var(--tint)", "--quote-pad": ".8em 1.1em"}},
			{
				"lines",
				tokens{
					"--quote-rule":  ".8pt solid var(--primary)",
					"--quote-pad":   ".8em 1.5em",
					"--quote-align": "center",
					"--quote-slant": "italic",
				},
			},
			{"indent", tokens{"--quote-pad": "0 2.4em", "--quote-slant": "italic"}},
		},
		"--alerts": {
			{"bar", tokens{"--alert-sides": "2.5pt 0", "--alert-radius": "0 var(--radius) var(--radius) 0"}},
			{"box", tokens{"--alert-lines": ".8pt", "--alert-sides": ".8pt"}},
			{"plain", tokens{}},
			{
				"lines",
				tokens{
					"--alert-lines":        "1.4pt .5pt",
					"--alert-pad":          ".5em 0 .55em",
					"--alert-radius":       "0",
					"--alert-note-bg":      "var(--base-100)",
					"--alert-tip-bg":       "var(--base-100)",
					"--alert-important-bg": "var(--base-100)",
					"--alert-warning-bg":   "var(--base-100)",
					"--alert-caution-bg":   "var(--base-100)",
				},
			},
		},
		"--code": {
			{"panel", tokens{}},
			{"outlined", tokens{"--code-border": ".7pt"}},
			{"edge", tokens{"--code-border": "0 0 0 2.5pt", "--code-line": "var(--primary)"}},
			{"lines", tokens{"--code-border": ".8pt 0", "--code-radius": "0"}},
			{"inverse", tokens{"--code-bg": "var(--neutral)"}},
		},
		"--dividers": {
			{"line", tokens{"--slide-shape": disc}},
			{"full", tokens{"--slide-shape": triangle, "--divider-width": "100%", "--divider-height": ".6pt"}},
			{
				"stub",
				tokens{
					"--slide-shape":    tab,
					"--divider-width":  "3.2em",
					"--divider-height": "2pt",
					"--divider-color":  "var(--primary)",
					"--divider-place":  "0 auto",
				},
			},
			{
				"dots",
				tokens{
					"--slide-shape":    three,
					"--divider-width":  "42px",
					"--divider-height": "6px",
					"--divider-color":  "var(--primary)",
					"--divider-shape":  dots,
				},
			},
			{
				"wave",
				tokens{
					"--slide-shape":    ring,
					"--divider-width":  "80px",
					"--divider-height": "12px",
					"--divider-color":  "var(--primary)",
					"--divider-shape":  wave,
				},
			},
			{
				"diamond",
				tokens{
					"--slide-shape":    target,
					"--divider-width":  "9px",
					"--divider-height": "9px",
					"--divider-color":  "var(--primary)",
					"--divider-shape":  diamond,
				},
			},
		},
		// The default header and footer of a page.
		"--folios": {
			{"count", tokens{}},
			{"number", tokens{"--folio-text": `"{page}"`}},
			{"dashes", tokens{"--folio-text": `"– {page} –"`, "--header-style": "italic"}},
			{"dots", tokens{"--folio-text": `"· {page} ·"`, "--folio-size": "9.5pt"}},
			{"brackets", tokens{"--folio-text": `"[{page}]"`, "--folio-align": "end", "--header-align": "start"}},
			{
				"slash",
				tokens{
					"--folio-text":   `"{page} / {total}"`,
					"--folio-align":  "end",
					"--folio-weight": "600",
					"--header-align": "end",
				},
			},
			{"title", tokens{"--folio-text": `"{title}   {page}"`, "--folio-align": "end", "--header-align": "end"}},
			{
				"corner",
				tokens{
					"--folio-text":   `"{page}"`,
					"--folio-align":  "end",
					"--folio-weight": "700",
					"--folio-size":   "10pt",
					"--folio-color":  "var(--link)",
					"--header-align": "end",
				},
			},
			{
				"edge",
				tokens{
					"--folio-text":   `"{page}"`,
					"--folio-align":  "start",
					"--folio-weight": "600",
					"--folio-size":   "9pt",
					"--header-align": "start",
				},
			},
			{
				"rule",
				tokens{
					"--folio-text":   `"{page} / {total}"`,
					"--folio-align":  "end",
					"--folio-art":    rule + "0 32% / 100% .6pt no-repeat content-box",
					"--header-align": "start",
					"--header-art":   rule + "0 68% / 100% .6pt no-repeat content-box",
				},
			},
			{
				"bar",
				tokens{
					"--folio-text":   `"{page}"`,
					"--folio-weight": "600",
					"--folio-art":    colour + "50% 30% / 1.9em 1.8pt no-repeat content-box",
				},
			},
			{
				"flag",
				tokens{
					"--folio-text":   `"{page} "`,
					"--folio-align":  "end",
					"--folio-weight": "700",
					"--folio-color":  "var(--fill-text)",
					"--folio-art": "linear-gradient(var(--fill), var(--fill)) 100% 50% / 3em 2em no-repeat " +
						"content-box",
					"--header-align": "end",
				},
			},
			{
				"capitals",
				tokens{
					"--folio-text":      `"{page}"`,
					"--folio-tracking":  ".12em",
					"--header-caps":     "all-small-caps",
					"--header-tracking": ".1em",
				},
			},
		},
		"--margins": {
			{"normal", tokens{}},
			{"generous", tokens{"--page-margins": "30 37 32 37"}},
			{"compact", tokens{"--page-margins": "22 29 24 29"}},
			{"high", tokens{"--page-margins": "21 33 32 33"}},
			{"low", tokens{"--page-margins": "33 33 22 33"}},
			{"aside", tokens{"--page-margins": "24 25 25 42", "--heading-hang": "11mm"}},
		},
		"--contents": {
			{"dots", tokens{}},
			{"line", tokens{"--toc-leader": ".5pt solid color-mix(in srgb, var(--rule) 60%, transparent)"}},
			{"plain", tokens{"--toc-leader": "none"}},
			{"ruled", tokens{"--toc-leader": "none", "--toc-line": ".6pt solid var(--rule)"}},
			{
				"near",
				tokens{"--toc-leader": "none", "--toc-gap": "0", "--toc-align": "start", "--toc-color": "var(--link)"},
			},
			{
				"front",
				tokens{
					"--toc-leader": "none",
					"--toc-order":  "-1",
					"--toc-align":  "start",
					"--toc-color":  "var(--link)",
				},
			},
		},
	}
}

// checkStyles returns an error, for the author of the theme, if a style token has an unknown word.
func checkStyles(own tokens) error {
	all := styles()
	for _, part := range slices.Sorted(maps.Keys(all)) {
		value, set := own[part]
		if !set {
			continue
		}

		var names []string
		for _, s := range all[part] {
			names = append(names, s.name)
		}

		if !slices.Contains(names, value) {
			return fmt.Errorf("%s is %q%s; allowed: %s",
				part, clip(value), input.DidYouMean(value, names), strings.Join(names, ", "))
		}
	}

	return nil
}

// expand returns the tokens of a theme with the tokens of its styles in place of the style tokens. Tokens that the
// theme itself sets take precedence.
func expand(own tokens) tokens {
	t, all := tokens{}, styles()
	for part, choices := range all {
		chosen := choices[0]
		for _, s := range choices {
			if s.name == own[part] {
				chosen = s
			}
		}
		maps.Copy(t, chosen.sets)
	}

	for name, value := range own {
		if _, isStyle := all[name]; !isStyle {
			t[name] = value
		}
	}

	return t
}
