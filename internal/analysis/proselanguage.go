package analysis

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
	named := func(tags ...string) string {
		if tag := a.byWords(tokens, tags...); tag != "und" {
			return tag
		}
		return tags[0]
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
		return named("ar", "fa", "ur")
	case most(a.devanagari):
		return named("hi", "mr")
	case most(a.cyrillic):
		return named("ru", "uk", "bg", "sr", "be")
	}
	return ""
}
