package analysis

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
)

//go:embed data/language/words.txt
var functionWordData string

// functionWords are the commonest words of a language, which carry no topic.
type functionWords struct {
	tags []string
	// languages maps a word to the indices of tags whose language has it.
	languages map[string][]uint8
}

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

const (
	// enoughLetters are needed to distinguish languages of one script.
	enoughLetters = 60
	// maxLanguageTokens bounds the words looked at.
	maxLanguageTokens = 6000
	// leastHits is the share of function words below which a text is no running
	// text of a known language.
	leastHits = 0.12
	// sparseHits is enough where one language leads clearly: lists and tables have
	// few function words.
	sparseHits = 0.05
)

// hangulIndex is the place of Hangul among singleScripts.
const hangulIndex = 0

// scripts of one language each, and what that is.
var singleScripts = []struct {
	table *unicode.RangeTable
	tag   string
}{
	{unicode.Hangul, "ko"}, {unicode.Greek, "el"}, {unicode.Hebrew, "he"}, {unicode.Thai, "th"}, {unicode.Armenian, "hy"},
	{unicode.Georgian, "ka"}, {unicode.Tamil, "ta"}, {unicode.Telugu, "te"}, {unicode.Bengali, "bn"}, {unicode.Gujarati, "gu"},
	{unicode.Gurmukhi, "pa"}, {unicode.Kannada, "kn"}, {unicode.Malayalam, "ml"}, {unicode.Sinhala, "si"}, {unicode.Khmer, "km"},
	{unicode.Lao, "lo"}, {unicode.Myanmar, "my"}, {unicode.Ethiopic, "am"},
}

// alphabet counts the letters of a text per script.
type alphabet struct {
	total, latin, cyrillic, arabic, devanagari, han, kana int
	single                                                []int
	// marks counts the letters that only some languages of a script have.
	marks map[rune]int
}

// detectLanguage returns a BCP 47 tag for a document's prose, "und" when the
// text is too short or in no language that is known.
func detectLanguage(r *reading) string {
	tokens := proseTokens(r)
	a := countLetters(tokens)
	if a.total == 0 {
		return "und"
	}
	// Names and terms of a technical text are Latin in every language: a quarter
	// of letters in another script decides.
	other := max(3, a.total/4)
	for i, n := range a.single {
		if n >= other {
			return singleScripts[i].tag
		}
	}
	switch {
	case a.kana*12 >= a.kana+a.han && a.kana+a.han >= other:
		return "ja"
	case a.han >= other:
		return "zh"
	case a.total < enoughLetters:
		return "und"
	case a.cyrillic >= other:
		return a.byWords(tokens, "ru", "uk", "bg", "sr", "be")
	case a.arabic >= other:
		return a.byWords(tokens, "ar", "fa", "ur")
	case a.devanagari >= other:
		return a.byWords(tokens, "hi", "mr")
	case a.latin*2 >= a.total:
		return a.byWords(tokens)
	}
	return "und"
}

// proseTokens are the words of running text, or where there is next to none,
// those of headings and tables too.
func proseTokens(r *reading) []string {
	var tokens []string
	for _, p := range r.passages {
		if p.prose() && len(tokens) < maxLanguageTokens {
			tokens = appendTokens(tokens, p.text)
		}
	}
	if len(tokens) < 30 {
		return r.tokens[:min(len(r.tokens), maxLanguageTokens)]
	}
	return tokens
}

func countLetters(tokens []string) alphabet {
	a := alphabet{single: make([]int, len(singleScripts)), marks: map[rune]int{}}
	for _, t := range tokens {
		for _, c := range t {
			a.count(c)
		}
	}
	return a
}

func (a *alphabet) count(c rune) {
	switch {
	case c < 'a' || c > 'z' && c < 0xc0:
		return
	case c <= 'z':
		a.latin++
	case c < 0x250 || c >= 0x1e00 && c < 0x1f00:
		a.latin++
		a.marks[c]++
	case c >= 0x400 && c < 0x530:
		a.cyrillic++
		if c > 'я' || c == 'ы' || c == 'э' || c == 'щ' || c == 'ъ' {
			a.marks[c]++
		}
	case c >= 0x600 && c < 0x780:
		a.arabic++
		a.marks[c]++
	case c >= 0x900 && c < 0x980:
		a.devanagari++
		a.marks[c]++
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
		}) bool {
			return unicode.Is(s.table, c)
		})
		if i >= 0 {
			a.single[i]++
		}
	}
	a.total++
}

// tellingLetters are letters that speak for languages, by their tags.
var tellingLetters = map[rune]string{
	'ß': "de", 'ä': "de sv fi et", 'ö': "de sv fi tr hu et", 'ü': "de tr hu et", 'ñ': "es eu", 'ã': "pt", 'õ': "pt et", 'ç': "fr pt tr ca", 'œ': "fr",
	'è': "fr it ca", 'ê': "fr pt", 'û': "fr", 'î': "fr ro", 'à': "fr it ca pt", 'ò': "it ca", 'ù': "it fr", 'ł': "pl", 'ą': "pl lt", 'ę': "pl lt", 'ż': "pl", 'ś': "pl", 'ć': "pl hr", 'ń': "pl",
	'ř': "cs", 'ě': "cs", 'ů': "cs", 'č': "cs sk hr sl lt lv", 'š': "cs sk hr sl lt lv et", 'ž': "cs sk hr sl lt lv et", 'ľ': "sk", 'ĺ': "sk", 'ŕ': "sk", 'ô': "sk fr", 'đ': "hr vi", 'ő': "hu", 'ű': "hu",
	'ș': "ro", 'ț': "ro", 'ă': "ro vi", 'ş': "tr", 'ğ': "tr", 'ı': "tr", 'å': "sv da no", 'æ': "da no", 'ø': "da no", 'ơ': "vi", 'ư': "vi", 'ế': "vi", 'ạ': "vi", 'ả': "vi", 'ộ': "vi", 'ệ': "vi",
	'ā': "lv", 'ē': "lv", 'ī': "lv", 'ū': "lv lt", 'ķ': "lv", 'ļ': "lv", 'ņ': "lv", 'ė': "lt", 'į': "lt", 'ų': "lt", 'ŵ': "cy", 'ŷ': "cy", 'ï': "nl fr ca", 'ë': "nl",
	'ы': "ru be", 'э': "ru be", 'ё': "ru be", 'щ': "ru uk bg", 'ъ': "bg", 'і': "uk be", 'ї': "uk", 'є': "uk", 'ґ': "uk", 'ў': "be", 'ј': "sr", 'ђ': "sr", 'љ': "sr", 'њ': "sr", 'ћ': "sr", 'џ': "sr",
	'پ': "fa ur", 'چ': "fa ur", 'ژ': "fa", 'گ': "fa ur", 'ک': "fa ur", 'ی': "fa ur", 'ٹ': "ur", 'ڑ': "ur", 'ے': "ur", 'ہ': "ur", 'ں': "ur", 'ة': "ar", 'ي': "ar", 'ك': "ar", 'إ': "ar", 'ळ': "mr",
}

// byWords distinguishes languages of one script by their function words, each weighed
// the less the more languages share it, and by their letters. Without a list of
// languages all of Latin script are meant.
func (a *alphabet) byWords(tokens []string, among ...string) string {
	common := commonWords()
	hits, letters, score := make([]int, len(common.tags)), make([]int, len(common.tags)), make([]float64, len(common.tags))
	for _, t := range tokens {
		shared := common.languages[t]
		for _, n := range shared {
			hits[n]++
			score[n] += 1 / (1 + 0.5*float64(len(shared)-1))
		}
	}
	for c, n := range a.marks {
		for tag := range strings.FieldsSeq(tellingLetters[c]) {
			if i := slices.Index(common.tags, tag); i >= 0 {
				letters[i] += n
			}
		}
	}
	best, second := -1, 0.0
	for i, tag := range common.tags {
		if len(among) > 0 && !slices.Contains(among, tag) || len(among) == 0 && nonLatin(tag) {
			continue
		}
		score[i] += 0.2 * float64(letters[i])
		if best < 0 || score[i] > score[best] {
			if best >= 0 {
				second = max(second, score[best])
			}
			best = i
		} else {
			second = max(second, score[i])
		}
	}
	share := float64(hits[best]) / float64(max(len(tokens), 1))
	switch {
	case share >= leastHits, share >= sparseHits && hits[best] > 3 && score[best] > 1.5*second:
		return common.tags[best]
	case len(among) > 0 && hits[best]+letters[best] > 0:
		return common.tags[best]
	}
	return "und"
}

func nonLatin(tag string) bool {
	return slices.Contains([]string{"ru", "uk", "bg", "sr", "be", "ar", "fa", "ur", "hi", "mr"}, tag)
}

// stopWord reports whether a word carries no topic in the language; where the
// language is not known, whether it does in any of the largest.
func stopWord(word, language string) bool {
	common := commonWords()
	for _, n := range common.languages[word] {
		if tag := common.tags[n]; tag == language || tag == "en" || language == "und" && n < 6 {
			return true
		}
	}
	return false
}
