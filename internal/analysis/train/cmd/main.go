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
// folder internal/analysis/data.
type trainer struct {
	name string
	run  func(corpus, data string) error
}

func trainers() []trainer {
	return []trainer{{"sentiment", trainSentiment}, {"formality", trainFormality}, {"tone", trainTone}, {"doctype", trainDocumentTypes}, {"themes", trainThemes}}
}

func main() {
	corpus := flag.String("corpus", "../shared/corpus", "folder of the labelled corpus")
	what := flag.String("what", "", "train this model only")
	flag.Parse()
	for _, t := range trainers() {
		if *what != "" && *what != t.name {
			continue
		}
		if err := t.run(*corpus, filepath.Join("internal", "analysis", "data")); err != nil {
			fmt.Fprintf(os.Stderr, "train %s: %v\n", t.name, err)
			os.Exit(1)
		}
	}
}
