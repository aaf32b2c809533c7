package sentiment

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"presswork/internal/analysis/plaintext"
	"presswork/internal/analysis/wordlist"
)

//go:embed data/model.tsv
var modelData string

// embedded is the model that scores documents.
var embedded = sync.OnceValue(func() *Model { return readModel(modelData) })

// Model is a linear model over the result of the rules, the style of the sentence, and its words and word
// pairs. The rules carry the polarity. The words correct it for texts written like reviews and columns.
type Model struct {
	measures [len(measureNames)]float64
	grams    map[string]float32
}

// measureNames holds the names of a sentence's measures, in the order of their weights.
var measureNames = [...]string{
	"one", "compound", "good", "bad", "good_share", "bad_share", "polar_share",
	"social", "social_compound", "social_good", "social_bad", "social_exclaims",
	"exclaims", "exclaims_compound", "asks", "short_compound", "quotes",
	"lower_start", "lower_start_compound", "digits", "digits_compound", "length", "length_compound",
}

// socialGrams is the weight of the words of a sentence in the style of social media. The rules handle that style
// well, and its words vary too much for the model.
const socialGrams = 0.3

// plainRules is the factor of the rules' compound when it is used alone. It matches the range of human ratings.
const plainRules = 0.55

// Score returns the polarity of a sentence, about −0.9 to 0.9: the mean human rating on −4…4, divided by 4.
func (m *Model) Score(sentence string) float64 {
	score, _ := m.score(sentence, false)
	return score
}

// score returns the polarity of a sentence and the result of the rules. It uses the rules alone if the sentence
// states facts. factual is passed to neutralizeSenses.
func (m *Model) score(sentence string, factual bool) (float64, ruleScores) {
	tokens := tokenize(sentence)
	statesFacts := neutralizeSenses(tokens, factual)

	rules := scoreTokens(tokens, sentence)
	if statesFacts {
		return plainRules * rules.compound, rules
	}
	measures, social := measureSentence(sentence, tokens, rules)

	sum := 0.0
	for i, v := range measures {
		sum += m.measures[i] * v
	}

	words := 0.0
	for gram := range sentenceGrams(tokens) {
		words += float64(m.grams[string(gram)])
	}

	if social {
		words *= socialGrams
	}

	return holdSign(max(-1, min(1, sum+words)), rules), rules
}

// holdSign stops the weights of words from overruling the rules in a short sentence with a negation. People rate
// "not bad" low because of its "not", although it is no criticism.
func holdSign(score float64, r ruleScores) float64 {
	const short, least = 16, 0.4 // words; share of the rules' score
	if !r.contextual || r.words > short {
		return score
	}

	if floor := least * r.compound; floor > 0 && score < floor || floor < 0 && score > floor {
		return floor
	}

	return score
}

// measureSentence returns the measures of a sentence, in the order of measureNames. It also reports whether it is
// written in the style of social media.
func measureSentence(sentence string, tokens []token, r ruleScores) (m [len(measureNames)]float64, social bool) {
	// The indices are those of measureNames. Many measures are a property of the sentence, times the rules' score.
	n := float64(len(tokens) + 1)
	good, bad := squash(r.good), squash(r.bad)

	m = [len(measureNames)]float64{1, r.compound, good, bad, r.good / n, r.bad / n, float64(r.polar) / n}
	if social = isSocial(sentence, tokens); social {
		m[7], m[8], m[9], m[10] = 1, r.compound, good, bad
	}

	if strings.Contains(sentence, "!") {
		m[12], m[13] = 1, r.compound
		m[11] = m[7]
	}

	if strings.Contains(sentence, "?") {
		m[14] = 1
	}

	if n < 8 {
		m[15] = r.compound
	}

	if strings.ContainsAny(sentence, "\"“”") || strings.Contains(sentence, "''") {
		m[16] = 1
	}

	if plaintext.StartsLower(sentence) {
		m[17], m[18] = 1, r.compound
	}

	if strings.ContainsAny(sentence, "0123456789") {
		m[19], m[20] = 1, r.compound
	}
	m[21] = min(n, 60) / 50
	m[22] = m[21] * r.compound

	return m, social
}

// isSocial reports whether a sentence has mentions, tags, links, emoticons or chat words.
func isSocial(sentence string, tokens []token) bool {
	if strings.ContainsAny(sentence, "@#") || strings.Contains(sentence, "http") {
		return true
	}

	for i := range tokens {
		t := &tokens[i]
		// The words with a valence that count here are those that are not part of a phrase and do not begin with a
		// letter: emoticons.
		if t.is(social) || t.known && !t.inPhrase && (t.lower[0] < 'a' || t.lower[0] > 'z') {
			return true
		}
	}

	return false
}

// sentenceGrams yields the words, marked "!" if negated, and the pairs of neighbours, joined by "_". A pair begins
// with "^" at the start of the sentence and with "." at that of a clause. A yielded value is valid until the next
// one.
func sentenceGrams(tokens []token) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		pair := append(make([]byte, 0, 128), '^')
		for _, t := range tokens {
			pair = append(pair, '_')

			from := len(pair)
			if t.negated {
				pair = append(pair, '!')
			}

			pair = append(pair, t.lower...)
			if !yield(pair[from:]) || !yield(pair) {
				return
			}

			if t.ends {
				pair = append(pair[:0], '.')
			} else {
				pair = append(pair[:0], pair[from:]...)
			}
		}
	}
}

// readModel reads the format of WriteTo. The weights of the measures come first. Each further line has a
// weight in thousandths, and the words and pairs with this weight.
func readModel(data string) *Model {
	m := &Model{grams: make(map[string]float32, 1<<14)}

	n := 0
	for fields := range wordlist.Rows(data) {
		if n < len(measureNames) {
			if fields[0] != measureNames[n] {
				panic("sentiment: model: " + fields[0] + ", want " + measureNames[n])
			}
			m.measures[n] = wordlist.Number(fields[1])
			n++
			continue
		}

		w := float32(wordlist.Number(fields[0]) / gramScale)
		for gram := range strings.FieldsSeq(fields[1]) {
			m.grams[gram] = w
		}
	}

	return m
}

// gramScale is the resolution of a word's weight.
const gramScale = 1000

// roundGram rounds a weight to the resolution in which it is stored.
func roundGram(w float64) int { return int(math.Round(w * gramScale)) }

// Features returns what a Model weighs in a sentence: its measures, its words and word pairs,
// and the weight of each word or pair.
func Features(sentence string) (measures []float64, grams []string, weight float64) {
	tokens := tokenize(sentence)
	neutralizeSenses(tokens, false)

	values, social := measureSentence(sentence, tokens, scoreTokens(tokens, sentence))
	for gram := range sentenceGrams(tokens) {
		grams = append(grams, string(gram))
	}

	if social {
		return values[:], grams, socialGrams
	}

	return values[:], grams, 1
}

// NewModel returns a model with these weights, rounded to the precision of the embedded file.
func NewModel(measures []float64, grams map[string]float64) *Model {
	m := &Model{grams: make(map[string]float32, len(grams))}
	copy(m.measures[:], measures)

	for g, w := range grams {
		if n := roundGram(w); n != 0 {
			m.grams[g] = float32(n) / gramScale
		}
	}

	return m
}

// WriteTo writes the model in the format of the embedded file.
func (m *Model) WriteTo(w io.Writer) (int64, error) {
	out := &countingWriter{w: bufio.NewWriter(w)}
	fmt.Fprint(out, "# Sentiment of a sentence: weights of its measures, then thousandths of weight and\n"+
		"# the words (\"!\": negated) and pairs (\"^\": sentence, \".\": clause begins) that have\n"+
		"# it. Trained by `make train` on the ratings of Hutto & Gilbert (2014).\n\n")

	for i, name := range measureNames {
		fmt.Fprintf(out, "%s\t%.4f\n", name, m.measures[i])
	}
	byWeight := map[int][]string{}

	for g, weight := range m.grams {
		n := roundGram(float64(weight))
		byWeight[n] = append(byWeight[n], g)
	}

	for _, n := range slices.Sorted(maps.Keys(byWeight)) {
		slices.Sort(byWeight[n])
		fmt.Fprintf(out, "%d\t%s\n", n, strings.Join(byWeight[n], " "))
	}

	if err := out.w.Flush(); err != nil {
		return out.n, err
	}

	return out.n, out.err
}

// countingWriter counts the bytes written and keeps the first error.
type countingWriter struct {
	w   *bufio.Writer
	n   int64
	err error
}

// Write implements io.Writer. It counts the bytes and keeps the first error.
func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)

	c.n += int64(n)
	if c.err == nil {
		c.err = err
	}

	return n, err
}
