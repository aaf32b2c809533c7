package train

import (
	"math"

	"presswork/internal/analysis"
)

// FormalitySample is a sentence and the formality that people rated it with, 0 to 1.
type FormalitySample struct {
	Text   string
	Rating float64
}

// formalityPenalty pulls the weights of standardized measures towards zero.
const formalityPenalty = 20

// FitFormality trains a model. The same samples give the same model.
func FitFormality(samples []FormalitySample) *analysis.FormalityModel {
	n := len(analysis.FormalityMeasures(""))
	rows, y := make([]sparseRow, len(samples)), make([]float64, len(samples))
	measures := make([][]float64, len(samples))
	mean, deviation := make([]float64, n), make([]float64, n)

	for i, s := range samples {
		measures[i], y[i] = analysis.FormalityMeasures(s.Text), s.Rating
		for k, v := range measures[i] {
			mean[k] += v / float64(len(samples))
		}
	}

	for _, m := range measures {
		for k, v := range m {
			deviation[k] += (v - mean[k]) * (v - mean[k]) / float64(len(samples))
		}
	}

	penalty := make([]float64, n)
	for k := range n {
		if deviation[k] = math.Sqrt(deviation[k]); deviation[k] == 0 {
			deviation[k] = 1
		}
		penalty[k] = formalityPenalty
	}
	penalty[0], mean[0], deviation[0] = 0.001, 0, 1

	for i, m := range measures {
		for k, v := range m {
			rows[i].add(k, (v-mean[k])/deviation[k])
		}
	}
	w := fitRidge(rows, y, penalty)

	weights := make([]float64, n)
	for k := range n {
		weights[k] = w[k] / deviation[k]
		if k > 0 {
			weights[0] -= weights[k] * mean[k]
		}
	}

	return analysis.NewFormalityModel(weights)
}
