package evaluate

import (
	"math"
	"slices"

	"presswork/internal/analysis"
)

// Numbers of the training of document types. pull is how strongly weights are
// drawn back to their priors, per document.
const (
	steps    = 300
	rate     = 0.6
	momentum = 0.9
	pull     = 0.004
)

// train learns weights by gradient descent with momentum on the cross-entropy,
// each type weighted alike in part, each weight drawn to its prior.
func train(documents []Document) analysis.Weights {
	types := analysis.DocumentTypes()
	label, share := make([]int, len(documents)), make([]float64, len(types))
	for i, d := range documents {
		label[i] = slices.Index(types, d.Type)
		share[label[i]]++
	}
	weight, total := make([]float64, len(documents)), 0.0
	for i := range documents {
		weight[i] = 1 / math.Sqrt(share[label[i]])
		total += weight[i]
	}
	prior, w := analysis.PriorWeights(), analysis.PriorWeights()
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
		for i, d := range documents {
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

// TrainCalibrated learns from all documents, and its temperature from
// predictions of held-out ones.
func TrainCalibrated(documents []Document) analysis.Weights {
	w := train(documents)
	w.Temperature = temperature(heldOut(documents))
	return w
}

// temperature is what best divides the logits of predictions, so that their
// probabilities are honest: the least cross-entropy over a grid.
func temperature(predictions []prediction) float64 {
	best, least := 1.0, math.Inf(1)
	for t := 0.3; t <= 3; t *= 1.03 {
		loss := 0.0
		for _, p := range predictions {
			loss -= math.Log(max(cooled(p.probabilities, t)[p.truth], 1e-9))
		}
		if loss < least {
			best, least = t, loss
		}
	}
	return best
}

// cooled is a distribution at another temperature.
func cooled(p []float64, t float64) []float64 {
	out, sum := make([]float64, len(p)), 0.0
	for i, v := range p {
		out[i] = math.Pow(v, 1/t)
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}
