package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"presswork/tools/evaluate"
)

// trainDocumentTypes trains the weights of document types. It reads the samples in tools/train/samples and the
// documents of the corpus, whose features it stores in a file. Without a corpus it uses the stored features.
func trainDocumentTypes(corpus, dir string) error {
	if corpus != "" {
		if err := measureDocuments(corpus, evaluate.MeasuredDocuments); err != nil {
			return err
		}
	}

	documents, current, err := readMeasured(evaluate.MeasuredDocuments)
	if err != nil {
		return err
	}

	if !current {
		return fmt.Errorf(
			"%s was written for another lexicon or other features; name its corpora with -corpus to rebuild it",
			evaluate.MeasuredDocuments,
		)
	}

	own, err := evaluate.Own()
	if err != nil {
		return err
	}

	w, err := evaluate.TrainCalibrated(append(documents, own...), os.Stdout)
	if err != nil {
		return err
	}
	head := "# Learned by `make train` (tools/train) from the labelled corpus and the\n" +
		"# project's samples. The form is that of priors.txt, which training starts from.\n"

	return os.WriteFile(filepath.Join(dir, "data", "doctype", "weights.txt"), []byte(head+w.String()), 0o644)
}

// measureDocuments writes the features of the corpora to a file. Documents of repositories that the corpora do not have
// stay as they were measured, so that training does not lose them.
func measureDocuments(corpus, file string) error {
	known, _, err := readMeasured(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}

	given, err := evaluate.Given(corpus)
	if err != nil {
		return err
	}
	documents, kept := slices.Clone(given), evaluate.KeptRepositories()

	for _, d := range known {
		if len(evaluate.Shared(given, []evaluate.Document{d})) == 0 && !kept.HasHash(d.Group) {
			documents = append(documents, d)
		}
	}

	var out bytes.Buffer
	if err := evaluate.WriteMeasured(&out, documents); err != nil {
		return err
	}

	return os.WriteFile(file, out.Bytes(), 0o644)
}

// readMeasured reads a file of features. current reports that this version of the code measured them.
func readMeasured(file string) (documents []evaluate.Document, current bool, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, false, err
	}

	documents, current, err = evaluate.ReadMeasured(bytes.NewReader(b))
	if err != nil {
		err = fmt.Errorf("%s: %w", file, err)
	}

	return documents, current, err
}
