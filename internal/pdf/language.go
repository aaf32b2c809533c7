package pdf

import (
	"strings"
	"unicode"
)

// guessLanguage names a language by the script of the text: it decides the
// shapes of Han characters and the direction of the page. Latin text is taken
// for English.
func guessLanguage(text []byte) string {
	const sample = 20_000
	scripts := []struct {
		lang  string
		table *unicode.RangeTable
	}{
		{"ja", unicode.Hiragana}, {"ja", unicode.Katakana}, {"ko", unicode.Hangul}, {"zh", unicode.Han}, {"ar", unicode.Arabic},
		{"he", unicode.Hebrew}, {"th", unicode.Thai}, {"hi", unicode.Devanagari}, {"ru", unicode.Cyrillic}, {"el", unicode.Greek},
	}
	counts, letters := map[string]int{}, 0
	for _, r := range string(text[:min(len(text), sample)]) {
		if !unicode.IsLetter(r) {
			continue
		}
		letters++
		if r < 0x370 {
			continue
		}
		for _, s := range scripts {
			if unicode.Is(s.table, r) {
				counts[s.lang]++
				break
			}
		}
	}
	// Japanese is mostly Han; a tenth of kana tells it.
	if kana := counts["ja"]; kana*10 > counts["zh"] {
		counts["ja"] += counts["zh"]
		counts["zh"] = 0
	}
	for lang, n := range counts {
		if n*2 > letters {
			return lang
		}
	}
	return "en"
}

// direction is the writing direction of a language.
func direction(lang string) string {
	base, _, _ := strings.Cut(strings.ToLower(lang), "-")
	switch base {
	case "ar", "he", "fa", "ur", "yi", "ps", "sd", "ug", "dv", "ckb":
		return "rtl"
	}
	return "ltr"
}
