package evaluate

import (
	"fmt"
	"hash/fnv"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"presswork/internal/analysis"
	"presswork/tools/train"
)

// folds is the number of parts in cross-validation.
const folds = 5

// samples is the folder of the project's own documents, relative to the repository's root.
var samples = filepath.Join("tools", "train", "samples")

// prediction is the result of a model for a document that the model was not trained on.
type prediction struct {
	document      Document
	truth         int
	probabilities []float64
	bare          []float64 // probabilities without the front matter
	rival         []float64 // probabilities of another model
}

func (p prediction) best() int { return top(p.probabilities) }

func top(p []float64) int { return slices.Index(p, slices.Max(p)) }

// fit trains a model on samples.
type fit func(samples []train.TypeSample) analysis.Weights

// heldOut predicts every document by a model that saw no other document of its group. Groups are assigned to parts
// by their names, and each part is left out in turn.
func heldOut(documents []Document, learn fit) []prediction {
	const parts = 10
	part := func(d Document) int {
		sum := fnv.New32a()
		sum.Write([]byte(d.Group))

		return int(sum.Sum32() % parts)
	}
	found := make([][]prediction, parts)
	var all sync.WaitGroup
	slots := make(chan struct{}, runtime.NumCPU())

	for i := range parts {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()

			w := learn(
				typeSamples(slices.DeleteFunc(slices.Clone(documents), func(d Document) bool { return part(d) == i })),
			)
			for _, d := range documents {
				if part(d) == i {
					found[i] = append(found[i], prediction{
						d, slices.Index(analysis.DocumentTypes(), d.Type),
						w.Probabilities(d.Features), w.Probabilities(d.Bare), nil,
					})
				}
			}
		})
	}
	all.Wait()

	return slices.Concat(found...)
}

// typeSamples returns the documents as samples for training.
func typeSamples(documents []Document) []train.TypeSample {
	samples := make([]train.TypeSample, len(documents))
	for i, d := range documents {
		samples[i] = train.TypeSample{Type: d.Type, Features: d.Features}
	}

	return samples
}

// documentTypes measures how well the document type is predicted by models that saw no document of the same
// repository. It also measures the calibration, fitted on one half and measured on the other.
func documentTypes(corpus string) ([]Row, error) {
	documents, err := Documents(corpus)
	if err != nil {
		return nil, err
	}
	all := heldOut(documents, train.FitTypes)
	given := crossCalibrated(foreign(all))
	own := slices.DeleteFunc(slices.Clone(all), func(p prediction) bool { return !p.document.Own })
	other := slices.DeleteFunc(
		slices.Clone(given),
		func(p prediction) bool { return analysis.Analyze(p.document.Markdown).Language == "en" },
	)
	precision, coverage := confident(given, 0.8)
	first := func(p []prediction) float64 { return macroF1(p, prediction.best) }
	rows := []Row{
		AtLeast("document type, macro F1"+interval(given, first), first(given), 0.88),
		AtLeast("document type, among the first two"+interval(given, amongTwo), amongTwo(given), 0.95),
		AtLeast(
			"document type, macro F1 without front matter",
			macroF1(given, func(p prediction) int { return top(p.bare) }),
			0.85,
		),
		AtLeast("document type, precision at confidence 0.8", precision, 0.95),
		AtLeast("document type, coverage at confidence 0.8", coverage, 0.75),
		AtMost("document type, expected calibration error", calibrationError(given), 0.05),
		AtMost("document type, surest answer", surest(given), 0.98),
		AtLeast("document type, share right where not in English"+interval(other, amongOne), amongOne(other), 0.65),
		AtLeast("document type, macro F1 on own samples", first(own), 0.85),
	}

	return append(rows, ablation(documents, given)...), nil
}

// ablation measures simpler models on the same documents, and how much better the trained model is.
func ablation(documents []Document, trained []prediction) (rows []Row) {
	f1 := func(p []prediction) float64 { return macroF1(p, prediction.best) }

	gain := func(p []prediction) float64 {
		return f1(p) - macroF1(p, func(p prediction) int { return top(p.rival) })
	}
	for _, m := range []struct {
		name  string
		learn fit
	}{
		{"words of the text by TF-IDF, logistic regression", nil},
		{"structure alone, as set by hand", func([]train.TypeSample) analysis.Weights {
			return withoutLexicon(analysis.PriorWeights())
		}},
		{"structure and lexicon, as set by hand", func([]train.TypeSample) analysis.Weights {
			return analysis.PriorWeights()
		}},
	} {
		var p []prediction
		if m.learn == nil {
			p = crossCalibrated(foreign(bagOfWords(documents)))
		} else {
			p = crossCalibrated(foreign(heldOut(documents, m.learn)))
		}

		byName := map[string]prediction{}
		for _, rival := range p {
			byName[rival.document.Group+rival.document.Name] = rival
		}

		both := slices.Clone(trained)
		for i := range both {
			both[i].rival = byName[both[i].document.Group+both[i].document.Name].probabilities
		}
		rows = append(rows, AtMost("macro F1 of "+m.name+interval(p, f1), f1(p), math.Round(1000*f1(trained))/1000),
			AtMost("first two of "+m.name, amongTwo(p), math.Round(1000*amongTwo(trained))/1000),
			AtLeast("gain of training over "+m.name+interval(both, gain), gain(both), 0),
			AtLeast("the same in bits a document"+interval(both, bits), bits(both), 0))
	}

	return rows
}

// bits returns the mean of log2(p/q), where p and q are the probabilities that the prediction and its rival give
// to the true type. It shows differences that a count of right answers hides.
func bits(predictions []prediction) float64 {
	sum := 0.0
	for _, p := range predictions {
		sum += math.Log2(max(p.probabilities[p.truth], 1e-9) / max(p.rival[p.truth], 1e-9))
	}

	return sum / float64(max(len(predictions), 1))
}

// withoutLexicon leaves only the weights of structure and the bias.
func withoutLexicon(w analysis.Weights) analysis.Weights {
	for _, row := range w.Rows {
		clear(row[:analysis.LexiconFeatures()])
	}

	return w
}

func amongOne(p []prediction) float64 { return amongFirst(p, 1) }
func amongTwo(p []prediction) float64 { return amongFirst(p, 2) }

// surest returns the highest probability of all answers.
func surest(predictions []prediction) (most float64) {
	for _, p := range predictions {
		most = max(most, p.probabilities[p.best()])
	}

	return most
}

// Mistakes lists the held-out documents with a wrong type, one per line: name, predicted type and its probability,
// true type and its probability.
func Mistakes(corpus string) (lines []string, err error) {
	documents, err := Documents(corpus)
	if err != nil {
		return nil, err
	}
	types := analysis.DocumentTypes()

	for _, p := range crossCalibrated(heldOut(documents, train.FitTypes)) {
		if b := p.best(); b != p.truth {
			lines = append(
				lines,
				fmt.Sprintf(
					"%s: %s %.2f, %s %.2f",
					p.document.Name,
					types[b],
					p.probabilities[b],
					types[p.truth],
					p.probabilities[p.truth],
				),
			)
		}
	}
	slices.Sort(lines)

	return lines, nil
}

// macroF1 returns the mean of the F1 scores of all types that occur.
func macroF1(predictions []prediction, answer func(prediction) int) float64 {
	types := len(analysis.DocumentTypes())
	hits, predicted, actual := make([]float64, types), make([]float64, types), make([]float64, types)

	for _, p := range predictions {
		a := answer(p)
		predicted[a]++

		actual[p.truth]++
		if a == p.truth {
			hits[a]++
		}
	}
	sum, n := 0.0, 0.0

	for t := range actual {
		if actual[t] > 0 {
			sum += 2 * hits[t] / (predicted[t] + actual[t])
			n++
		}
	}

	return sum / max(n, 1)
}

// amongFirst returns the share of documents whose type is among the n most probable ones.
func amongFirst(predictions []prediction, n int) float64 {
	hits := 0

	for _, p := range predictions {
		better := 0

		for _, v := range p.probabilities {
			if v > p.probabilities[p.truth] {
				better++
			}
		}

		if better < n {
			hits++
		}
	}

	return float64(hits) / float64(max(len(predictions), 1))
}

// confident returns the precision of the predictions with at least this confidence, and the share of documents
// that have such a prediction.
func confident(predictions []prediction, limit float64) (precision, coverage float64) {
	sure, right := 0.0, 0.0

	for _, p := range predictions {
		if b := p.best(); p.probabilities[b] >= limit {
			sure++

			if b == p.truth {
				right++
			}
		}
	}

	return right / max(sure, 1), sure / float64(max(len(predictions), 1))
}
