package sentiment

import (
	_ "embed"
	"math"
	"strconv"
	"strings"
	"sync"

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

// squash maps a sum of valences to −1…1.
func squash(sum float64) float64 { return sum / math.Sqrt(sum*sum+saturation) }

// boosterEffect returns the value that a word adds to the valence of a later word.
func boosterEffect(word *token, valence float64, emphaticCapitals bool) float64 {
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
