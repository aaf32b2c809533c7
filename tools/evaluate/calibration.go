package evaluate

import (
	"math"
	"slices"

	"presswork/internal/analysis"
	"presswork/tools/train"
)

// calibrated holds the parameters that make a probability match the share of right answers: see analysis.Weights.
type calibrated struct{ temperature, slack float64 }

// crossCalibrated calibrates the predictions of each half of the groups with parameters fitted on the other half.
func crossCalibrated(predictions []prediction) []prediction {
	groups := groupsOf(predictions)
	halves := [2][]prediction{}

	for _, p := range predictions {
		h := slices.Index(groups, p.document.Group) % 2
		halves[h] = append(halves[h], p)
	}
	out := make([]prediction, 0, len(predictions))

	for h, half := range halves {
		english, other := byLanguage(halves[1-h])
		inEnglish, inOther := calibrate(english), calibrate(other)

		for _, p := range half {
			c := inEnglish
			if p.isOther() {
				c = inOther
			}
			p.probabilities, p.bare = c.apply(p.probabilities), c.apply(p.bare)
			out = append(out, p)
		}
	}

	return out
}

// byLanguage separates the predictions for documents in English from those in other languages. Documents without a
// stored language count as English, as most of them are.
func byLanguage(predictions []prediction) (english, other []prediction) {
	for _, p := range predictions {
		if p.isOther() {
			other = append(other, p)
		} else {
			english = append(english, p)
		}
	}

	return english, other
}

// isOther reports whether the document is in another language than English.
func (p prediction) isOther() bool { return p.document.Language != "" && p.document.Language != "en" }

// groupsOf returns the repositories of the documents, each once.
func groupsOf(predictions []prediction) (names []string) {
	for _, p := range predictions {
		names = append(names, p.document.Group)
	}
	slices.Sort(names)

	return slices.Compact(names)
}

// calibrationError returns the expected calibration error of the first choice over ten bins of equal width. It is
// the mean of |confidence − accuracy|, weighted by the predictions in each bin.
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
	english, other := byLanguage(foreign(heldOut(documents, train.FitTypes)))
	c := calibrate(english)
	w.Temperature, w.Slack = c.temperature, c.slack

	if len(other) > 0 {
		c = calibrate(other)
		w.OtherTemperature, w.OtherSlack = c.temperature, c.slack
	}

	return w
}

// foreign returns the predictions of documents that are not the project's own samples.
func foreign(predictions []prediction) []prediction {
	return slices.DeleteFunc(slices.Clone(predictions), func(p prediction) bool { return p.document.Own })
}

// leastSlack limits every probability to about 0.97. The corpus has too few documents to prove a higher one.
const leastSlack = 0.03

// calibrate returns the parameters with the lowest cross-entropy on a grid. The temperature is at least 1, so that
// probabilities never become sharper.
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

// apply returns the calibrated form of a distribution.
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

// correlation returns Pearson's r of two series of the same length. It is 0 if one of them does not vary.
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
