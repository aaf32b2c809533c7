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
	unseen := flag.Bool("unseen", false, "judge the weights in the program on a corpus that they were not trained on")
	flag.Parse()

	refused, err := evaluate.Refused(*corpus)
	if err != nil {
		fmt.Fprintf(os.Stderr, "eval: %v\n", err)
		os.Exit(2)
	}

	for _, line := range refused {
		fmt.Fprintln(os.Stderr, "eval:", line)
	}

	if *unseen {
		if err := judge(*corpus); err != nil {
			fmt.Fprintf(os.Stderr, "eval: %v\n", err)
			os.Exit(2)
		}

		return
	}

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

// judge prints how well the weights in the program do on a corpus that they were not trained on.
func judge(corpus string) error {
	file, err := os.Open(evaluate.MeasuredDocuments)
	if err != nil {
		return err
	}
	defer file.Close()

	trained, _, err := evaluate.ReadMeasured(file)
	if err != nil {
		return err
	}

	return evaluate.Unseen(os.Stdout, corpus, trained)
}
