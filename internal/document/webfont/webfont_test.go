package webfont_test

import (
	"strings"
	"testing"

	"presswork/internal/document/webfont"
	"presswork/themes"
)

func TestFontFacesFollowTheElementsAndCharactersOfThePage(t *testing.T) {
	t.Parallel()

	theme, err := themes.Open(themes.Options{}).Get("light")
	if err != nil {
		t.Fatal(err)
	}

	rules := func(body string) string {
		return webfont.CSS(theme, themes.NamesIn(body), body, false)
	}
	plain := rules("<p>text</p>")

	for name, c := range map[string]struct{ body, adds string }{
		"bold":    {"<p><strong>text</strong></p>", "font-weight:700"},
		"italic":  {"<p><em>text</em></p>", "font-style:italic"},
		"code":    {"<p><code>text</code></p>", "Mono"},
		"formula": {"<p><math>x</math></p>", "STIX Two Math"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := rules(c.body); !strings.Contains(got, c.adds) || strings.Contains(plain, c.adds) {
				t.Errorf("want %s only in the rules of this body, got %.300s", c.adds, got)
			}
		})
	}

	if more := rules("<p>text ŁĄŻ Ωμέγα</p>"); len(more) <= len(plain) {
		t.Errorf("with Greek and Polish characters the rules have %d bytes, want more than %d", len(more), len(plain))
	}
}
