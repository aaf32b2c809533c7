package evaluate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"presswork/internal/analysis"
	"presswork/internal/analysis/plaintext"
	"presswork/tools/train"
)

// interval returns the 95 % confidence interval of a measure, formatted as " (0.86–0.90)". It resamples whole
// groups, because the documents of a group are alike.
func interval(predictions []prediction, measure func([]prediction) float64) string {
	const resamples = 300
	random := rand.New(rand.NewPCG(1, 2))

	groups := map[string][]prediction{}
	for _, p := range predictions {
		groups[p.document.Group] = append(groups[p.document.Group], p)
	}
	names := groupsOf(predictions)
	var values []float64

	for range resamples {
		var drawn []prediction
		for range names {
			drawn = append(drawn, groups[names[random.IntN(len(names))]]...)
		}
		values = append(values, measure(drawn))
	}
	slices.Sort(values)

	return fmt.Sprintf(" (%.2f–%.2f)", values[resamples/40], values[resamples-1-resamples/40])
}

const (
	// bagWords is the number of words that the TF-IDF baseline uses: those in the most documents.
	bagWords = 800
	bagSteps = 80
)

// bagOfWords predicts held-out documents by logistic regression on the TF-IDF of their words. It is the baseline
// that knows nothing of document structure.
func bagOfWords(documents []Document) []prediction {
	seen := map[string]int{}

	words := make([]map[string]int, len(documents))
	for i, d := range documents {
		words[i] = map[string]int{}
		for _, w := range plaintext.Words(string(d.Markdown[:min(len(d.Markdown), 60<<10)])) {
			words[i][w]++
		}

		for w := range words[i] {
			seen[w]++
		}
	}

	var known []string
	for w := range seen {
		known = append(known, w)
	}
	slices.SortFunc(known, func(a, b string) int {
		if seen[a] != seen[b] {
			return seen[b] - seen[a]
		}

		if a < b {
			return -1
		}

		return 1
	})
	known = known[:min(len(known), bagWords)]

	bags := slices.Clone(documents)
	for i := range bags {
		x, length := make([]float64, len(known)), 0.0
		for k, w := range known {
			if n := words[i][w]; n > 0 {
				x[k] = (1 + math.Log(float64(n))) * math.Log(float64(len(documents))/float64(seen[w]))
				length += x[k] * x[k]
			}
		}

		for k := range x {
			x[k] *= 4 / math.Sqrt(max(length, 1))
		}
		bags[i].Features, bags[i].Bare = x, x
	}

	return heldOut(bags, func(samples []train.TypeSample) analysis.Weights {
		zero := analysis.Weights{
			Rows:        make([][]float64, len(analysis.DocumentTypes())),
			Calibration: analysis.Calibration{Temperature: 1},
		}
		for t := range zero.Rows {
			zero.Rows[t] = make([]float64, len(known)+1)
		}

		return train.FitTypesFrom(zero, samples, bagSteps)
	})
}
