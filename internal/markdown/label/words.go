package label

import (
	_ "embed"
	"html"
	"strings"
	"sync"

	"golang.org/x/text/language"
)

// Words are the names of numbered elements in a language. The caller must not change the maps.
type Words struct {
	// One and Many are the words for one element of a kind, and for several. If Many is "", each of several elements
	// gets the word of One.
	One, Many map[Kind]string
	// And joins the last two numbers of a list, its spaces included. Colon follows the number of a caption.
	And, Colon string
	// Lists are the titles of the lists of the kinds.
	Lists map[Kind]string
	// References is the title of the bibliography.
	References string
}

// wordTable has one line for each language. Its fields are the tag and the words for figure, table, equation,
// section and listing, each with the plural after a slash. Then come "and", the titles of the lists of figures,
// tables and listings, and the title of the bibliography.
//
//go:embed words.txt
var wordTable string

// theoremTable has one line for each language: the tag and the words for Theorems.
//
//go:embed theorems.txt
var theoremTable string

// allWords returns the embedded table of words by language.
var allWords = sync.OnceValue(func() map[string]Words {
	all := map[string]Words{}

	for line := range strings.Lines(wordTable) {
		f := strings.Split(strings.TrimSpace(line), "|")

		w := Words{
			One:        map[Kind]string{},
			Many:       map[Kind]string{},
			Lists:      map[Kind]string{},
			And:        " " + f[6] + " ",
			Colon:      ":",
			References: f[10],
		}
		for i, kind := range []Kind{Figure, Table, Equation, Section, Listing} {
			w.One[kind], w.Many[kind], _ = strings.Cut(f[i+1], "/")
		}

		w.Lists[Figure], w.Lists[Table], w.Lists[Listing] = f[7], f[8], f[9]
		switch lang := f[0]; lang {
		case "fr":
			w.Colon = "\u202f:"
		case "ja", "ko", "zh", "zh-Hant":
			w.And = strings.TrimLeft(w.And, " ")
			if lang != "ko" {
				w.And = strings.TrimSpace(w.And)
			}
		case "ar", "he":
			w.And = strings.TrimRight(w.And, " ")
		}
		all[f[0]] = w
	}
	all["no"] = all["nb"]
	addTheorems(all)

	return all
})

// addTheorems adds the words for theorems, those of English to languages without their own.
func addTheorems(all map[string]Words) {
	own := map[string][]string{}

	for line := range strings.Lines(theoremTable) {
		f := strings.Split(strings.TrimSpace(line), "|")
		own[f[0]] = f[1:]
	}
	own["no"] = own["nb"]

	for lang, w := range all {
		names, ok := own[lang]
		if !ok {
			names = own["en"]
		}

		for i, kind := range Theorems() {
			w.One[kind] = names[i]
		}
	}
}

// WordsOf returns the words of a language (BCP 47), those of English for an unknown one.
func WordsOf(lang string) Words {
	all := allWords()

	tag, err := language.Parse(lang)
	if err != nil {
		return all["en"]
	}
	base, _ := tag.Base()

	name := base.String()
	if script, _ := tag.Script(); name == "zh" && script.String() == "Hant" {
		name = "zh-Hant"
	}

	if w, ok := all[name]; ok {
		return w
	}

	return all["en"]
}

// Caption returns the start of a caption, such as "Figure 1", as HTML. If hasText is set, a colon and a space follow.
func (w Words) Caption(kind Kind, number string, hasText bool) string {
	label := w.One[kind] + "\u00a0" + number
	if !hasText {
		return `<span class="xref-label">` + html.EscapeString(label) + "</span>"
	}

	return `<span class="xref-label">` + html.EscapeString(label+w.Colon) + "</span> "
}
