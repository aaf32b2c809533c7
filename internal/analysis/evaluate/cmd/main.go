// Command cmd prints how well internal/analysis does on the labelled corpus.
package main

import (
	"flag"
	"fmt"
	"os"

	"presswork/internal/analysis/evaluate"
)

func main() {
	corpus := flag.String("corpus", "../shared/corpus", "folder of the labelled corpus")
	flag.Parse()
	reached, err := evaluate.Run(os.Stdout, *corpus)
	switch {
	case err != nil:
		fmt.Fprintf(os.Stderr, "eval: %v\n", err)
		os.Exit(2)
	case !reached:
		os.Exit(1)
	}
}
