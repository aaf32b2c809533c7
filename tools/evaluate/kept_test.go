package evaluate

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"presswork/internal/analysis"
	"presswork/tools/train"
)

func TestKeptRepositoriesAreLeftOut(t *testing.T) {
	t.Parallel()
	kept := KeptRepositories()

	if !kept.Has("rust-lang/RFCs") || !kept.Has("rust-lang/rfcs (vendored; upstream a/b)") || kept.Has("a/b") {
		t.Error("a kept repository is found by owner/name in any case, another is not")
	}
	dir := t.TempDir()

	documents := filepath.Join(dir, "documents")
	if err := os.MkdirAll(documents, 0o755); err != nil {
		t.Fatal(err)
	}
	index := "type\tfile\trepo\tpath\nrfc\tx.md\trust-lang/rfcs\tx.md\nletter\ty.md\ta/b\ty.md\n"

	for name, text := range map[string]string{"index.tsv": index, "x.md": "# RFC\n", "y.md": "Dear Ada,\n\nyes.\n"} {
		if err := os.WriteFile(filepath.Join(documents, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	given, err := Given(dir)
	if err != nil || len(given) != 1 || given[0].Group != "a/b" {
		t.Errorf("%d documents, %v: want the letter only", len(given), err)
	}

	lines, err := Refused(dir)
	if err != nil || len(lines) != 1 || !strings.Contains(lines[0], "left out 1 of 2") ||
		!strings.Contains(lines[0], "rust-lang/rfcs") {
		t.Errorf("%q, %v", lines, err)
	}
}

func TestTheStoredDocumentsAreOfNoKeptRepository(t *testing.T) {
	t.Parallel()
	kept := KeptRepositories()
	compared := 0

	for _, d := range stored(t) {
		if len(d.Group) == hashLength {
			compared++
		}

		if kept.HasHash(d.Group) {
			t.Errorf("a %s of %s is of a repository that is kept for judging", d.Type, d.Group)
		}
	}

	if compared < 200 {
		t.Errorf("%d documents have a hash that can be compared, want 200 or more", compared)
	}
}

func TestNoRepositoryIsOnBothSides(t *testing.T) {
	t.Parallel()

	documents := stored(t)

	group := map[*float64]string{}
	for _, d := range documents {
		group[&d.Features[0]] = d.Group
	}
	var mixed atomic.Int64

	predictions := heldOut(documents, func(samples []train.TypeSample) analysis.Weights {
		learned, left := map[string]bool{}, map[string]bool{}
		for _, s := range samples {
			learned[group[&s.Features[0]]] = true
		}

		used := map[*float64]bool{}
		for _, s := range samples {
			used[&s.Features[0]] = true
		}

		for _, d := range documents {
			if !used[&d.Features[0]] {
				left[d.Group] = true
			}
		}

		for g := range left {
			if learned[g] {
				mixed.Add(1)
			}
		}

		return analysis.PriorWeights()
	})
	if len(predictions) != len(documents) || mixed.Load() != 0 {
		t.Errorf(
			"%d predictions of %d documents; %d groups are on both sides",
			len(predictions),
			len(documents),
			mixed.Load(),
		)
	}

	both := Shared([]Document{{Group: "a/b"}, {Group: "c/d"}}, []Document{{Group: groupHash("A/B")}, {Group: "e/f"}})
	if !slices.Equal(both, []string{"a/b"}) {
		t.Errorf("shared groups: %q", both)
	}
}

func TestUnseenRefusesDocumentsThatWereTrainedOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()

	documents := filepath.Join(dir, "documents")
	if err := os.MkdirAll(documents, 0o755); err != nil {
		t.Fatal(err)
	}

	for name, text := range map[string]string{
		"index.tsv": "type\tfile\trepo\tpath\nletter\ty.md\ta/b\ty.md\n", "y.md": "Dear Ada,\n\nyour engine runs.\n\nYours\n",
	} {
		if err := os.WriteFile(filepath.Join(documents, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	var out bytes.Buffer
	if err := Unseen(&out, dir, []Document{{Group: groupHash("a/b")}}); err == nil ||
		!strings.Contains(err.Error(), "a/b") {
		t.Errorf("trained documents were judged: %v", err)
	}

	if err := Unseen(&out, dir, nil); err != nil || !strings.Contains(out.String(), "macro F1") {
		t.Errorf("%v: %q", err, out.String())
	}
}

// stored returns the documents of documents.txt.
func stored(t *testing.T) []Document {
	t.Helper()

	file, err := os.Open(filepath.Join("..", "train", "documents.txt"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })

	documents, _, err := ReadMeasured(file)
	if err != nil {
		t.Fatal(err)
	}

	return documents
}
