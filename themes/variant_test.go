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
		t.Errorf("page colour %s, want #fffdea; heading case %q, want none", got, calm.Token("--heading-case"))
	}

	page := themes.NamesIn("<h1>x</h1><h2>y</h2>")
	css := calm.Fit(page, themes.ParseStylesheet("h1{a:b}"), nil)

	if strings.Contains(css, "clip-path") {
		t.Errorf("got %s, want none of the theme's own rules", css)
	}

	if !strings.Contains(css, "h1{a:b}") {
		t.Errorf("got %s, want the rule of h1", css)
	}
}
