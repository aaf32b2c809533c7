package analysis

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

var (
	//go:embed data/doctype/priors.txt
	typePriorData string
	//go:embed data/doctype/weights.txt
	typeWeightData string
)

// Weights are a multinomial logistic model of document types: a row per type of
// DocumentTypes, a column per feature and the bias last. Temperature
// divides the logits, so that a probability is how often it is right.
type Weights struct {
	Rows        [][]float64
	Temperature float64
}

var typeModel = sync.OnceValue(func() Weights {
	w, err := parseWeights(typeWeightData)
	if err != nil {
		panic("analysis: weights of document types: " + err.Error())
	}
	return w
})

// PriorWeights is what is known before training.
func PriorWeights() Weights {
	w, err := parseWeights(typePriorData)
	if err != nil {
		panic("analysis: priors of document types: " + err.Error())
	}
	own := [spots]float64{5, 5, 5, 3}
	types := len(w.Rows)
	for t, row := range w.Rows {
		for s, weight := range own {
			if column := s*types + t; row[column] == 0 {
				row[column] = weight
			}
		}
	}
	return w
}

// parseWeights reads lines "[type] feature weight feature weight …" and
// "temperature t"; what is not given is 0.
func parseWeights(data string) (Weights, error) {
	types, names := DocumentTypes(), append(featureNames(), "bias")
	w := Weights{Rows: make([][]float64, len(types)), Temperature: 1}
	for t := range w.Rows {
		w.Rows[t] = make([]float64, len(names))
	}
	column := make(map[string]int, len(names))
	for i, name := range names {
		column[name] = i
	}
	for line := range strings.Lines(data) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if fields[0] == "temperature" && len(fields) == 2 {
			t, err := strconv.ParseFloat(fields[1], 64)
			if err != nil || t <= 0 {
				return w, fmt.Errorf("%q is no temperature above 0", fields[1])
			}
			w.Temperature = t
			continue
		}
		row := slices.Index(types, strings.Trim(fields[0], "[]"))
		if row < 0 || len(fields)%2 == 0 {
			return w, fmt.Errorf("%.40q is no [type] with pairs of feature and weight", line)
		}
		for i := 1; i < len(fields); i += 2 {
			c, ok := column[fields[i]]
			v, err := strconv.ParseFloat(fields[i+1], 64)
			if !ok || err != nil {
				return w, fmt.Errorf("%s %s is no feature with a weight", fields[i], fields[i+1])
			}
			w.Rows[row][c] = v
		}
	}
	return w, nil
}

// String writes the weights in the form parseWeights reads, three digits each.
func (w Weights) String() string {
	types, names := DocumentTypes(), append(featureNames(), "bias")
	var out strings.Builder
	fmt.Fprintf(&out, "temperature %.3f\n", w.Temperature)
	for t, row := range w.Rows {
		fmt.Fprintf(&out, "[%s]", types[t])
		for i, v := range row {
			if math.Abs(v) >= 0.0005 {
				fmt.Fprintf(&out, " %s %s", names[i], strconv.FormatFloat(math.Round(v*1000)/1000, 'f', -1, 64))
			}
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// Probabilities returns how probable each of DocumentTypes is for a
// document with these features, in that order.
func (w Weights) Probabilities(x []float64) []float64 {
	p := make([]float64, len(w.Rows))
	top := math.Inf(-1)
	for t, row := range w.Rows {
		z := row[len(x)]
		for i, v := range x {
			z += row[i] * v
		}
		p[t] = z / w.Temperature
		top = max(top, p[t])
	}
	sum := 0.0
	for t := range p {
		p[t] = math.Exp(p[t] - top)
		sum += p[t]
	}
	for t := range p {
		p[t] /= sum
	}
	return p
}

// DocumentFeatures measures a document for Weights: values between 0 and 1.
func DocumentFeatures(markdown []byte) []float64 { return features(read(markdown)) }

// detectType ranks the document types, the most probable first.
func detectType(r *reading) []TypeProbability {
	p := typeModel().Probabilities(features(r))
	types := DocumentTypes()
	ranked := make([]TypeProbability, len(types))
	for i, t := range types {
		ranked[i] = TypeProbability{t, p[i]}
	}
	slices.SortStableFunc(ranked, func(a, b TypeProbability) int { return cmp.Compare(b.Probability, a.Probability) })
	return ranked
}
