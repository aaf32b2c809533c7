package analysis

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
)

// SentimentSample is a sentence with the polarity people gave it, −1 to 1.
type SentimentSample struct {
	Text   string
	Rating float64
}

const (
	// maxGrams bounds the words and pairs a model keeps.
	maxGrams = 16000
	// gramPenalty and measurePenalty pull weights towards zero, the words' more:
	// there are many of them.
	gramPenalty, measurePenalty = 20, 0.1
)

// FitSentiment trains a model. The same samples give the same model.
func FitSentiment(samples []SentimentSample) *SentimentModel {
	count := countGrams(samples)
	vocabulary := slices.SortedFunc(maps.Keys(count), strings.Compare)
	vocabulary = slices.DeleteFunc(vocabulary, func(g string) bool { return count[g] < 2 })
	_, grams := fitGrams(samples, vocabulary)
	// A word is worth its bytes by its weight and by how often it occurs.
	worth := func(g string) float64 { return math.Abs(grams[g]) * math.Sqrt(float64(count[g])) }
	slices.SortStableFunc(vocabulary, func(a, b string) int { return cmp.Compare(worth(b), worth(a)) })
	vocabulary = vocabulary[:min(len(vocabulary), maxGrams)]
	slices.Sort(vocabulary)
	measures, grams := fitGrams(samples, vocabulary)
	m := &SentimentModel{grams: make(map[string]float32, len(grams))}
	copy(m.measures[:], measures)
	for g, w := range grams {
		if n := roundGram(w); n != 0 {
			m.grams[g] = float32(n) / gramScale
		}
	}
	return m
}

// countGrams counts the samples each word and pair occurs in.
func countGrams(samples []SentimentSample) map[string]int {
	count := map[string]int{}
	for _, s := range samples {
		tokens := tokenize(s.Text)
		neutralizeSenses(tokens, false)
		markNegations(tokens)
		seen := map[string]bool{}
		for g := range sentenceGrams(tokens) {
			if !seen[string(g)] {
				seen[string(g)] = true
				count[string(g)]++
			}
		}
	}
	return count
}

// fitGrams fits the weights of the measures and of a vocabulary.
func fitGrams(samples []SentimentSample, vocabulary []string) (measures []float64, grams map[string]float64) {
	index := make(map[string]int, len(vocabulary))
	for i, g := range vocabulary {
		index[g] = len(measureNames) + i
	}
	rows, y := make([]sparseRow, len(samples)), make([]float64, len(samples))
	for i, s := range samples {
		tokens := tokenize(s.Text)
		neutralizeSenses(tokens, false)
		values, social := measureSentence(s.Text, tokens, scoreTokens(tokens, s.Text))
		for k, v := range values {
			rows[i].add(k, v)
		}
		weight := 1.0
		if social {
			weight = socialGrams
		}
		for g := range sentenceGrams(tokens) {
			if k, ok := index[string(g)]; ok {
				rows[i].add(k, weight)
			}
		}
		y[i] = s.Rating
	}
	penalty := make([]float64, len(measureNames)+len(vocabulary))
	for i := range penalty {
		penalty[i] = gramPenalty
		if i < len(measureNames) {
			penalty[i] = measurePenalty
		}
	}
	w := fitRidge(rows, y, penalty)
	grams = make(map[string]float64, len(vocabulary))
	for i, g := range vocabulary {
		grams[g] = w[len(measureNames)+i]
	}
	return w[:len(measureNames)], grams
}

// WriteTo writes the model as the file that is embedded.
func (m *SentimentModel) WriteTo(w io.Writer) (int64, error) {
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

// countingWriter counts what it writes and keeps the first error.
type countingWriter struct {
	w   *bufio.Writer
	n   int64
	err error
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	if c.err == nil {
		c.err = err
	}
	return n, err
}
