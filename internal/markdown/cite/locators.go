package cite

import (
	"strings"

	"presswork/internal/lazyregexp"
)

// locatorTerms returns the kinds of places in a work. See "Locators".
func locatorTerms() []string {
	return strings.Fields(
		"page chapter section paragraph volume figure line note number part verse column book folio issue opus sub-verbo",
	)
}

// placeForm matches the places of a locator: 3, iv, 12a, 3–5, or "3, 7 and 9".
var placeForm = lazyregexp.New(
	`^(?:[§¶]*\s*)?(?:[ivxlcdmIVXLCDM]+\b|\pL{0,2}\d[\pL\d:./]*)` +
		`(?:\s*(?:--?-?|[–—,&]|\band\b)\s*(?:[ivxlcdmIVXLCDM]+\b|\pL{0,2}\d[\pL\d:./]*|ff\b\.?|f\b\.?))*` +
		`(?:\s?ff?\.?\b)?`,
)

// Locator reads the place at the start of the suffix of a citation: for ", pp. 3–4 and more" it returns "page", "3–4"
// and " and more". The word for the kind of place may be in the language lang (BCP 47) or in English. Braces enclose a
// place in any other form: ", {appendix B}". Without a place, rest is the suffix.
func (l *Library) Locator(suffix, lang string) (label, locator, rest string) {
	text := strings.TrimLeft(suffix, " ,\u00a0")
	explicit := false // whether braces enclose the place

	if strings.HasPrefix(text, "{") {
		end := strings.IndexByte(text, '}')
		if end < 0 {
			return "", "", suffix
		}
		rest, text, explicit = text[end+1:], strings.TrimSpace(text[1:end]), true
	}
	word, after := l.locatorWord(text, lang)

	place := strings.TrimLeft(text[after:], " \u00a0")
	if explicit {
		return word, place, rest
	}

	m := placeForm().FindString(place)
	if m == "" || word == "" && !strings.ContainsAny(m[:1], "0123456789") {
		return "", "", suffix
	}

	if word == "" {
		word = "page"
	}

	return word, strings.NewReplacer("---", "–", "--", "–").Replace(m), place[len(m):]
}

// locatorWord returns the kind of place that a text begins with and the length of its word, "" for none.
func (l *Library) locatorWord(text, lang string) (name string, size int) {
	switch {
	case strings.HasPrefix(text, "§"):
		return "section", len(text) - len(strings.TrimLeft(text, "§"))
	case strings.HasPrefix(text, "¶"):
		return "paragraph", len(text) - len(strings.TrimLeft(text, "¶"))
	}

	for _, file := range []string{localeName(lang), fallbackLang} {
		for _, w := range l.locatorWords(file) {
			if len(w.word) > size && len(text) > len(w.word) && strings.EqualFold(text[:len(w.word)], w.word) &&
				!isLetter(text[len(w.word)]) {
				name, size = w.name, len(w.word)
			}
		}

		if name != "" {
			return name, size
		}
	}

	return "", 0
}

// locatorWord is a word for a kind of place, such as "pp." for "page".
type locatorWord struct{ word, name string }

// locatorWords returns the words of a locale file for the kinds of places.
func (l *Library) locatorWords(file string) (list []locatorWord) {
	words := l.localeNode(file)
	l.mu.Lock()
	defer l.mu.Unlock()

	if known, ok := l.locators[file]; ok {
		return known
	}
	loc := &locale{terms: map[string]term{}, dates: map[string]*node{}}
	loc.add(words)

	for _, name := range locatorTerms() {
		for _, form := range []string{"", "short"} {
			t := loc.terms[termKey(name, form)]
			for _, word := range []string{t.single, t.multiple} {
				if word != "" {
					list = append(list, locatorWord{word, name})
				}
			}
		}
	}
	l.locators[file] = list

	return list
}

// isLetter reports whether a byte is an ASCII letter or part of another character.
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 }
