package evaluate

import (
	"slices"
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
