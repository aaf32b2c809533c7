// Package lang finds the language of a text, and knows the most frequent words of each language.
package lang

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"presswork/internal/analysis/plaintext"
)

//go:embed data/words.txt
var functionWordData string

// functionWords holds the most frequent words of each language, which carry no topic.
type functionWords struct {
	tags []string
	// languages maps a word to the indices in tags of the languages that have it.
	languages map[string][]uint8
}

// commonWords returns the embedded lists of frequent words.
var commonWords = sync.OnceValue(func() functionWords {
	f := functionWords{languages: map[string][]uint8{}}

	for line := range strings.Lines(functionWordData) {
		tag, list, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(line, "#") || strings.Contains(tag, " ") {
			continue
		}
		n := uint8(len(f.tags))

		f.tags = append(f.tags, tag)
		for w := range strings.FieldsSeq(list) {
			if known := f.languages[w]; len(known) == 0 || known[len(known)-1] != n {
				f.languages[w] = append(known, n)
			}
		}
	}

	return f
})

// enoughLetters is the number of letters needed to tell languages of one script apart.
const enoughLetters = 12

// hangulIndex is the index of Hangul in singleScripts.
const hangulIndex = 0

// singleScripts lists the scripts that a single language uses, with its tag.
var singleScripts = []struct {
	table *unicode.RangeTable
	tag   string
}{
	{unicode.Hangul, "ko"},
	{unicode.Greek, "el"},
	{unicode.Hebrew, "he"},
	{unicode.Thai, "th"},
	{unicode.Armenian, "hy"},
	{unicode.Georgian, "ka"},
	{unicode.Tamil, "ta"},
	{unicode.Telugu, "te"},
	{unicode.Bengali, "bn"},
	{unicode.Gujarati, "gu"},
	{unicode.Gurmukhi, "pa"},
	{unicode.Kannada, "kn"},
	{unicode.Malayalam, "ml"},
	{unicode.Sinhala, "si"},
	{unicode.Khmer, "km"},
	{unicode.Lao, "lo"},
	{unicode.Myanmar, "my"},
	{unicode.Ethiopic, "am"},
}

// alphabet counts the letters of a text by script.
type alphabet struct {
	total, latin, cyrillic, arabic, devanagari, han, kana int
	single                                                []int
}

// Detect returns the BCP 47 tag of the words of a text. It returns "und" if the text is too short or the
// language is unknown.
func Detect(tokens []string) string {
	a := countLetters(tokens)
	if a.total == 0 {
		return "und"
	}
	// Technical texts contain Latin names and terms in every language. A quarter of the letters in another script
	// is therefore enough.
	quarter := max(3, a.total/4)
	for i, n := range a.single {
		if n >= quarter {
			return singleScripts[i].tag
		}
	}

	switch {
	// Japanese text has at least one kana in twelve characters, Chinese text none.
	case a.kana*12 >= a.kana+a.han && a.kana+a.han >= quarter:
		return "ja"
	case a.han >= quarter:
		return "zh"
	case a.total < enoughLetters:
		return "und"
	case a.cyrillic >= quarter:
		return identify(tokens, unicode.Cyrillic)
	case a.arabic >= quarter:
		return identify(tokens, unicode.Arabic)
	case a.devanagari >= quarter:
		return identify(tokens, unicode.Devanagari)
	case a.latin*2 >= a.total:
		return identify(tokens, unicode.Latin)
	}

	return "und"
}

// sharedScripts maps each script other than Latin that several known languages use to these languages. The first
// is the default of Of.
var sharedScripts = map[*unicode.RangeTable][]string{
	unicode.Cyrillic:   {"ru", "uk", "bg", "sr", "be", "mk", "mn", "kk", "ky", "tg"},
	unicode.Arabic:     {"ar", "fa", "ur"},
	unicode.Devanagari: {"hi", "mr", "ne"},
}

// identify returns the language of the words that begin with a letter of the script, or "und".
func identify(tokens []string, script *unicode.RangeTable) string {
	words := slices.DeleteFunc(slices.Clone(tokens), func(t string) bool {
		first, _ := utf8.DecodeRuneInString(t)
		return !unicode.Is(script, first)
	})

	return grams().identify(words, func(tag string) bool {
		if script != unicode.Latin {
			return slices.Contains(sharedScripts[script], tag)
		}

		for _, tags := range sharedScripts {
			if slices.Contains(tags, tag) {
				return false
			}
		}

		return true
	})
}

// countLetters counts the letters of the words by script.
func countLetters(tokens []string) alphabet {
	a := alphabet{single: make([]int, len(singleScripts))}

	for _, t := range tokens {
		for _, c := range t {
			a.count(c)
		}
	}

	return a
}

// count adds one character. It tests the ranges of large scripts before the slower Unicode tables.
func (a *alphabet) count(c rune) {
	switch {
	case c < 'a' || c > 'z' && c < 0xc0:
		return
	case c <= 'z':
		a.latin++
	case c < 0x250 || c >= 0x1e00 && c < 0x1f00:
		a.latin++
	case c >= 0x400 && c < 0x530:
		a.cyrillic++
	case c >= 0x600 && c < 0x780:
		a.arabic++
	case c >= 0x900 && c < 0x980:
		a.devanagari++
	case c >= 0x3040 && c < 0x3100:
		a.kana++
	case unicode.Is(unicode.Han, c):
		a.han++
	case !unicode.IsLetter(c):
		return
	default:
		i := slices.IndexFunc(singleScripts, func(s struct {
			table *unicode.RangeTable
			tag   string
		},
		) bool {
			return unicode.Is(s.table, c)
		})
		if i >= 0 {
			a.single[i]++
		}
	}
	a.total++
}

// StopWord reports whether a word is a function word in the language. English function words always count. If the
// language is "und", those of the first six languages in words.txt count.
func StopWord(word, language string) bool {
	common := commonWords()
	for _, n := range common.languages[word] {
		if tag := common.tags[n]; tag == language || tag == "en" || language == "und" && n < 6 {
			return true
		}
	}

	return false
}

// Of returns the BCP 47 tag by which running text is typeset. A few words are enough. It finds the script
// of most letters and the language within that script. For Latin script it returns "": a wrong guess would do more
// harm than none.
func Of(prose string) string {
	tokens := plaintext.AppendTokens(nil, prose)
	a := countLetters(tokens)
	ideographs, hangul := a.han+a.kana, a.single[hangulIndex]
	// An ideograph or Hangul syllable counts as much as three letters.
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

// Group names languages whose documents are calibrated together.
type Group string

// Groups of languages. Latin has the languages in Latin script other than English. CJK has Chinese, Japanese and
// Korean.
const (
	English      Group = "english"
	Latin        Group = "latin"
	CJK          Group = "cjk"
	OtherScripts Group = "other-scripts"
)

// Groups returns all groups, English first.
func Groups() []Group { return []Group{English, Latin, CJK, OtherScripts} }

// GroupOf returns the group of a language, a BCP 47 tag. It is Latin if the language is not known.
func GroupOf(language string) Group {
	base, _, _ := strings.Cut(language, "-")
	switch base {
	case "en":
		return English
	case "zh", "ja", "ko":
		return CJK
	}

	if otherScripts[base] {
		return OtherScripts
	}

	return Latin
}

// otherScripts has the languages that are neither in Latin script nor in CJK.
var otherScripts = func() map[string]bool {
	set := map[string]bool{}
	for tag := range strings.FieldsSeq(`am ar be bg bn el fa gu he hi hy ka kk km kn ky lo mk ml mn mr my ne or pa ps ru
		si sr ta te tg th ti uk ur uz yi`) {
		set[tag] = true
	}

	return set
}()
