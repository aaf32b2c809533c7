package train

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"presswork/internal/analysis/sentiment"
)

// SentimentSample is a sentence and the polarity that people rated it with, −1 to 1.
type SentimentSample struct {
	Text   string
	Rating float64
}

const (
	// maxGrams is the largest number of words and word pairs in a model.
	maxGrams = 16000
	// gramPenalty and measurePenalty pull weights towards zero. The penalty of words is larger, because there are
	// many of them.
	gramPenalty, measurePenalty = 20, 0.1
)

// FitSentiment trains a model. The same samples give the same model.
func FitSentiment(samples []SentimentSample) *sentiment.Model {
	count := countGrams(samples)
	vocabulary := slices.SortedFunc(maps.Keys(count), strings.Compare)
	vocabulary = slices.DeleteFunc(vocabulary, func(g string) bool { return count[g] < 2 })
	_, grams := fitGrams(samples, vocabulary)
	// Keep the words with the largest products of weight and the root of their count: rare words add size and
	// little accuracy.
	worth := func(g string) float64 { return math.Abs(grams[g]) * math.Sqrt(float64(count[g])) }
	slices.SortStableFunc(vocabulary, func(a, b string) int { return cmp.Compare(worth(b), worth(a)) })
	vocabulary = vocabulary[:min(len(vocabulary), maxGrams)]
	slices.Sort(vocabulary)
	measures, grams := fitGrams(samples, vocabulary)

	return sentiment.NewModel(measures, grams)
}

// countGrams counts the samples in which each word and word pair occurs.
func countGrams(samples []SentimentSample) map[string]int {
	count := map[string]int{}

	for _, s := range samples {
		_, grams, _ := sentiment.Features(s.Text)
		slices.Sort(grams)

		for _, g := range slices.Compact(grams) {
			count[g]++
		}
	}

	return count
}

// fitGrams fits the weights of the measures and of a vocabulary.
func fitGrams(samples []SentimentSample, vocabulary []string) (measures []float64, grams map[string]float64) {
	none, _, _ := sentiment.Features("")
	n := len(none) // measures come first

	index := make(map[string]int, len(vocabulary))
	for i, g := range vocabulary {
		index[g] = n + i
	}

	rows, y := make([]sparseRow, len(samples)), make([]float64, len(samples))
	for i, s := range samples {
		values, words, weight := sentiment.Features(s.Text)
		for k, v := range values {
			rows[i].add(k, v)
		}

		for _, g := range words {
			if k, ok := index[g]; ok {
				rows[i].add(k, weight)
			}
		}
		y[i] = s.Rating
	}

	penalty := make([]float64, n+len(vocabulary))
	for i := range penalty {
		penalty[i] = gramPenalty
		if i < n {
			penalty[i] = measurePenalty
		}
	}
	w := fitRidge(rows, y, penalty)

	grams = make(map[string]float64, len(vocabulary))
	for i, g := range vocabulary {
		grams[g] = w[n+i]
	}

	return w[:n], grams
}
