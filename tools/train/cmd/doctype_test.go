package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presswork/tools/evaluate"
)

// corpus creates a labelled corpus with this number of letters of a repository.
func corpus(t *testing.T, repository string, letters int) string {
	t.Helper()
	dir := t.TempDir()

	documents := filepath.Join(dir, "documents")
	if err := os.MkdirAll(documents, 0o755); err != nil {
		t.Fatal(err)
	}
	index := "type\tfile\trepo\tpath\n"

	for i := range letters {
		name := strings.Repeat("x", i+1) + ".md"

		index += "letter\t" + name + "\t" + repository + "\t" + name + "\n"
		if err := os.WriteFile(
			filepath.Join(documents, name),
			[]byte("Dear Ada,\n\nit runs.\n\nYours, Charles\n"),
			0o644,
		); err != nil {
			t.Fatal(err)
		}
	}

	if err := os.WriteFile(filepath.Join(documents, "index.tsv"), []byte(index), 0o644); err != nil {
		t.Fatal(err)
	}

	return dir
}

func TestDocumentsOfOtherRepositoriesStay(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "documents.txt")
	for _, step := range []struct {
		repository string
		letters    int
		want       int
	}{
		{"a/b", 3, 3},
		{"c/d", 2, 5},
		{"a/b", 1, 3},
	} {
		if err := measureDocuments(corpus(t, step.repository, step.letters), file); err != nil {
			t.Fatal(err)
		}

		documents, current, err := readMeasured(file)
		if err != nil || !current || len(documents) != step.want || documents[0].Type != "letter" {
			t.Errorf(
				"after %d letters of %s: %d documents, current %v, %v; want %d",
				step.letters, step.repository, len(documents), current, err, step.want,
			)
		}
	}
}

func TestDocumentsKeepTheVersionOfTheirFeatures(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "documents.txt")
	if err := os.WriteFile(file, []byte("features 1-0 3\nletter 0123456789abcdef 2:20\n"), 0o644); err != nil {
		t.Fatal(err)
	}

	if err := measureDocuments(corpus(t, "a/b", 1), file); err != nil {
		t.Fatal(err)
	}

	documents, current, err := readMeasured(file)
	if err != nil || !current || len(documents) != 2 || documents[1].Version != "1-0" || documents[1].Known != 3 {
		t.Errorf("%+v, current %v, %v", documents, current, err)
	}
}

func TestADamagedFileIsNotReplaced(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "documents.txt")
	if err := os.WriteFile(file, []byte("features 1-0 3\nnovel 0123456789abcdef\n"), 0o644); err != nil {
		t.Fatal(err)
	}

	if err := measureDocuments(corpus(t, "a/b", 1), file); err == nil || !strings.Contains(err.Error(), file) {
		t.Error(err)
	}

	if _, _, err := readMeasured(evaluate.MeasuredDocuments + " elsewhere"); err == nil {
		t.Error("a missing file was read")
	}
}
