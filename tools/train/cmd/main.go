// Command train learns the weights under internal/analysis/data from the
// labelled corpus and the project's own samples, and writes them as text.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// A trainer learns one model from the corpus and writes it below data, the
// folder internal/analysis/data. One of documents takes all corpora of a list.
type trainer struct {
	name      string
	documents bool
	run       func(corpus, data string) error
}

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
		"folders of labelled corpora, as in PATH; the first has what is not documents. "+
			"Without any, document types are learned anew from what was measured before",
	)
	what := flag.String("what", "", "train this model only")
	flag.Parse()

	for _, t := range trainers() {
		if *what != "" && *what != t.name || *corpus == "" && !t.documents {
			continue
		}

		from := *corpus
		if corpora := filepath.SplitList(from); !t.documents && len(corpora) > 0 {
			from = corpora[0]
		}

		if err := t.run(from, filepath.Join("internal", "analysis", "data")); err != nil {
			fmt.Fprintf(os.Stderr, "train %s: %v\n", t.name, err)
			os.Exit(1)
		}
	}
}
