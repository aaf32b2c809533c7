package evaluate

import (
	"math"
	"slices"

	"presswork/internal/analysis"
	"presswork/tools/train"
)

// calibrated is a fit of probabilities to how often they are right: see
// analysis.Weights.
type calibrated struct{ temperature, slack float64 }

// crossCalibrated calibrates each prediction by what the other half of the
// groups asks for.
func crossCalibrated(predictions []prediction) []prediction {
	groups := groupsOf(predictions)
	halves := [2][]prediction{}

	for _, p := range predictions {
		h := slices.Index(groups, p.document.Group) % 2
		halves[h] = append(halves[h], p)
	}
	out := make([]prediction, 0, len(predictions))

	for h, half := range halves {
		c := calibrate(halves[1-h])
		for _, p := range half {
			p.probabilities, p.bare = c.apply(p.probabilities), c.apply(p.bare)
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

// TrainCalibrated trains on all documents. Its calibration uses predictions of held-out documents from
// repositories only, because our own samples are easier than users' documents.
func TrainCalibrated(documents []Document) analysis.Weights {
	w := train.FitTypes(typeSamples(documents))
	c := calibrate(foreign(heldOut(documents, train.FitTypes)))
	w.Temperature, w.Slack = c.temperature, c.slack

	return w
}

// foreign are the predictions of documents that are not our own.
func foreign(predictions []prediction) []prediction {
	return slices.DeleteFunc(slices.Clone(predictions), func(p prediction) bool { return p.document.Own })
}

// leastSlack caps the surest answer at 0.97: no more can be shown on the
// documents there are.
const leastSlack = 0.03

// calibrate is what makes probabilities honest: the least cross-entropy over a
// grid, never sharper than they are.
func calibrate(predictions []prediction) calibrated {
	best, least := calibrated{1, leastSlack}, math.Inf(1)
	for t := 1.0; t <= 3; t += 0.05 {
		for _, slack := range []float64{leastSlack, 0.04, 0.06, 0.08, 0.1, 0.15} {
			c, loss := calibrated{t, slack}, 0.0
			for _, p := range predictions {
				loss -= math.Log(max(c.apply(p.probabilities)[p.truth], 1e-9))
			}

			if loss < least {
				best, least = c, loss
			}
		}
	}

	return best
}

// apply calibrates a distribution.
func (c calibrated) apply(p []float64) []float64 {
	out, sum := make([]float64, len(p)), 0.0
	for i, v := range p {
		out[i] = math.Pow(v, 1/c.temperature)
		sum += out[i]
	}

	for i := range out {
		out[i] = (1-c.slack)*out[i]/sum + c.slack/float64(len(p))
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
