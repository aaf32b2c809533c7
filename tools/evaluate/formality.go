package evaluate

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"presswork/internal/analysis"
	"presswork/tools/train"
)

// FormalitySamples loads the rated sentences of the corpus (formality/*.csv:
// label 0…1, text).
func FormalitySamples(corpus string) (samples []train.FormalitySample, err error) {
	for _, name := range []string{"pavlick_en_train.csv", "pavlick_en_validation.csv"} {
		file, err := os.Open(filepath.Join(corpus, "formality", name))
		if err != nil {
			return nil, err
		}
		records, err := csv.NewReader(file).ReadAll()
		file.Close()

		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}

		for _, r := range records[1:] {
			rating, err := strconv.ParseFloat(r[0], 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			samples = append(samples, train.FormalitySample{Text: r[1], Rating: rating})
		}
	}

	return samples, nil
}

// formality measures the ratings of sentences by cross-validation, and whether the mean formality of document
// types has the expected order.
func formality(corpus string) ([]Row, error) {
	samples, err := FormalitySamples(corpus)
	if err != nil {
		return nil, err
	}
	scores, ratings := make([]float64, len(samples)), make([]float64, len(samples))

	for fold := range folds {
		var seen []train.FormalitySample

		for i, s := range samples {
			if i%folds != fold {
				seen = append(seen, s)
			}
		}
		model := train.FitFormality(seen)

		for i, s := range samples {
			if i%folds == fold {
				scores[i], ratings[i] = model.Score(s.Text), s.Rating
			}
		}
	}
	rows := []Row{AtLeast("formality r", correlation(scores, ratings), 0.70)}

	documents, err := corpusDocuments(corpus)
	if err != nil {
		return nil, err
	}

	sum, n := map[string]float64{}, map[string]float64{}
	for _, d := range documents {
		sum[d.Type] += analysis.Analyze(d.Markdown).Formality.Score
		n[d.Type]++
	}

	for _, order := range [][2]string{{"legal", "rfc"}, {"paper", "rfc"}, {"rfc", "tutorial"}, {"tutorial", "blog_post"}} {
		above := sum[order[0]]/n[order[0]] - sum[order[1]]/n[order[1]]
		rows = append(rows, AtLeast("formality of "+order[0]+" over "+order[1], above, 0))
	}

	return rows, nil
}
