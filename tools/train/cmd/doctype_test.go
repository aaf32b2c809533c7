package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presswork/tools/evaluate"
)

// corpus creates a labelled corpus with this number of letters.
func corpus(t *testing.T, letters int) string {
	t.Helper()
	dir := t.TempDir()

	documents := filepath.Join(dir, "documents")
	if err := os.MkdirAll(documents, 0o755); err != nil {
		t.Fatal(err)
	}
	index := "type\tfile\trepo\tpath\n"

	for i := range letters {
		name := strings.Repeat("x", i+1) + ".md"

		index += "letter\t" + name + "\ta/b\t" + name + "\n"
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

func TestFewerDocumentsDoNotReplaceMore(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "documents.txt")
	if err := measureDocuments(corpus(t, 3), file); err != nil {
		t.Fatal(err)
	}

	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}

	err = measureDocuments(corpus(t, 2), file)
	if err == nil || !strings.Contains(err.Error(), "have 2 labelled documents") ||
		!strings.Contains(err.Error(), "training used 3") {
		t.Errorf("two documents replace three: %v", err)
	}

	if after, _ := os.ReadFile(file); !bytes.Equal(before, after) {
		t.Error("the file has changed")
	}

	if err := measureDocuments(corpus(t, 4), file); err != nil {
		t.Error("four documents do not replace three:", err)
	}

	documents, current, err := readMeasured(file)
	if err != nil || !current || len(documents) != 4 || documents[0].Type != "letter" {
		t.Errorf("%d documents, current %v, %v", len(documents), current, err)
	}
}

func TestADamagedFileIsNotReplaced(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "documents.txt")
	if err := os.WriteFile(file, []byte("features 1-0\nnovel 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}

	if err := measureDocuments(corpus(t, 1), file); err == nil || !strings.Contains(err.Error(), file) {
		t.Error(err)
	}

	if _, _, err := readMeasured(evaluate.MeasuredDocuments + " elsewhere"); err == nil {
		t.Error("a missing file was read")
	}
}
