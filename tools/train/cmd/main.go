// Command train trains the models under internal/analysis on the labelled corpus and the project's own
// samples, and writes them as text.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// A trainer trains one model on the corpus and writes it below dir, the folder internal/analysis. If
// documents is set, it reads all corpora of the list, else only the first.
type trainer struct {
	name      string
	documents bool
	run       func(corpus, dir string) error
}

// trainers lists the models in the order of training.
func trainers() []trainer {
	return []trainer{
		{"language", false, trainLanguages},
		{"sentiment", false, trainSentiment},
		{"formality", false, trainFormality},
		{"tone", false, trainTone},
		{"doctype", true, trainDocumentTypes},
	}
}

func main() {
	corpus := flag.String(
		"corpus",
		"",
		"folders of labelled corpora, separated as in PATH; the first also has the sentences and texts. "+
			"Without it, only document types are trained, on the stored features",
	)
	what := flag.String("what", "", "train only this model: language, sentiment, formality, tone or doctype")
	flag.Parse()

	for _, t := range trainers() {
		if *what != "" && *what != t.name || *corpus == "" && !t.documents {
			continue
		}

		from := *corpus
		if corpora := filepath.SplitList(from); !t.documents && len(corpora) > 0 {
			from = corpora[0]
		}

		if err := t.run(from, filepath.Join("internal", "analysis")); err != nil {
			fmt.Fprintf(os.Stderr, "train %s: %v\n", t.name, err)
			os.Exit(1)
		}
	}
}
