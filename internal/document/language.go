package document

import (
	"cmp"

	"presswork/internal/analysis"
)

// guessLanguage names the language that a text is set in: it decides the shapes
// of Han characters, the direction of the page, quotes and spaces. Latin text is
// taken for English.
func guessLanguage(prose string) string { return cmp.Or(analysis.LanguageOf(prose), "en") }
