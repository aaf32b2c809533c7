package train

import (
	"math"
	"slices"

	"presswork/internal/analysis"
)

// Parameters of the training of document types. pull is the strength, per document, with which weights are drawn
// back to their priors.
const (
	steps    = 300
	rate     = 0.6
	momentum = 0.9
	pull     = 0.001
)

// TypeSample is a document's type and features.
type TypeSample struct {
	Type     string
	Features []float64
}

// FitTypes trains the weights of document types by gradient descent with momentum on the cross-entropy. Types have
// partly equal weights, and each weight is drawn to its prior.
func FitTypes(samples []TypeSample) analysis.Weights {
	return FitTypesFrom(analysis.PriorWeights(), samples, steps)
}

// FitTypesFrom is FitTypes with other priors and another number of steps.
func FitTypesFrom(prior analysis.Weights, samples []TypeSample, steps int) analysis.Weights {
	types := analysis.DocumentTypes()

	label, share := make([]int, len(samples)), make([]float64, len(types))
	for i, d := range samples {
		label[i] = slices.Index(types, d.Type)
		share[label[i]]++
	}

	weight, total := make([]float64, len(samples)), 0.0
	for i := range samples {
		weight[i] = 1 / math.Sqrt(share[label[i]])
		total += weight[i]
	}

	w := analysis.Weights{Rows: make([][]float64, len(types)), Calibration: analysis.Calibration{Temperature: 1}}
	for t, row := range prior.Rows {
		w.Rows[t] = slices.Clone(row)
	}
	speed := make([][]float64, len(types))

	slope := make([][]float64, len(types))
	for t := range speed {
		speed[t], slope[t] = make([]float64, len(w.Rows[t])), make([]float64, len(w.Rows[t]))
	}

	for range steps {
		for t, row := range w.Rows {
			for c := range row {
				slope[t][c] = pull * (row[c] - prior.Rows[t][c])
			}
		}

		for i, d := range samples {
			p := w.Probabilities(d.Features)

			p[label[i]]--
			for t := range p {
				g := p[t] * weight[i] / total
				if math.Abs(g) < 1e-9 {
					continue
				}

				row := slope[t]
				for c, v := range d.Features {
					row[c] += g * v
				}
				row[len(d.Features)] += g
			}
		}

		for t, row := range w.Rows {
			for c := range row {
				speed[t][c] = momentum*speed[t][c] - rate*slope[t][c]
				row[c] += speed[t][c]
			}
		}
	}

	return w
}
