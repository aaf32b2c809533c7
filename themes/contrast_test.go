package themes

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pairs are the colours of text a document can show, with the backgrounds each
// can stand on. A background that a theme does not set is the page.
func pairs() map[string][]string {
	p := map[string][]string{
		"--base-content": {
			"--base-100",
			"--table-stripe",
			"--tint",
			"--code-inline-bg",
			"--mark-bg",
			"--alert-note-bg",
			"--alert-tip-bg",
			"--alert-important-bg",
			"--alert-warning-bg",
			"--alert-caution-bg",
		},
		"--link": {
			"--base-100",
			"--table-stripe",
			"--tint",
			"--quote-bg",
			"--alert-note-bg",
			"--alert-tip-bg",
			"--alert-important-bg",
			"--alert-warning-bg",
			"--alert-caution-bg",
		},
		// Captions, header and footer, page numbers in the contents, struck text.
		"--muted": {
			"--base-100",
			"--table-stripe",
			"--tint",
			"--quote-bg",
			"--alert-note-bg",
			"--alert-tip-bg",
			"--alert-important-bg",
			"--alert-warning-bg",
			"--alert-caution-bg",
		},
		"--heading": {
			"--base-100",
		},
		"--h1-color":        {"--base-100"},
		"--h2-color":        {"--h2-bg"},
		"--h3-color":        {"--base-100"},
		"--quote-text":      {"--quote-bg"},
		"--table-head-text": {"--table-head-bg"},
		"--fill-text":       {"--fill"},
		"--cover-text":      {"--cover-bg"},
		"--code-text":       {"--code-bg", "--code-added-bg", "--code-removed-bg"},
		"--alert-note": {
			"--alert-note-bg",
		},
		"--alert-tip":       {"--alert-tip-bg"},
		"--alert-important": {"--alert-important-bg"},
		"--alert-warning":   {"--alert-warning-bg"},
		"--alert-caution":   {"--alert-caution-bg"},
	}
	for _, token := range []string{"keyword", "string", "number", "function", "type", "name", "deleted", "comment"} {
		p["--code-"+token] = []string{"--code-bg"}
	}

	return p
}

// checkAA reports every pair of a theme below WCAG AA.
func checkAA(t *testing.T, theme Theme) {
	t.Helper()

	for front, backs := range pairs() {
		for _, back := range backs {
			f, okF := theme.all.color(front)

			b, okB := theme.all.color(back)
			if value := theme.all[back]; value == "" || value == "transparent" {
				b, okB = theme.all.color("--base-100")
			}

			if !okF || !okB {
				t.Errorf(
					"%s: %s=%q on %s=%q are not colours",
					theme.Name,
					front,
					theme.Token(front),
					back,
					theme.Token(back),
				)
			} else if ratio := contrast(f, b); ratio < 4.5 {
				t.Errorf(
					"%s (%s): %s %s on %s %s is %.2f",
					theme.Name,
					theme.Colors["base_100"],
					front,
					f.hex(),
					back,
					b.hex(),
					ratio,
				)
			}
		}
	}
}

// Every pair of text and background a document can show, in every theme and
// its ink-saving variant, meets WCAG AA.
func TestEveryThemeMeetsWCAGAA(t *testing.T) {
	t.Parallel()

	c := Open(Options{})
	if n := len(c.List()); n != 35 {
		t.Errorf("%d themes, want 35", n)
	}

	for _, theme := range c.List() {
		checkAA(t, theme)
		checkAA(t, theme.InkSaver())
	}
}

// Any three colours make a readable theme with any styles. Only a page whose own text is unreadable stays as its
// author wants it. Each triple has another choice of styles.
func TestThreeColoursAreEnoughForAReadableTheme(t *testing.T) {
	t.Parallel()
	colors := []string{"#ffffff", "#fff25e", "#808080", "#1a368b", "#000000"}
	all, n := styles(), 0
	parts := slices.Sorted(maps.Keys(all))

	for _, page := range colors {
		t.Run(page, func(t *testing.T) {
			for _, text := range colors {
				t.Run(text, func(t *testing.T) {
					for _, primary := range []string{"#ff42f4", "#fff25e", "#1a368b"} {
						css := fmt.Sprintf("--base-100:%s;--base-content:%s;--primary:%s;", page, text, primary)

						for i, part := range parts {
							choices := all[part]
							css += part + ":" + choices[(n/(i+1))%len(choices)].name + ";"
						}
						n++

						theme, _, err := parse("mine", ":root{"+css+"}")
						if err != nil {
							t.Fatal(err)
						}

						if theme.Contrast.Text >= textRatio {
							checkAA(t, theme)
						}
						checkAA(t, theme.InkSaver())
					}
				})
			}
		})
	}
}

// Every colour that a stylesheet of ours gives to text is one of the pairs.
func TestEveryColourOfTextIsChecked(t *testing.T) {
	t.Parallel()

	files, err := filepath.Glob("*.css")
	if err != nil {
		t.Fatal(err)
	}

	checked := pairs()
	for _, aside := range []string{
		"--alert",                              // one of the --alert- tokens
		"--bullet-color", "--quote-mark-color", // ornaments
		"--folio-color", "--toc-color", // of the styles: --link, or --fill-text on --fill
		"--change", // the mark of an added or deleted line, which is told by its sign
	} {
		checked[aside] = nil
	}
	given := regexp.MustCompile(`[{;\s]color:\s*([^;}]+)`)

	for _, file := range append(files, "../internal/document/print.css", "../internal/document/paper.css", "../internal/document/syntax.css", "../internal/document/book.css") {
		css, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}

		for _, m := range given.FindAllStringSubmatch(string(css), -1) {
			value := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(m[1]), "!important"))
			name, isToken := strings.CutPrefix(value, "var(")
			name, _, _ = strings.Cut(strings.TrimSuffix(name, ")"), ",")

			if value == "inherit" || value == "currentcolor" {
				continue
			}

			if _, ok := checked[name]; !isToken || !ok {
				t.Errorf("%s: the text colour %s is in none of the pairs", file, value)
			}
		}
	}
}

func TestUnknownStylesAreRefused(t *testing.T) {
	t.Parallel()

	_, _, err := parse("mine", ":root{--base-100:#fff;--base-content:#000;--primary:#00f;--tables:booktab}")
	if err == nil ||
		err.Error() != `--tables is "booktab"; did you mean "booktabs"?; allowed: ruled, booktabs, striped, filled, tinted` {
		t.Errorf("got %v", err)
	}
}

func TestBuiltinThemesAreComplete(t *testing.T) {
	t.Parallel()

	c := Open(Options{})
	for _, theme := range c.List() {
		if theme.Label == "" || theme.Description == "" || len(theme.Tags) < 3 || theme.Fonts.Body == "" ||
			theme.Fonts.Heading == "" ||
			theme.Fonts.Mono == "" ||
			theme.Custom {
			t.Errorf("%s is incomplete: %+v", theme.Name, theme)
		}

		if want := theme.own["color-scheme"]; want != "" && want != theme.Scheme {
			t.Errorf("%s: scheme is %s", theme.Name, theme.Scheme)
		}

		if !strings.Contains(theme.css, "color-scheme: "+theme.Scheme) {
			t.Errorf("%s says another scheme than %s", theme.Name, theme.Scheme)
		}

		for _, name := range colorNames() {
			if theme.own["--"+name] == "" {
				t.Errorf("%s does not set --%s", theme.Name, name)
			}
		}
	}
}

func TestInkSaverIsDarkOnWhite(t *testing.T) {
	t.Parallel()

	c := Open(Options{})
	for _, theme := range c.List() {
		ink := theme.InkSaver()
		if ink.Scheme != "light" || ink.Colors["base_100"] != "#ffffff" || ink.Contrast.Text < 7 ||
			ink.Token("--cover-bg") != "#ffffff" {
			t.Errorf("%s: %s on %s", theme.Name, ink.Colors["base_content"], ink.Colors["base_100"])
		}

		if theme.Token("--base-100") == "#ffffff" && theme.Colors["base_100"] != "#ffffff" {
			t.Errorf("%s was changed by its ink-saving variant", theme.Name)
		}
	}
}

// Tokens are written into a rule of our own, where a hostile value must not
// reach past its end.
func TestTokensCannotLeaveTheirRule(t *testing.T) {
	t.Parallel()

	const needed = ":root{--primary:#123;--base-100:#fff;--base-content:#000;"
	for i, css := range []string{
		needed + "--x:(;}", needed + "--x:[a;--y:b}", needed + `--x:a\ ;--y:b}`, needed + `--x:a\`, needed + "--x:\"a\n;--y:b}",
		needed + "--x:{a:b};--y:c}", needed + "--x:a)b;--y:c}", needed + "--x:/*;--y:c}", needed + "--x:url(a;--y:c}",
	} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			clean, _ := FilterCSS(css)

			theme, _, err := parse("x", clean)
			if err != nil {
				return
			}

			again := rootTokens(theme.Tokens())
			for name, value := range theme.all {
				if !strings.HasPrefix(name, "--label") && again[name] != value {
					t.Errorf("%q: %s is %q, but written as %q", css, name, value, again[name])
				}
			}
		})
	}
}
