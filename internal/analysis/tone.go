package analysis

import (
	_ "embed"
	"math"
	"slices"
	"strings"
	"sync"

	"presswork/internal/analysis/plaintext"
	"presswork/internal/analysis/wordlist"
	"presswork/internal/markdown"
)

var (
	//go:embed data/tone_words.tsv
	toneWordData string
	//go:embed data/tone_baselines.tsv
	toneBaselineData string
	//go:embed data/tone_genres.tsv
	toneGenreData string
)

const (
	// maxToneSentences limits the sentences that are read.
	maxToneSentences = 400
	// strongWord is the weight of a strong word; an ordinary word has the weight 1.
	strongWord = 2.5
	// minToneScore is the score, in standard deviations, from which a tone is reported.
	minToneScore = 2.0
	// A document type with a leaning of otherSenseLeaning or less uses the words of a tone in another sense. The
	// score of the tone is then multiplied by otherSenseFactor.
	otherSenseLeaning, otherSenseFactor = -2.0, 0.3
	// minEvidence is the evidence that a tone needs in any text.
	minEvidence = 2.5
	// In a text of emotionMinWords or more, an emotional tone needs minDistinctWords different words and an
	// evidence of minRate in a hundred words.
	emotionMinWords  = 40
	minDistinctWords = 4
	minRate          = 0.8
	// In a text of longTextWords or more, an emotional tone also needs minDominance times the evidence of every other
	// one. A long tale has both love and death.
	longTextWords = 800
	minDominance  = 1.5
)

// toneCount is the number of tones that have words: all but neutral.
var toneCount = len(Tones()) - 1

// toneCue is a word's weight for a tone. The tone is an index into Tones minus one.
type toneCue struct {
	tone   int
	weight float64
}

// toneLexicon holds the words and phrases of the tones.
type toneLexicon struct {
	cues map[string][]toneCue
	// begins holds the first words of phrases.
	begins map[string]bool
}

// tones returns the embedded words of tones.
var tones = sync.OnceValue(func() toneLexicon {
	lexicon := toneLexicon{cues: make(map[string][]toneCue, 2048), begins: map[string]bool{}}

	for fields := range wordlist.Rows(toneWordData) {
		name, strong := strings.CutSuffix(fields[0], " strong")

		tone, weight := toneIndex(name), 1.0
		if strong {
			weight = strongWord - 1 // a word that is in both lists gets strongWord below
		}

		for word := range strings.FieldsSeq(fields[1]) {
			cues := lexicon.cues[word]
			if at := slices.IndexFunc(cues, func(c toneCue) bool { return c.tone == tone }); at >= 0 {
				cues[at].weight = strongWord
			} else {
				cues = append(cues, toneCue{tone, weight})
			}

			lexicon.cues[word] = cues
			if first, _, ok := strings.Cut(word, "_"); ok {
				lexicon.begins[first] = true
			}
		}
	}

	return lexicon
})

// toneBaseline is the rate of a tone's cues in documents without a tone: mean and standard deviation in a hundred
// words.
type toneBaseline struct{ mean, deviation float64 }

// toneBaselines returns the embedded mean and deviation of each tone.
var toneBaselines = sync.OnceValue(func() []toneBaseline {
	table := make([]toneBaseline, toneCount)
	for fields := range wordlist.Rows(toneBaselineData) {
		table[toneIndex(fields[0])] = toneBaseline{wordlist.Number(fields[1]), wordlist.Number(fields[2])}
	}

	return table
})

// genreLeanings maps a document type to its leaning towards each tone, in standard deviations.
var genreLeanings = sync.OnceValue(func() map[string][]float64 {
	table := map[string][]float64{}

	for fields := range wordlist.Rows(toneGenreData) {
		leanings, words := make([]float64, toneCount), strings.Fields(fields[1])
		for i := 0; i+1 < len(words); i += 2 {
			leanings[toneIndex(words[i])] = wordlist.Number(words[i+1])
		}
		table[fields[0]] = leanings
	}

	for factual := range factualTypes {
		leanings := slices.Clone(table["factual"])
		for i, own := range table[factual] {
			leanings[i] += own
		}
		table[factual] = leanings
	}

	return table
})

// toneIndex returns the index of a tone among those that have words.
func toneIndex(name string) int {
	i := slices.Index(Tones(), name) - 1
	if i < 0 {
		panic("analysis: embedded data: unknown tone " + name)
	}

	return i
}

// PassageTone returns the tone of an English text of a few sentences without markup.
func PassageTone(text string) string {
	tone, _ := detectTone(plaintext.Sentences(text), documentCues{Language: "en"})
	return tone
}

// detectTone returns one of Tones and its strength, 0 to 1. It returns "neutral" if no tone stands out.
func detectTone(sentences []string, cues documentCues) (tone string, strength float64) {
	if !english(cues.Language) {
		return "neutral", 0
	}

	evidence, distinct, words := toneEvidence(plaintext.Sample(sentences, maxToneSentences))
	for _, heading := range cues.Headings[:min(len(cues.Headings), 40)] {
		addToneWords(evidence, heading, nil)
	}
	names, best, second := Tones()[1:], -1, 0.0

	scores, leanings := toneScores(evidence, words), genreLeanings()[cues.Type]
	for i := range names {
		if leanings != nil {
			if leanings[i] <= otherSenseLeaning { // a zombie process is not a ghost story
				scores[i] *= otherSenseFactor
			}
			scores[i] += leanings[i]
		}

		emotional := words >= emotionMinWords && slices.Contains(emotionalTones, names[i])
		weak := evidence[i] < minRate*float64(words)/100 || distinct[i] < minDistinctWords ||
			words >= longTextWords && hasRival(evidence, i)

		if evidence[i] < minEvidence || emotional && weak {
			scores[i] = 0
		}

		if best < 0 || scores[i] > scores[best] {
			best = i
		}
	}

	for i, s := range scores {
		if i != best {
			second = max(second, s)
		}
	}

	if scores[best] < minToneScore {
		return "neutral", 0
	}
	clear := (scores[best] - minToneScore) / (scores[best] + minToneScore)
	lead := (scores[best] - second) / scores[best]

	return names[best], math.Round(100*min(1, 0.35+0.4*clear+0.4*lead)) / 100
}

// emotionalTones are the emotional tones. Any long text has some of their words.
var emotionalTones = []string{"solemn", "playful", "romantic", "dark", "festive", "luxurious", "nostalgic"}

// hasRival reports whether the evidence of another emotional tone is close to that of this tone.
func hasRival(evidence []float64, tone int) bool {
	for i, name := range Tones()[1:] {
		if i != tone && slices.Contains(emotionalTones, name) && evidence[i]*minDominance > evidence[tone] {
			return true
		}
	}

	return false
}

// toneScores returns the distance of each tone from its baseline, in standard deviations. The deviations are
// larger for short texts.
func toneScores(evidence []float64, words int) []float64 {
	scores := make([]float64, len(evidence))

	hundreds := max(0.3, float64(words)/100)
	for i, base := range toneBaselines() {
		noise := math.Sqrt(base.deviation*base.deviation + 2*(base.mean+0.3)/hundreds)
		scores[i] = (evidence[i]/hundreds - base.mean) / noise
	}

	return scores
}

// toneEvidence counts the cues of each tone, the different words among them, and all words.
func toneEvidence(sentences []string) (evidence []float64, distinct []int, words int) {
	evidence, distinct = make([]float64, toneCount), make([]int, toneCount)
	seen := map[string]int{}
	exclaims, emoji := 0, 0

	for _, s := range sentences {
		words += addToneWords(evidence, s, seen)
		if strings.Contains(s, "!") {
			exclaims++
		}

		if !plaintext.IsASCII(s) {
			for _, r := range s {
				if plaintext.IsEmoji(r) {
					emoji++
				}
			}
		}
	}
	add := func(tone string, weight float64) {
		i := toneIndex(tone)
		evidence[i] = max(0, evidence[i]+weight)
	}
	e := float64(min(exclaims, 1+words/40))
	add("enthusiastic", 1.2*e)
	add("friendly", 0.4*e+0.5*float64(min(emoji, 4)))
	add("playful", 0.4*e+0.5*float64(min(emoji, 4)))
	add("festive", 0.4*e)
	add("solemn", -e)
	add("calm", -e)
	add("professional", -e)

	for word := range seen {
		for _, c := range tones().cues[word] {
			distinct[c.tone]++
		}
	}

	return evidence, distinct, words
}

// addToneWords adds the cues of a text to evidence and returns the number of its words. seen counts the cues, so
// that repetitions count less each time. If seen is nil, they count in full.
func addToneWords(evidence []float64, text string, seen map[string]int) (words int) {
	lexicon := tones()
	var last [2]string

	for field := range strings.FieldsSeq(text) {
		word := plaintext.TrimWord(field)
		if word == "" || len(word) > 40 {
			continue
		}
		words++
		word = strings.ToLower(strings.ReplaceAll(word, "’", "'"))
		lexicon.count(evidence, word, seen)

		if last[1] != "" && lexicon.begins[last[1]] {
			lexicon.count(evidence, last[1]+"_"+word, seen)
		}

		if last[0] != "" && lexicon.begins[last[0]] {
			lexicon.count(evidence, last[0]+"_"+last[1]+"_"+word, seen)
		}
		last[0], last[1] = last[1], word
	}

	return words
}

// count adds the weights of a word or phrase to evidence.
func (l toneLexicon) count(evidence []float64, word string, seen map[string]int) {
	cues, ok := l.cues[word]
	if !ok {
		return
	}
	n := 1

	if seen != nil {
		seen[word]++
		n = seen[word]
	}

	for _, c := range cues {
		evidence[c.tone] += c.weight / math.Sqrt(float64(n))
	}
}

// ToneEvidence returns the evidence for each of Tones except the first in a document's prose, and the number of
// words.
func ToneEvidence(source []byte) (evidence []float64, words int) {
	evidence, _, words = toneEvidence(plaintext.Sample(proseSentences(source), maxToneSentences))
	return evidence, words
}

// proseSentences returns the sentences of a document's paragraphs, list items and quotes.
func proseSentences(source []byte) (sentences []string) {
	for _, b := range parseOutline(normalise(source)).Blocks {
		if b.Kind == markdown.ParagraphBlock || b.Kind == markdown.ItemBlock || b.Kind == markdown.QuoteBlock {
			sentences = append(sentences, plaintext.Sentences(joinLines.Replace(b.Text))...)
		}
	}

	return sentences
}
