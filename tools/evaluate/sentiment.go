package evaluate

import (
	_ "embed"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"presswork/internal/analysis"
	"presswork/internal/analysis/sentiment"
	"presswork/tools/train"
)

//go:embed data/vader.tsv
var vaderData string

// SentimentSet is a set of rated sentences and the correlation to reach with the ratings.
type SentimentSet struct {
	Name    string
	Target  float64
	Samples []train.SentimentSample
}

// SentimentSets loads the rated sentences of the corpus (sentiment/NAME.tsv: id, mean rating −4 to 4, deviation,
// text). It scales the ratings to −1 to 1.
func SentimentSets(corpus string) ([]SentimentSet, error) {
	sets := []SentimentSet{
		{Name: "tweets", Target: 0.87},
		{Name: "movie_reviews", Target: 0.65},
		{Name: "amazon_reviews", Target: 0.70},
		{Name: "nyt_editorials", Target: 0.50},
	}
	for i := range sets {
		b, err := os.ReadFile(filepath.Join(corpus, "sentiment", sets[i].Name+".tsv"))
		if err != nil {
			return nil, err
		}

		_, body, _ := strings.Cut(string(b), "\n")
		for line := range strings.Lines(body) {
			fields := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 4)
			if len(fields) < 4 {
				return nil, fmt.Errorf("%s: a line has %d fields, want 4", sets[i].Name, len(fields))
			}

			rating, err := strconv.ParseFloat(fields[1], 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", sets[i].Name, err)
			}
			sets[i].Samples = append(sets[i].Samples, train.SentimentSample{Text: fields[3], Rating: rating / 4})
		}
	}

	return sets, nil
}

// block is the number of neighbouring sentences that stay in one fold. The sentences of a review or an editorial
// are neighbours in the file and resemble each other.
const block = 40

// measureSentiment measures three things: sentences by cross-validation, negation pairs, and how close to neutral
// factual documents score.
func measureSentiment(corpus string) ([]Row, error) {
	sets, err := SentimentSets(corpus)
	if err != nil {
		return nil, err
	}
	scores := heldOutSentiment(sets)
	compounds := vaderCompounds()
	var rows []Row

	for i, set := range sets {
		ratings := make([]float64, len(set.Samples))
		for k, s := range set.Samples {
			ratings[k] = s.Rating
		}
		r := correlation(scores[i], ratings)
		rows = append(rows, AtLeast("sentiment r "+set.Name, r, set.Target))

		if vader := compounds[set.Name]; len(vader) == len(ratings) {
			rows = append(rows, AtLeast("sentiment over VADER "+set.Name, r-correlation(vader, ratings), -0.01))
		}
	}

	pairs, err := negationPairs()
	if err != nil {
		return nil, err
	}

	documents, err := factualDocuments(corpus)
	if err != nil {
		return nil, err
	}

	return append(rows, pairs, documents), nil
}

// heldOutSentiment scores each sentence with a model that was not trained on it.
func heldOutSentiment(sets []SentimentSet) [][]float64 {
	scores := make([][]float64, len(sets))
	for i, set := range sets {
		scores[i] = make([]float64, len(set.Samples))
	}

	for fold := range folds {
		var seen []train.SentimentSample

		for _, set := range sets {
			for k, s := range set.Samples {
				if k/block%folds != fold {
					seen = append(seen, s)
				}
			}
		}
		model := train.FitSentiment(seen)

		for i, set := range sets {
			for k, s := range set.Samples {
				if k/block%folds == fold {
					scores[i][k] = model.Score(s.Text)
				}
			}
		}
	}

	return scores
}

// vaderCompounds returns the compound scores of the original VADER program, by set.
func vaderCompounds() map[string][]float64 {
	table := map[string][]float64{}

	_, body, _ := strings.Cut(vaderData, "\n\n")
	for line := range strings.Lines(body) {
		name, numbers, _ := strings.Cut(line, "\t")
		for number := range strings.FieldsSeq(numbers) {
			if n, err := strconv.Atoi(number); err == nil {
				table[name] = append(table[name], float64(n)/10000)
			}
		}
	}

	return table
}

// negationPairs measures the share of right pairs in the test data of package sentiment: a sentence with a positive
// and one with a negative score.
func negationPairs() (Row, error) {
	b, err := os.ReadFile(filepath.Join("internal", "analysis", "sentiment", "testdata", "negation.tsv"))
	if err != nil {
		return Row{}, err
	}
	pairs, right := 0, 0

	for line := range strings.Lines(string(b)) {
		better, worse, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			continue
		}
		pairs++

		good, bad := sentiment.OfSentence(better[2:]), sentiment.OfSentence(worse[2:])
		if good > bad && good > 0 && bad < 0 {
			right++
		}
	}

	return AtLeast(fmt.Sprintf("sentiment negation, %d pairs", pairs), float64(right)/float64(pairs), 0.95), nil
}

// factualDocuments measures how many technical and legal documents stay within
// ±0.25.
func factualDocuments(corpus string) (Row, error) {
	documents, err := corpusDocuments(corpus)
	if err != nil {
		return Row{}, err
	}
	n, calm := 0, 0

	for _, d := range documents {
		switch d.Type {
		case "api_reference", "changelog", "contributing", "governance", "legal", "readme", "rfc", "tutorial":
			n++

			if math.Abs(analysis.Analyze(d.Markdown).Sentiment.Score) < 0.25 {
				calm++
			}
		}
	}

	return AtLeast("sentiment |score| < 0.25, technical and legal", float64(calm)/float64(n), 0.95), nil
}
