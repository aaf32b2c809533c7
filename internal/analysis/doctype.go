package analysis

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"presswork/internal/analysis/lang"
)

var (
	//go:embed data/doctype/priors.txt
	typePriorData string
	//go:embed data/doctype/weights.txt
	typeWeightData string
)

// Weights is a multinomial logistic model of document types. It has one row for each of DocumentTypes and one
// column for each feature; the bias is last. The calibration is the one in use. Groups has that of each group of
// languages; see In.
type Weights struct {
	Rows [][]float64
	Calibration
	Groups map[lang.Group]Calibration
}

// Calibration makes a probability of 0.8 right in 80 % of cases. Temperature divides the logits, and the probability
// Slack is spread evenly over all types.
type Calibration struct{ Temperature, Slack float64 }

// In returns the weights for documents in a language, a BCP 47 tag.
func (w Weights) In(language string) Weights {
	if c, ok := w.Groups[lang.GroupOf(language)]; ok {
		w.Calibration = c
	}

	return w
}

// typeModel returns the embedded weights of document types.
var typeModel = sync.OnceValue(func() Weights {
	w, err := parseWeights(typeWeightData)
	if err != nil {
		panic("analysis: weights of document types: " + err.Error())
	}

	return w
})

// PriorWeights returns the weights set by hand, where training starts.
func PriorWeights() Weights {
	w, err := parseWeights(typePriorData)
	if err != nil {
		panic("analysis: priors of document types: " + err.Error())
	}
	// A type's own lexicon features get these weights by spot, unless the file sets others.
	ownWeights := [spotCount]float64{inTitle: 5, inHeading: 5, inText: 5, inFront: 3}

	types := len(w.Rows)
	for t, row := range w.Rows {
		for s, weight := range ownWeights {
			if column := s*types + t; row[column] == 0 {
				row[column] = weight
			}
		}
	}

	return w
}

// parseWeights reads lines "[type] feature weight feature weight …" and "calibration GROUP TEMPERATURE SLACK". Weights
// that are not listed are 0.
func parseWeights(data string) (Weights, error) {
	types, names := DocumentTypes(), append(featureNames(), "bias")

	w := Weights{
		Rows:        make([][]float64, len(types)),
		Calibration: Calibration{Temperature: 1},
		Groups:      map[lang.Group]Calibration{},
	}
	for t := range w.Rows {
		w.Rows[t] = make([]float64, len(names))
	}

	column := make(map[string]int, len(names))
	for i, name := range names {
		column[name] = i
	}

	for line := range strings.Lines(data) {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}

		if fields[0] == "calibration" && len(fields) == 4 {
			temperature, err := strconv.ParseFloat(fields[2], 64)

			slack, errSlack := strconv.ParseFloat(fields[3], 64)
			if err != nil || errSlack != nil || temperature <= 0 || slack < 0 || slack >= 1 {
				return w, fmt.Errorf("%.40q: want a group, a temperature above 0 and a slack from 0 to below 1", line)
			}
			w.Groups[lang.Group(fields[1])] = Calibration{temperature, slack}
			continue
		}

		row := slices.Index(types, strings.Trim(fields[0], "[]"))
		if row < 0 || len(fields)%2 == 0 {
			return w, fmt.Errorf("%.40q: want a [type] and pairs of feature and weight", line)
		}

		for i := 1; i < len(fields); i += 2 {
			c, ok := column[fields[i]]

			v, err := strconv.ParseFloat(fields[i+1], 64)
			if !ok || err != nil {
				return w, fmt.Errorf("%s %s: want a known feature and a number", fields[i], fields[i+1])
			}
			w.Rows[row][c] = v
		}
	}

	return w, nil
}

// String returns the weights in the form that parseWeights reads, rounded to three decimals.
func (w Weights) String() string {
	types, names := DocumentTypes(), append(featureNames(), "bias")
	var out strings.Builder

	for _, group := range slices.Sorted(maps.Keys(w.Groups)) {
		c := w.Groups[group]
		fmt.Fprintf(&out, "calibration %s %.3f %.3f\n", group, c.Temperature, c.Slack)
	}

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

// Probabilities returns the probability of each of DocumentTypes, in that order, for a document with the features
// x. The probabilities add up to 1.
func (w Weights) Probabilities(x []float64) []float64 {
	p := make([]float64, len(w.Rows))
	highest := math.Inf(-1)

	for t, row := range w.Rows {
		z := row[len(x)]
		for i, v := range x {
			z += row[i] * v
		}
		p[t] = z / w.Temperature
		highest = max(highest, p[t])
	}
	sum := 0.0

	for t := range p {
		p[t] = math.Exp(p[t] - highest) // no overflow: the exponent is at most 0
		sum += p[t]
	}

	for t := range p {
		p[t] = (1-w.Slack)*p[t]/sum + w.Slack/float64(len(p))
	}

	return p
}

// LexiconFeatures returns the number of lexicon features. They come first in DocumentFeatures, before the
// structural ones.
func LexiconFeatures() int { return int(spotCount) * len(DocumentTypes()) }

// DocumentFeatures returns the features that Weights applies to, each between 0 and 1.
func DocumentFeatures(markdown []byte) []float64 { return features(read(markdown)) }

// rankTypes returns the document types for the features x of a document in a language, the most probable first.
func rankTypes(x []float64, language string) []TypeProbability {
	p := typeModel().In(language).Probabilities(x)
	types := DocumentTypes()

	ranked := make([]TypeProbability, len(types))
	for i, t := range types {
		ranked[i] = TypeProbability{t, p[i]}
	}
	slices.SortStableFunc(ranked, func(a, b TypeProbability) int { return cmp.Compare(b.Probability, a.Probability) })

	return ranked
}
