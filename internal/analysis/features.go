package analysis

import (
	"math"
)

// featureNames names the features of a document, in order: four of the lexicon
// per type, then the structural ones.
func featureNames() []string {
	var names []string

	for _, p := range spotNames {
		for _, t := range DocumentTypes() {
			names = append(names, t+"."+p)
		}
	}

	return append(names, structureNames...)
}

// lexiconScale is the score, per place, at which a feature of the lexicon is 63 %
// of the 1 it grows to.
var lexiconScale = [spots]float64{inTitle: 3, inHeading: 4.5, inText: 5, inFront: 3}

// features measures a document. All values lie between 0 and 1.
func features(r *reading) []float64 {
	found := typeTerms().score(r)

	x := make([]float64, 0, len(structureNames)+int(spots)*len(found[0]))
	for p := range found {
		for _, v := range found[p] {
			x = append(x, 1-math.Exp(-v/lexiconScale[p]))
		}
	}

	return append(x, structure(r)...)
}

// ratio is a/b, 0 where b is none.
func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}

	return float64(a) / float64(b)
}

// grown maps a rate to 0…1: half is what gives a half.
func grown(rate, half float64) float64 { return rate / (rate + half) }

func truth(b bool) float64 {
	if b {
		return 1
	}

	return 0
}
