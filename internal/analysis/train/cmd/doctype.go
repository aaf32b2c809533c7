package main

import (
	"os"
	"path/filepath"

	"presswork/internal/analysis/evaluate"
)

// trainDocumentTypes learns the weights of document types from the corpus and
// the samples in internal/analysis/train/samples.
func trainDocumentTypes(corpus, data string) error {
	documents, err := evaluate.Documents(corpus)
	if err != nil {
		return err
	}
	w := evaluate.TrainCalibrated(documents)
	head := "# Learned by `make train` (internal/analysis/train) from the labelled corpus and the\n" +
		"# project's samples. The form is that of priors.txt, which training starts from.\n"
	return os.WriteFile(filepath.Join(data, "doctype", "weights.txt"), []byte(head+w.String()), 0o644)
}
