package fonts

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// firstScript is the first character of the scripts of scriptFonts. In UTF-8 it begins with the byte firstLead.
// ForScripts skips smaller bytes without decoding them, because most texts have Latin letters only.
const (
	firstScript = 0x530
	firstLead   = 0xd4
)

// scriptFonts returns the families of the system for scripts that no embedded family has.
func scriptFonts() []struct {
	table  *unicode.RangeTable
	family string
} {
	return []struct {
		table  *unicode.RangeTable
		family string
	}{
		{unicode.Arabic, "Noto Sans Arabic"},
		{unicode.Hebrew, "Noto Sans Hebrew"},
		{unicode.Thai, "Noto Sans Thai"},
		{unicode.Lao, "Noto Sans Lao"},
		{unicode.Khmer, "Noto Sans Khmer"},
		{unicode.Myanmar, "Noto Sans Myanmar"},
		{unicode.Devanagari, "Noto Sans Devanagari"},
		{unicode.Bengali, "Noto Sans Bengali"},
		{unicode.Gurmukhi, "Noto Sans Gurmukhi"},
		{unicode.Gujarati, "Noto Sans Gujarati"},
		{unicode.Oriya, "Noto Sans Oriya"},
		{unicode.Tamil, "Noto Sans Tamil"},
		{unicode.Telugu, "Noto Sans Telugu"},
		{unicode.Kannada, "Noto Sans Kannada"},
		{unicode.Malayalam, "Noto Sans Malayalam"},
		{unicode.Sinhala, "Noto Sans Sinhala"},
		{unicode.Tibetan, "Noto Serif Tibetan"},
		{unicode.Georgian, "Noto Sans Georgian"},
		{unicode.Armenian, "Noto Sans Armenian"},
		{unicode.Ethiopic, "Noto Sans Ethiopic"},
		{unicode.Han, cjk},
		{unicode.Hiragana, cjk},
		{unicode.Katakana, cjk},
		{unicode.Hangul, cjk},
	}
}

// cjk stands for the family of the language among those for Chinese, Japanese and Korean.
const cjk = "Noto Sans CJK SC"

// ForScripts returns the families of the system that have the scripts of texts in the shapes of lang (BCP 47). A
// style sheet that names them gets their bold faces. A fallback that it does not name is always regular, and
// Chromium paints it thicker.
func ForScripts(lang string, texts ...string) []string {
	var families []string

	all := scriptFonts()
	last := -1 // the script of the last letter, which is tried first because letters of a script come together

	for _, text := range texts {
		for i := 0; i < len(text); {
			if text[i] < firstLead {
				i++
				continue
			}
			r, size := utf8.DecodeRuneInString(text[i:])
			i += size

			if r < firstScript || last >= 0 && unicode.Is(all[last].table, r) {
				continue
			}

			for at, s := range all {
				if !unicode.Is(s.table, r) {
					continue
				}

				if last = at; !slices.Contains(families, s.family) {
					families = append(families, s.family)
				}

				break
			}
		}
	}

	for i, family := range families {
		families[i] = shaped(family, lang)
	}

	return families
}

// shaped returns the family with the shapes of a language.
func shaped(family, lang string) string {
	if family != cjk {
		return family
	}
	lang = strings.ToLower(lang)

	for _, r := range regional() {
		if lang == r.language || strings.HasPrefix(lang, r.language+"-") {
			return r.family
		}
	}

	return family
}
