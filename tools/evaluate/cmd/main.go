// Command cmd prints how well internal/analysis does on the labelled corpus.
package main

import (
	"flag"
	"fmt"
	"os"

	"presswork/tools/evaluate"
)

func main() {
	corpus := flag.String("corpus", "", "folders of labelled corpora, separated as in PATH")
	mistakes := flag.Bool("mistakes", false, "list the documents with a wrong type instead")
	flag.Parse()

	if *mistakes {
		lines, err := evaluate.Mistakes(*corpus)
		if err != nil {
			fmt.Fprintf(os.Stderr, "eval: %v\n", err)
			os.Exit(2)
		}

		for _, line := range lines {
			fmt.Println(line)
		}

		return
	}

	reached, err := evaluate.Run(os.Stdout, *corpus)
	switch {
	case err != nil:
		fmt.Fprintf(os.Stderr, "eval: %v\n", err)
		os.Exit(2)
	case !reached:
		os.Exit(1)
	}
}
