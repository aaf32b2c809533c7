package evaluate

import (
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"presswork/internal/analysis"
	"presswork/internal/analysis/train"
)

// folds is how many parts the samples are cut into when they are judged.
const folds = 5

// samples is where the project's own documents lie, from the repository's root.
var samples = filepath.Join("internal", "analysis", "train", "samples")

// prediction is what a model found of a document it had not seen.
type prediction struct {
	document      Document
	truth         int
	probabilities []float64
	bare          []float64 // without its front matter
}

func (p prediction) best() int { return top(p.probabilities) }

func top(p []float64) int { return slices.Index(p, slices.Max(p)) }

// heldOut predicts every document by a model that saw no other of its group.
func heldOut(documents []Document) []prediction {
	groups := map[string][]Document{}
	for _, d := range documents {
		groups[d.Group] = append(groups[d.Group], d)
	}
	names := slices.Sorted(maps.Keys(groups))
	found := make([][]prediction, len(names))
	var all sync.WaitGroup
	turn := make(chan struct{}, runtime.NumCPU())
	for i, name := range names {
		all.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			w := train.FitTypes(typeSamples(slices.DeleteFunc(slices.Clone(documents), func(d Document) bool { return d.Group == name })))
			for _, d := range groups[name] {
				found[i] = append(found[i], prediction{d, slices.Index(analysis.DocumentTypes(), d.Type),
					w.Probabilities(d.Features), w.Probabilities(d.Bare)})
			}
		})
	}
	all.Wait()
	return slices.Concat(found...)
}

func typeSamples(documents []Document) []train.TypeSample {
	samples := make([]train.TypeSample, len(documents))
	for i, d := range documents {
		samples[i] = train.TypeSample{Type: d.Type, Features: d.Features}
	}
	return samples
}

// documentTypes measures the document type, leaving each repository out of what
// judges it, and the calibration: fitted on one half, shown on the other.
func documentTypes(corpus string) ([]Row, error) {
	documents, err := Documents(corpus)
	if err != nil {
		return nil, err
	}
	all := heldOut(documents)
	calibrated := crossCalibrated(all)
	given := slices.DeleteFunc(slices.Clone(calibrated), func(p prediction) bool { return p.document.Own })
	own := slices.DeleteFunc(slices.Clone(calibrated), func(p prediction) bool { return !p.document.Own })
	precision, coverage := confident(given, 0.8)
	return []Row{
		AtLeast("document type, macro F1", macroF1(given, prediction.best), 0.85),
		AtLeast("document type, among the first two", amongFirst(given, 2), 0.95),
		AtLeast("document type, macro F1 without front matter", macroF1(given, func(p prediction) int { return top(p.bare) }), 0.78),
		AtLeast("document type, precision at confidence 0.8", precision, 0.95),
		AtLeast("document type, coverage at confidence 0.8", coverage, 0.75),
		AtLeast("document type, macro F1 on own samples", macroF1(own, prediction.best), 0.85),
		AtMost("document type, expected calibration error", calibrationError(calibrated), 0.05),
	}, nil
}

// Mistakes lists the held-out documents that were taken for another type, a line
// each: what for and how surely, and the type it is of.
func Mistakes(corpus string) (lines []string, err error) {
	documents, err := Documents(corpus)
	if err != nil {
		return nil, err
	}
	types := analysis.DocumentTypes()
	for _, p := range crossCalibrated(heldOut(documents)) {
		if b := p.best(); b != p.truth {
			lines = append(lines, fmt.Sprintf("%s: %s %.2f, %s %.2f", p.document.Name, types[b], p.probabilities[b], types[p.truth], p.probabilities[p.truth]))
		}
	}
	slices.Sort(lines)
	return lines, nil
}

func macroF1(predictions []prediction, answer func(prediction) int) float64 {
	types := len(analysis.DocumentTypes())
	hit, said, is := make([]float64, types), make([]float64, types), make([]float64, types)
	for _, p := range predictions {
		a := answer(p)
		said[a]++
		is[p.truth]++
		if a == p.truth {
			hit[a]++
		}
	}
	sum, n := 0.0, 0.0
	for t := range is {
		if is[t] > 0 {
			sum += 2 * hit[t] / (said[t] + is[t])
			n++
		}
	}
	return sum / max(n, 1)
}

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

// confident returns the precision of the predictions with this confidence or more, and
// the share of documents that have one.
func confident(predictions []prediction, limit float64) (precision, coverage float64) {
	said, right := 0.0, 0.0
	for _, p := range predictions {
		if b := p.best(); p.probabilities[b] >= limit {
			said++
			if b == p.truth {
				right++
			}
		}
	}
	return right / max(said, 1), said / float64(max(len(predictions), 1))
}
