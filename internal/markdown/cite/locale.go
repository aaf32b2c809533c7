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

// The styles and locales of the CSL project, as they are published, with their
// authors and licence in each file.
//
//go:embed data.zip
var dataZip []byte

// fallbackLang is the locale for what others lack.
const fallbackLang = "en-US"

// Library holds the styles and locales of the program, each read when it is first
// asked for. It is safe for concurrent use.
type Library struct {
	mu      sync.Mutex
	styles  map[string]*Style
	locales map[string]*node
	// locators are the words for parts of works, by locale.
	locators map[string][]locatorWord
}

// New makes a Library.
func New() *Library {
	return &Library{styles: map[string]*Style{}, locales: map[string]*node{}, locators: map[string][]locatorWord{}}
}

// shortNames are the styles by the names that people use.
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

// StyleNames lists the styles of the program.
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

// Style returns a style of the program, nil if there is none of that name.
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

// archive lists the files of dataZip.
var archive = sync.OnceValue(func() map[string]*zip.File {
	files := map[string]*zip.File{}

	if archive, err := zip.NewReader(bytes.NewReader(dataZip), int64(len(dataZip))); err == nil {
		for _, f := range archive.File {
			files[f.Name] = f
		}
	}

	return files
})

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

// localeNode is the locale of a language, nil if there is none.
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

// localeName is the name of the file for a language.
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

// term is a word of a locale.
type term struct{ single, multiple, gender string }

// locale is what a style's words are in a language: the style's own, those of the
// language, those of the fallback.
type locale struct {
	lang               string
	terms              map[string]term
	dates              map[string]*node
	closeQuote         string
	punctuationInQuote bool
	// firstDayOnly is set when only the first day of a month is an ordinal.
	firstDayOnly bool
	collator     *collate.Collator
	// ordinals are the keys of the terms for ordinals.
	ordinals []string
}

// locale gathers the words for a style in a language.
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

func (l *locale) add(n *node) {
	if n == nil {
		return
	}

	for _, k := range n.kids {
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
			if slices.ContainsFunc(k.kids, func(t *node) bool { return t.attr["name"] == "ordinal" }) {
				for _, key := range l.ordinals {
					delete(l.terms, key)
				}
				l.ordinals = nil
			}

			for _, t := range k.kids {
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

func termKey(name, form string) string {
	if form == "long" {
		form = ""
	}

	return name + "/" + form
}

// term is a word in a form ("", short, verb, verb-short, symbol), or in the form
// that stands in for it.
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

// compare orders texts as the language does.
func (l *locale) compare(a, b string) int { return l.collator.CompareString(a, b) }
