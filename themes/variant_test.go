package themes_test

import (
	"strings"
	"testing"

	"presswork/themes"
)

func TestDensityScalesTheType(t *testing.T) {
	t.Parallel()

	theme, err := open(t, themes.Options{}).Get("acid")
	if err != nil {
		t.Fatal(err)
	}

	for density, want := range map[string][2]string{
		"": {"11pt", "1.5"}, "normal": {"11pt", "1.5"}, "compact": {"9.9pt", "1.41"}, "generous": {"12.1pt", "1.62"},
	} {
		t.Run(density, func(t *testing.T) {
			t.Parallel()

			dense := theme.Dense(density)
			if got := [2]string{dense.Token("--text-size"), dense.Token("--leading")}; got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func TestACalmThemeHasItsColoursOnly(t *testing.T) {
	t.Parallel()

	theme, err := open(t, themes.Options{}).Get("cyberpunk")
	if err != nil {
		t.Fatal(err)
	}
	calm := theme.Calm()

	if got := calm.Token("--base-100"); got != "#fffdea" || calm.Token("--heading-case") != "" {
		t.Errorf("the page is %s, headings have the case %q", got, calm.Token("--heading-case"))
	}

	page := themes.NamesIn("<h1>x</h1><h2>y</h2>")
	if css := calm.Fit(page, themes.ParseStylesheet("h1{a:b}"), nil); strings.Contains(css, "clip-path") ||
		!strings.Contains(css, "h1{a:b}") {
		t.Errorf("the theme's own rules are left: %s", css)
	}
}
