package sentiment

import (
	_ "embed"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"presswork/internal/analysis/plaintext"
	"presswork/internal/analysis/wordlist"
)

// Constants of VADER (Hutto & Gilbert 2014). boost and capitals are added for a degree adverb and for capitals;
// negation is a factor. A sum x gives the score x/sqrt(x²+saturation). contrastBefore and contrastAfter are the
// factors before and after "but".
const (
	boost          = 0.293
	capitals       = 0.733
	negation       = -0.74
	saturation     = 15.0
	exclamation    = 0.292
	asciiPunct     = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
	contrastBefore = 0.5
	contrastAfter  = 1.5
)

// boosters holds the degree adverbs: 1 strengthens, −1 weakens.
var boosters = wordlist.Signs(map[int]string{
	1: `absolutely amazingly awfully completely considerable considerably decidedly deeply effing enormous
enormously entirely especially exceptional exceptionally extreme extremely fabulously flipping flippin frackin
fracking fricking frickin frigging friggin fully fuckin fucking fuggin fugging greatly hella highly hugely
incredible incredibly intensely major majorly more most particularly purely quite really remarkably so
substantially thoroughly total totally tremendous tremendously uber unbelievably unusually utter utterly very`,
	-1: `almost barely hardly kinda kindof kind-of less little marginal marginally occasional occasionally partly
scarce scarcely slight slightly somewhat sorta sortof sort-of`,
})

// weakPhrases holds the weakening adverbs of two words.
var weakPhrases = map[string]bool{"just enough": true, "kind of": true, "sort of": true}

// vaderNegations holds VADER's negating words. Any word with "n't" negates as well.
var vaderNegations = wordlist.Signs(map[int]string{1: `aint arent cannot cant couldnt darent didnt doesnt dont hadnt
hasnt havent isnt mightnt mustnt neither neednt never none nope nor not nothing nowhere oughtnt shant shouldnt uhuh
wasnt werent uh-uh without wont wouldnt rarely seldom despite`})

// idioms maps phrases whose words are misleading to their valence.
var idioms = map[string]float64{
	"the shit": 3, "the bomb": 3, "bad ass": 1.5, "badass": 1.5, "bus stop": 0,
	"yeah right": -2, "kiss of death": -1.5, "to die for": 3, "beating heart": 3.5,
}

// vaderWord is a word as VADER sees it.
type vaderWord struct {
	lower   string
	valence float64
	known   bool // is in the lexicon
	upper   bool // has capitals and no small letters
}

// VADER returns the compound score, −1 to 1, that VADER 3.3.2 computes. It reproduces the authors' Python
// program with its peculiarities. The score is the baseline that OfSentence must reach.
func VADER(sentence string) float64 {
	text := strings.TrimSpace(nameEmoji(sentence))

	words := vaderWords(text)
	if len(words) == 0 {
		return 0
	}
	emphaticCapitals := slices.ContainsFunc(words, func(w vaderWord) bool { return w.upper }) &&
		slices.ContainsFunc(words, func(w vaderWord) bool { return !w.upper })

	scores := make([]float64, len(words))
	for i, w := range words {
		if boosters[w.lower] != 0 || w.lower == "kind" && i+1 < len(words) && words[i+1].lower == "of" {
			continue
		}

		if w.known {
			scores[i] = vaderValence(words, i, emphaticCapitals)
		}
	}
	weighContrast(words, scores)

	sum := 0.0
	for _, s := range scores {
		sum += s
	}
	emphasis := punctuationEmphasis(text)

	switch {
	case sum > 0:
		sum += emphasis
	case sum < 0:
		sum -= emphasis
	}

	return squash(sum)
}

// squash maps a sum of valences to −1…1.
func squash(sum float64) float64 { return sum / math.Sqrt(sum*sum+saturation) }

// nameEmoji replaces emoji by their names.
func nameEmoji(s string) string {
	if plaintext.IsASCII(s) {
		return s
	}
	names := emojiNames()
	var b strings.Builder
	space := true

	for _, r := range s {
		name, ok := names[r]
		if !ok {
			b.WriteRune(r)
			space = r == ' '
			continue
		}

		if !space {
			b.WriteByte(' ')
		}
		b.WriteString(name)
		space = false
	}

	return b.String()
}

// vaderWords splits text at white space and strips punctuation. A word that would become too short is kept as an
// emoticon.
func vaderWords(text string) []vaderWord {
	table := valences()
	var words []vaderWord

	for token := range strings.FieldsSeq(text) {
		if s := strings.Trim(token, asciiPunct); utf8.RuneCountInString(s) > 2 {
			token = s
		}
		w := vaderWord{lower: strings.ToLower(token), upper: plaintext.IsUpper(token)}
		w.valence, w.known = table[w.lower]
		words = append(words, w)
	}

	return words
}

// vaderValence returns the valence of the i-th word, adjusted by the three words before it. The word must be in
// the lexicon.
func vaderValence(words []vaderWord, i int, emphaticCapitals bool) float64 {
	w := words[i]
	v := w.valence
	before := func(n int) string {
		if i < n {
			return ""
		}

		return words[i-n].lower
	}

	if w.lower == "no" && i+1 < len(words) && words[i+1].known {
		v = 0
	}

	// "No" negates one or two words later, or three words later after "or" or "nor".
	if before(1) == "no" || before(2) == "no" || before(3) == "no" && (before(1) == "or" || before(1) == "nor") {
		v = w.valence * negation
	}

	if w.upper && emphaticCapitals {
		if v > 0 {
			v += capitals
		} else {
			v -= capitals
		}
	}

	for n := 1; n <= 3 && n <= i; n++ {
		if words[i-n].known {
			continue
		}
		v += [...]float64{1, 0.95, 0.9}[n-1] * boosterEffect(words[i-n], v, emphaticCapitals)

		v = vaderNegation(v, n, before)
		if n == 3 {
			v = idiomValence(v, words, i)
		}
	}

	// "Least" negates the word after it, but not in "at least" and "very least".
	if i > 0 && !words[i-1].known && before(1) == "least" && (i == 1 || before(2) != "at" && before(2) != "very") {
		v *= negation
	}

	return v
}

// boosterEffect returns the value that a word adds to the valence of a later word.
func boosterEffect(word vaderWord, valence float64, emphaticCapitals bool) float64 {
	sign := boosters[word.lower]
	if sign == 0 {
		return 0
	}

	effect := boost * float64(sign)
	if valence < 0 {
		effect = -effect
	}

	if word.upper && emphaticCapitals {
		if valence > 0 {
			effect += capitals
		} else {
			effect -= capitals
		}
	}

	return effect
}

// vaderNegation returns v adjusted by the negation n words before, if there is one.
func vaderNegation(v float64, n int, before func(int) string) float64 {
	// VADER amplifies "never so" and "never this".
	soOrThis := func(n int) bool { return before(n) == "so" || before(n) == "this" }
	switch {
	case n == 2 && before(2) == "never" && soOrThis(1),
		n == 3 && (before(3) == "never" && soOrThis(2) || soOrThis(1)):
		return v * 1.25
	case n == 2 && before(2) == "without" && before(1) == "doubt",
		n == 3 && before(3) == "without" && (before(2) == "doubt" || before(1) == "doubt"):
		return v
	case vaderNegations[before(n)] != 0 || strings.Contains(before(n), "n't"):
		return v * negation
	}

	return v
}

// idiomValence returns the valence of the idiom that contains the i-th word, or v if there is none.
func idiomValence(v float64, words []vaderWord, i int) float64 {
	phrase := func(from, to int) string {
		if from < 0 || to >= len(words) {
			return ""
		}
		var text strings.Builder

		for n, w := range words[from : to+1] {
			if n > 0 {
				text.WriteByte(' ')
			}
			text.WriteString(w.lower)
		}

		return text.String()
	}
	for _, p := range [...]string{phrase(i-1, i), phrase(i-2, i), phrase(i-2, i-1), phrase(i-3, i-1), phrase(i-3, i-2)} {
		if idiom, ok := idioms[p]; ok {
			v = idiom
			break
		}
	}

	for _, p := range [...]string{phrase(i, i+1), phrase(i, i+2)} {
		if idiom, ok := idioms[p]; ok {
			v = idiom
		}
	}

	for _, p := range [...]string{phrase(i-3, i-1), phrase(i-3, i-2), phrase(i-2, i-1)} {
		if weakPhrases[p] {
			v -= boost
		}
	}

	return v
}

// weighContrast halves the scores before "but" and strengthens those after it. Like the original, it finds a score
// by its value: of equal scores, the first is changed, even if another was meant.
func weighContrast(words []vaderWord, scores []float64) {
	but := slices.IndexFunc(words, func(w vaderWord) bool { return w.lower == "but" })
	if but < 0 {
		return
	}

	for k := range scores {
		switch i := slices.Index(scores, scores[k]); {
		case i < but:
			scores[i] *= contrastBefore
		case i > but:
			scores[i] *= contrastAfter
		}
	}
}

// punctuationEmphasis returns the value that exclamation and question marks add.
func punctuationEmphasis(text string) float64 {
	emphasis := exclamation * float64(min(4, strings.Count(text, "!")))
	switch n := strings.Count(text, "?"); {
	case n > 3:
		emphasis += 0.96
	case n > 1:
		emphasis += 0.18 * float64(n)
	}

	return emphasis
}

var (
	//go:embed data/lexicon.tsv
	valenceData string
	//go:embed data/emoji.tsv
	emojiData string
)

// valences maps a lower-case word or emoticon to its mean valence, −4 to 4.
var valences = sync.OnceValue(func() map[string]float64 {
	table := make(map[string]float64, 8192)

	for fields := range wordlist.Rows(valenceData) {
		v, err := strconv.ParseFloat(fields[1], 64)
		if err != nil {
			panic("sentiment: valence of " + fields[0] + ": " + err.Error())
		}
		table[fields[0]] = v
	}

	return table
})

// Valence returns the mean valence of a lower-case word or emoticon, −4 to 4, or 0 if it has none.
func Valence(word string) float64 { return valences()[word] }

// emojiNames maps an emoji that has a polarity to the words it stands for.
var emojiNames = sync.OnceValue(func() map[rune]string {
	table := make(map[rune]string, 256)

	for fields := range wordlist.Rows(emojiData) {
		for _, r := range fields[0] {
			table[r] = fields[1]
			break
		}
	}

	return table
})
