package document

import (
	"strings"

	"presswork/internal/chromium/fonts"
	"presswork/themes"
)

// withScripts returns a theme with further typefaces for the scripts of texts, such as Arabic or Han. They are system
// fonts, and stand after the first typeface of each list.
func withScripts(t themes.Theme, lang string, texts ...string) themes.Theme {
	families := fonts.ForScripts(lang, texts...)
	if len(families) == 0 {
		return t
	}
	more := `"` + strings.Join(families, `", "`) + `"`

	changes := map[string]string{}

	for _, name := range []string{"--font-body", "--font-heading", "--font-cover", "--quote-font", "--table-head-font"} {
		// The other typefaces of the list, such as DejaVu Sans Mono, have some of the letters, so the new ones go before.
		if first, rest, found := strings.Cut(t.Token(name), ","); found {
			changes[name] = first + ", " + more + "," + rest
		}
	}

	return t.With(changes)
}
