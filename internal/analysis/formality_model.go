package analysis

import (
	_ "embed"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"presswork/internal/analysis/plaintext"
	"presswork/internal/analysis/sentiment"
	"presswork/internal/analysis/wordlist"
)

var (
	//go:embed data/formality_model.tsv
	formalityModelData string
	//go:embed data/formality_words.tsv
	formalityWordData string
)

// embeddedFormality is the model that scores documents.
var embeddedFormality = sync.OnceValue(func() *FormalityModel { return readFormalityModel(formalityModelData) })

// register is a bit set of the registers that a word belongs to.
type register uint16

const (
	functionWord register = 1 << iota
	firstPerson
	secondPerson
	informalWord
	slangWord
	connective
	legalWord
	slackWord
	officialWord
)

// registers maps a word to its registers.
var registers = sync.OnceValue(func() map[string]register {
	kinds := map[string]register{
		"function": functionWord, "first": firstPerson, "second": secondPerson, "informal": informalWord,
		"slang": slangWord, "connective": connective, "legal": legalWord, "slack": slackWord,
		"official": officialWord,
	}
	table := make(map[string]register, 1024)

	for fields := range wordlist.Rows(formalityWordData) {
		kind, ok := kinds[fields[0]]
		if !ok {
			panic("analysis: formality words: unknown kind " + fields[0])
		}

		for word := range strings.FieldsSeq(fields[1]) {
			table[word] |= kind
		}
	}

	return table
})

// FormalityModel is a linear model over measures of a sentence.
type FormalityModel struct{ weights [len(formalityNames)]float64 }

// formalityNames name the measures, in the order of their weights.
var formalityNames = [...]string{
	"one",
	"word_length",
	"log_words",
	"long_words",
	"contractions",
	"first_person",
	"second_person",
	"informal",
	"slang",
	"slack",
	"connectives",
	"latinate",
	"exclaims",
	"asks",
	"emphatic",
	"lower_start",
	"shouting",
	"commas",
	"full_stop",
	"digits",
	"function_words",
	"few_words",
	"semicolons",
	"official",
	"passive",
	"feeling",
	"capitals",
	"mentions",
}

// The measures that a document's median adjusts.
const formalityLogWords, formalityLowerStart, formalityFullStop = 2, 15, 18

// latinate lists the endings of learned words, which come from Latin.
var latinate = []string{
	"tion", "sion", "ment", "ance", "ence", "ity", "ive", "ous", "ism", "ist", "ate", "ates", "ated", "ify", "ified",
	"ize", "ized", "ise", "ical", "ual", "ary", "ory", "tions", "sions", "ments", "ities", "ances", "ences", "ally",
}

// Score returns the formality of a sentence, from 0 (a chat) to 1 (a statute).
func (m *FormalityModel) Score(sentence string) float64 {
	return m.weigh(measureFormality(sentence))
}

// NewFormalityModel returns a model with one weight for each of FormalityMeasures.
func NewFormalityModel(weights []float64) *FormalityModel {
	m := &FormalityModel{}
	copy(m.weights[:], weights)

	return m
}

// FormalityMeasures returns the measures of a sentence that a FormalityModel weighs. The first is always 1.
func FormalityMeasures(sentence string) []float64 {
	m := measureFormality(sentence)
	return m[:]
}

// weigh returns the formality, 0 to 1, as the weighted sum of the measures.
func (m *FormalityModel) weigh(measures [len(formalityNames)]float64) float64 {
	s := 0.0
	for i, v := range measures {
		s += m.weights[i] * v
	}

	return max(0, min(1, s))
}

// measureFormality returns the measures of a sentence. The index of each is that of its name in formalityNames.
// Measures of words are shares of the words of the sentence.
func measureFormality(sentence string) (m [len(formalityNames)]float64) {
	m[0] = 1
	table := registers()
	words, letters, shouted := 0.0, 0, 0.0
	afterBeing := false // a form of "to be" comes before the word, perhaps with adverbs between

	for field := range strings.FieldsSeq(sentence) {
		word := plaintext.TrimWord(field)

		length := utf8.RuneCountInString(word)
		if length == 0 || length > 40 || words >= plaintext.MaxWords {
			continue
		}
		words++
		letters += length
		lower := strings.ToLower(strings.ReplaceAll(word, "’", "'"))
		r := table[lower]
		m[3] += indicator(length > 6)
		m[4] += indicator(isContraction(lower))
		m[5] += indicator(r&firstPerson != 0)
		m[6] += indicator(r&secondPerson != 0)
		m[7] += indicator(r&informalWord != 0)
		m[8] += indicator(r&slangWord != 0)
		m[9] += indicator(r&slackWord != 0)
		m[10] += indicator(r&connective != 0)
		m[11] += indicator(length > 5 && hasLatinateEnding(lower))
		m[19] += indicator(strings.ContainsAny(word, "0123456789"))
		m[20] += indicator(r&functionWord != 0)
		m[23] += indicator(r&officialWord != 0)
		m[24] += indicator(
			afterBeing && length > 4 && (strings.HasSuffix(lower, "ed") || strings.HasSuffix(lower, "en")),
		)
		afterBeing = isBeing(lower) || afterBeing && strings.HasSuffix(lower, "ly")
		m[25] += math.Abs(sentiment.Valence(lower))
		// Capital letters within a sentence, such as names, except "I".
		m[26] += indicator(words > 1 && word[0] >= 'A' && word[0] <= 'Z' && word != "I" && !plaintext.IsUpper(word))
		shouted += indicator(length > 3 && plaintext.IsUpper(word))
	}

	if words == 0 {
		return m
	}
	m[1] = float64(letters) / words

	m[2] = math.Log(words)
	for _, share := range [...]int{3, 4, 5, 6, 7, 8, 9, 10, 11, 19, 20, 23, 24, 25, 26} {
		m[share] /= words
	}
	m[12] = indicator(strings.Contains(sentence, "!"))
	m[13] = indicator(strings.Contains(sentence, "?"))
	m[14] = indicator(isEmphatic(sentence))
	m[15] = indicator(plaintext.StartsLower(sentence))
	m[16] = shouted / words
	m[17] = float64(strings.Count(sentence, ",")) / words
	m[18] = indicator(strings.HasSuffix(strings.TrimRight(sentence, "\"'”’) "), "."))
	m[21] = indicator(words < 5)
	m[27] = indicator(strings.ContainsAny(sentence, "@#<>=*^") || strings.Contains(sentence, "www."))
	m[22] = indicator(strings.ContainsAny(sentence, ";:"))

	return m
}

// isBeing reports whether a word is a form of "to be", which forms the passive with a participle.
func isBeing(word string) bool {
	switch word {
	case "is", "are", "was", "were", "be", "been", "being":
		return true
	}

	return false
}

// isContraction reports whether a word is a contraction such as "don't", "it's" or "we'll", but not a possessive
// "'s".
func isContraction(word string) bool {
	at := strings.IndexByte(word, '\'')
	if at <= 0 {
		return false
	}

	switch word[at+1:] {
	case "t", "re", "ve", "ll", "d", "m", "em":
		return true
	case "s":
		switch word[:at] {
		case "it", "that", "he", "she", "there", "here", "what", "who", "where", "how", "let", "when", "why":
			return true
		}
	}

	return false
}

// hasLatinateEnding reports whether a word ends like the words that English took from Latin, such as -tion.
func hasLatinateEnding(word string) bool {
	for _, ending := range latinate {
		if strings.HasSuffix(word, ending) {
			return true
		}
	}

	return false
}

// isEmphatic reports whether a text has "!!", "??", "...", a stretched word, an emoticon or an emoji.
func isEmphatic(s string) bool {
	for _, mark := range [...]string{"!!", "??", "?!", "..", ":)", ":(", ";)", ":-", ";-", ":D", ":P", "<3", "xx"} {
		if strings.Contains(s, mark) {
			return true
		}
	}

	run, last := 0, rune(0)
	for _, r := range s {
		if r == last && unicode.IsLetter(r) && r != 'w' {
			if run++; run >= 2 {
				return true
			}
		} else {
			run, last = 0, r
		}

		if plaintext.IsEmoji(r) {
			return true
		}
	}

	return false
}

// readFormalityModel parses the output of WriteTo.
func readFormalityModel(data string) *FormalityModel {
	m, n := &FormalityModel{}, 0
	for fields := range wordlist.Rows(data) {
		if n >= len(formalityNames) || fields[0] != formalityNames[n] {
			panic("analysis: formality model: unexpected " + fields[0])
		}
		m.weights[n] = wordlist.Number(fields[1])
		n++
	}

	return m
}

// WriteTo writes the model in the format of the embedded file.
func (m *FormalityModel) WriteTo(w io.Writer) (int64, error) {
	var text strings.Builder
	text.WriteString("# Formality of a sentence: weights of its measures. Trained by `make train` on\n" +
		"# ratings of Pavlick & Tetreault (2016).\n\n")

	for i, name := range formalityNames {
		fmt.Fprintf(&text, "%s\t%.5f\n", name, m.weights[i])
	}
	n, err := io.WriteString(w, text.String())

	return int64(n), err
}
