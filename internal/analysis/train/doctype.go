package main

import (
	"os"
	"path/filepath"

	"presswork/internal/analysis/evaluate"
)

// doctypeTrainer learns the weights of document types from the corpus and the
// samples beside this program.
var doctypeTrainer = trainer{"doctype", func(corpus, data string) error {
	documents, err := evaluate.Documents(corpus, filepath.Join("internal", "analysis", "train", "samples"))
	if err != nil {
		return err
	}
	w := evaluate.TrainCalibrated(documents)
	head := "# Learned by `make train` (internal/analysis/train) from the labelled corpus and the\n" +
		"# project's samples. The form is that of priors.txt, which training starts from.\n"
	return os.WriteFile(filepath.Join(data, "doctype", "weights.txt"), []byte(head+w.String()), 0o644)
}}
