package document

import (
	"strings"

	"presswork/internal/chromium/fonts"
	"presswork/themes"
)

// withScripts returns a theme whose typefaces are, after the first, those of the system for the scripts of texts.
func withScripts(t themes.Theme, lang string, texts ...string) themes.Theme {
	families := fonts.ForScripts(lang, texts...)
	if len(families) == 0 {
		return t
	}
	more := `"` + strings.Join(families, `", "`) + `"`

	changes := map[string]string{}

	for _, name := range []string{"--font-body", "--font-heading", "--font-cover", "--quote-font", "--table-head-font"} {
		// The next ones, such as DejaVu Sans Mono, have some of the letters.
		if first, rest, found := strings.Cut(t.Token(name), ","); found {
			changes[name] = first + ", " + more + "," + rest
		}
	}

	return t.With(changes)
}
