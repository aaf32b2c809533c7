package evaluate

import (
	"math"
	"slices"

	"presswork/internal/analysis"
	"presswork/internal/analysis/train"
)

// crossCalibrated sets each prediction's probabilities to the temperature that
// the other half of the groups asks for.
func crossCalibrated(predictions []prediction) []prediction {
	halves := [2][]prediction{}
	for i, group := range groupsOf(predictions) {
		for _, p := range predictions {
			if p.document.Group == group {
				halves[i%2] = append(halves[i%2], p)
			}
		}
	}
	out := make([]prediction, 0, len(predictions))
	for h, half := range halves {
		t := temperature(halves[1-h])
		for _, p := range half {
			p.probabilities, p.bare = cooled(p.probabilities, t), cooled(p.bare, t)
			out = append(out, p)
		}
	}
	return out
}

func groupsOf(predictions []prediction) (names []string) {
	for _, p := range predictions {
		names = append(names, p.document.Group)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// calibrationError is the expected calibration error of the first choice over
// ten bins of equal width: |confidence − accuracy|, weighted by their fill.
func calibrationError(predictions []prediction) float64 {
	var confidence, right, n [10]float64
	for _, p := range predictions {
		b := p.best()
		bin := min(9, int(p.probabilities[b]*10))
		n[bin]++
		confidence[bin] += p.probabilities[b]
		if b == p.truth {
			right[bin]++
		}
	}
	sum := 0.0
	for bin := range n {
		if d := confidence[bin] - right[bin]; d > 0 {
			sum += d
		} else {
			sum -= d
		}
	}
	return sum / float64(max(len(predictions), 1))
}

// TrainCalibrated learns from all documents, and its temperature from
// predictions of held-out ones.
func TrainCalibrated(documents []Document) analysis.Weights {
	w := train.FitTypes(typeSamples(documents))
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

// correlation is Pearson's r of two series of the same length, 0 where one does
// not vary.
func correlation(a, b []float64) float64 {
	n := float64(len(a))
	var sa, sb, saa, sbb, sab float64
	for i := range a {
		sa, sb = sa+a[i], sb+b[i]
		saa, sbb, sab = saa+a[i]*a[i], sbb+b[i]*b[i], sab+a[i]*b[i]
	}
	d := math.Sqrt((n*saa - sa*sa) * (n*sbb - sb*sb))
	if d == 0 || math.IsNaN(d) {
		return 0
	}
	return (n*sab - sa*sb) / d
}
