package evaluate

import (
	"io"
	"math"
	"slices"

	"presswork/internal/analysis"
	"presswork/internal/analysis/lang"
	"presswork/tools/train"
)

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
		fitted := calibrations(halves[1-h])

		for _, p := range half {
			c := fitted[lang.GroupOf(p.document.Language)]
			p.probabilities, p.bare = apply(c, p.probabilities), apply(c, p.bare)
			out = append(out, p)
		}
	}

	return out
}

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
// repositories only, because our own samples are easier than users' documents. It writes the figures of the same
// predictions to w, by group of languages, calibrated by halves.
func TrainCalibrated(documents []Document, w io.Writer) (analysis.Weights, error) {
	documents = filled(documents)
	weights := train.FitTypes(typeSamples(documents))
	unseen := foreign(heldOut(documents, train.FitTypes))
	weights.Groups = calibrations(unseen)

	return weights, writeGroups(w, crossCalibrated(unseen))
}

// filled returns the documents without gaps: a feature that an earlier definition lacks gets its mean over the
// documents that have it. So the training learns nothing from it.
func filled(documents []Document) []Document {
	documents = slices.Clone(documents)
	mean := make([]float64, len(analysis.DocumentFeatures(nil)))
	n := 0.0

	for _, d := range documents {
		if !d.Own && (d.Known == 0 || d.Known == len(mean)) {
			n++

			for i, v := range d.Features {
				mean[i] += v
			}
		}
	}

	for k := range documents {
		if d := &documents[k]; d.Known > 0 {
			d.Features = slices.Clone(d.Features)
			for i := d.Known; i < len(mean); i++ {
				d.Features[i] = mean[i] / max(n, 1)
			}
			d.Bare = d.Features
		}
	}

	return documents
}

// foreign returns the predictions of documents that are not the project's own samples.
func foreign(predictions []prediction) []prediction {
	return slices.DeleteFunc(slices.Clone(predictions), func(p prediction) bool { return p.document.Own })
}

// leastSlack limits every probability to about 0.97. The corpus has too few documents to prove a higher one.
const leastSlack = 0.03

// otherGroups is the weight of the documents of other groups of languages in a group's calibration. It keeps small
// groups from extremes.
const otherGroups = 0.2

// leastTemperature keeps probabilities from becoming sharper. The cues were written with some of the training documents
// at hand, so cross-validation is too sure of them.
const leastTemperature = 1

// calibrations fits the calibration of each group of languages.
func calibrations(predictions []prediction) map[lang.Group]analysis.Calibration {
	fitted := map[lang.Group]analysis.Calibration{}
	for _, group := range lang.Groups() {
		fitted[group] = calibrate(predictions, func(p prediction) float64 {
			if lang.GroupOf(p.document.Language) == group {
				return 1
			}

			return otherGroups
		})
	}

	return fitted
}

// calibrate returns the parameters with the lowest weighted cross-entropy on a grid.
func calibrate(predictions []prediction, weight func(prediction) float64) analysis.Calibration {
	best, least := analysis.Calibration{Temperature: leastTemperature, Slack: leastSlack}, math.Inf(1)
	for t := float64(leastTemperature); t <= 3; t += 0.05 {
		for _, slack := range []float64{leastSlack, 0.04, 0.06, 0.08, 0.1, 0.15} {
			c, loss := analysis.Calibration{Temperature: t, Slack: slack}, 0.0
			for _, p := range predictions {
				loss -= weight(p) * math.Log(max(apply(c, p.probabilities)[p.truth], 1e-9))
			}

			if loss < least {
				best, least = c, loss
			}
		}
	}

	return best
}

// apply returns the calibrated form of a distribution.
func apply(c analysis.Calibration, p []float64) []float64 {
	out, sum := make([]float64, len(p)), 0.0
	for i, v := range p {
		out[i] = math.Pow(v, 1/c.Temperature)
		sum += out[i]
	}

	for i := range out {
		out[i] = (1-c.Slack)*out[i]/sum + c.Slack/float64(len(p))
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
