package analysis

import "unicode"

// LanguageOf names the language, as a BCP 47 tag, by which running text is to be
// set: that of the script most of its letters are in, distinguished from others of the
// script by its words and letters. It is "" for Latin script, where a wrong
// guess does more harm than none. A few words are enough.
func LanguageOf(prose string) string {
	tokens := appendTokens(nil, prose)
	a := countLetters(tokens)
	ideographs, hangul := a.han+a.kana, a.single[hangulIndex]
	// One of these counts as much as three letters.
	total := a.total + 2*ideographs + 2*hangul
	most := func(n int) bool { return 2*n > total }
	named := func(script *unicode.RangeTable) string {
		if tag := identify(tokens, script); tag != "und" {
			return tag
		}

		return sharedScripts[script][0]
	}

	for i, n := range a.single {
		if i == hangulIndex {
			n *= 3
		}

		if most(n) {
			return singleScripts[i].tag
		}
	}

	switch {
	case most(3*ideographs) && a.kana*10 > a.han:
		return "ja"
	case most(3 * ideographs):
		return "zh"
	case most(a.arabic):
		return named(unicode.Arabic)
	case most(a.devanagari):
		return named(unicode.Devanagari)
	case most(a.cyrillic):
		return named(unicode.Cyrillic)
	}

	return ""
}
