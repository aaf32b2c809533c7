package cite

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

// dataZip has styles and locales of the CSL project as published. Each file names its authors and licence.
//
//go:embed data.zip
var dataZip []byte

// fallbackLang is the locale for terms that other locales lack. See "Locale Fallback".
const fallbackLang = "en-US"

// Library has the built-in styles and locales. It reads each at its first use and keeps it. It is safe for
// concurrent use.
type Library struct {
	// mu guards the maps, also while a file is read and parsed.
	mu      sync.Mutex
	styles  map[string]*Style
	locales map[string]*node
	// locators has the words for the kinds of places in a work, by locale.
	locators map[string][]locatorWord
}

// New returns a Library that has not read any style or locale yet.
func New() *Library {
	return &Library{styles: map[string]*Style{}, locales: map[string]*node{}, locators: map[string][]locatorWord{}}
}

// shortNames maps the common names of styles to those of the CSL project.
func shortNames() map[string]string {
	return map[string]string{
		"vancouver":     "nlm-citation-sequence",
		"harvard":       "harvard-cite-them-right",
		"mla":           "modern-language-association",
		"ama":           "american-medical-association",
		"chicago":       "chicago-author-date",
		"chicago-notes": "chicago-notes-bibliography",
		"acm":           "association-for-computing-machinery",
		"acs":           "american-chemical-society",
		"springer":      "springer-basic-author-date",
	}
}

// StyleNames returns the names of the built-in styles and their short names, sorted.
func StyleNames() []string {
	names := slices.Collect(maps.Keys(shortNames()))

	for name := range archive() {
		if style, ok := strings.CutSuffix(name, ".csl"); ok {
			names = append(names, strings.TrimPrefix(style, "styles/"))
		}
	}
	slices.Sort(names)

	return names
}

// Style returns the built-in style of a name, nil for an unknown name.
func (l *Library) Style(name string) *Style {
	if full, ok := shortNames()[name]; ok {
		name = full
	}
	l.mu.Lock()
	defer l.mu.Unlock()

	if s, ok := l.styles[name]; ok {
		return s
	}

	src, err := readFile("styles/" + name + ".csl")
	if err != nil {
		return nil
	}

	s, err := ParseStyle(src)
	if err != nil {
		return nil
	}
	l.styles[name] = s

	return s
}

// archive returns the files of dataZip by their names.
var archive = sync.OnceValue(func() map[string]*zip.File {
	files := map[string]*zip.File{}

	if z, err := zip.NewReader(bytes.NewReader(dataZip), int64(len(dataZip))); err == nil {
		for _, f := range z.File {
			files[f.Name] = f
		}
	}

	return files
})

// readFile returns a file of dataZip.
func readFile(name string) ([]byte, error) {
	f := archive()[name]
	if f == nil {
		return nil, errors.New("there is no " + name)
	}

	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	src, err := io.ReadAll(io.LimitReader(r, maxStyle+1))

	return src, errors.Join(err, r.Close())
}

// localeNode returns the root element of a locale file, nil if there is no such file.
func (l *Library) localeNode(lang string) *node {
	l.mu.Lock()
	defer l.mu.Unlock()

	if n, ok := l.locales[lang]; ok {
		return n
	}

	var n *node
	if src, err := readFile("locales/locales-" + lang + ".xml"); err == nil {
		n, _ = parseXML(src)
	}
	l.locales[lang] = n

	return n
}

// localeName returns the name of the locale file for a language (BCP 47), such as "de-AT". It falls back to
// another region of the language, then to fallbackLang.
func localeName(lang string) string {
	tag, err := language.Parse(lang)
	if err != nil {
		return fallbackLang
	}
	base, _ := tag.Base()
	region, exact := tag.Region()
	main := map[string]string{
		"en": "US",
		"de": "DE",
		"fr": "FR",
		"es": "ES",
		"pt": "PT",
		"zh": "CN",
		"no": "NO",
		"sr": "RS",
	}

	candidates := []string{fmt.Sprintf("%s-%s", base, region), base.String()}
	// A language without a region has a main one: "pt" is Portugal here, not Brazil as in the Unicode data.
	if exact != language.Exact && main[base.String()] != "" {
		candidates = slices.Insert(candidates, 0, base.String()+"-"+main[base.String()])
	}

	if script, _ := tag.Script(); base.String() == "zh" && script.String() == "Hant" {
		candidates = []string{"zh-TW"}
	}
	files := archive()

	switch base.String() {
	case "no":
		candidates = append(candidates, "nb-NO")
	case "sr":
		candidates = []string{"sr-Cyrl-RS"}
	}

	for _, name := range candidates {
		if files["locales/locales-"+name+".xml"] != nil {
			return name
		}
	}

	for _, name := range slices.Sorted(maps.Keys(files)) {
		if lang, ok := strings.CutPrefix(name, "locales/locales-"); ok && strings.HasPrefix(lang, base.String()+"-") {
			return strings.TrimSuffix(lang, ".xml")
		}
	}

	return fallbackLang
}

// term is a word of a locale in singular and plural, with its grammatical gender. See "Terms".
type term struct{ single, multiple, gender string }

// locale has the terms, dates and options for one style in one language. It is merged from the fallback, the
// locale file of the language and the locale elements of the style. See "Locale Fallback".
type locale struct {
	lang       string           // the name of the locale file
	terms      map[string]term  // by termKey
	dates      map[string]*node // the date formats, by form
	closeQuote string           // the outer closing quotation mark, "" if the locale has none
	// punctuationInQuote moves full stops and commas before a closing quotation mark. See "Localized
	// Options".
	punctuationInQuote bool
	// firstDayOnly reports whether only the first day of a month is written as an ordinal.
	firstDayOnly bool
	collator     *collate.Collator
	// ordinals has the keys of the ordinal terms. A locale that defines any replaces all of them.
	ordinals []string
}

// locale returns the locale for a style in a language (BCP 47).
func (l *Library) locale(s *Style, lang string) *locale {
	if s.lang != "" {
		lang = s.lang
	}

	if lang == "" {
		lang = fallbackLang
	}
	name := localeName(lang)

	tag, err := language.Parse(name)
	if err != nil {
		tag = language.English
	}
	loc := &locale{
		lang:     name,
		terms:    map[string]term{},
		dates:    map[string]*node{},
		collator: collate.New(tag, collate.Loose, collate.Numeric),
	}

	// Add the most general locale first: later terms replace earlier ones.
	loc.add(l.localeNode(fallbackLang))
	loc.add(l.localeNode(name))

	base, _, _ := strings.Cut(name, "-")
	for _, form := range []string{"", base, name} {
		for _, n := range s.locales {
			if n.attr["lang"] == form {
				loc.add(n)
			}
		}
	}
	loc.closeQuote = loc.term("close-quote", "", false)

	return loc
}

// add merges a locale element, whose terms replace those of the same key.
func (l *locale) add(n *node) {
	if n == nil {
		return
	}

	for _, k := range n.children {
		switch k.name {
		case "style-options":
			if v, ok := k.attr["punctuation-in-quote"]; ok {
				l.punctuationInQuote = v == "true"
			}

			if v, ok := k.attr["limit-day-ordinals-to-day-1"]; ok {
				l.firstDayOnly = v == "true"
			}
		case "date":
			l.dates[k.attr["form"]] = k
		case "terms":
			// "Ordinal Suffixes": a locale with the term "ordinal" replaces all ordinals of its fallbacks.
			if slices.ContainsFunc(k.children, func(t *node) bool { return t.attr["name"] == "ordinal" }) {
				for _, key := range l.ordinals {
					delete(l.terms, key)
				}
				l.ordinals = nil
			}

			for _, t := range k.children {
				value := term{single: t.text, gender: t.attr["gender"]}
				if one := t.child("single"); one != nil {
					value.single = one.text
				}

				if value.multiple = value.single; t.child("multiple") != nil {
					value.multiple = t.child("multiple").text
				}

				key := termKey(t.attr["name"], t.attr["form"])
				if gender := t.attr["gender-form"]; gender != "" {
					key += "/" + gender
				}

				l.terms[key] = value
				if strings.HasPrefix(key, "ordinal") {
					l.ordinals = append(l.ordinals, key)
				}
			}
		}
	}
}

// termKey returns the key of a term in locale.terms.
func termKey(name, form string) string {
	if form == "long" {
		form = ""
	}

	return name + "/" + form
}

// term returns a term in a form: "", "short", "verb", "verb-short" or "symbol". A term without this form falls
// back to another one: verb-short to verb, symbol to short, and these to the long form.
func (l *locale) term(name, form string, plural bool) string {
	for {
		if t, ok := l.terms[termKey(name, form)]; ok {
			if plural {
				return t.multiple
			}

			return t.single
		}

		switch form {
		case "verb-short":
			form = "verb"
		case "symbol":
			form = "short"
		case "verb", "short":
			form = ""
		default:
			return ""
		}
	}
}

// compare compares texts in the order of the language. It ignores case and accents, and compares numbers by value. It
// must not be called concurrently: the collator has a buffer.
func (l *locale) compare(a, b string) int { return l.collator.CompareString(a, b) }
