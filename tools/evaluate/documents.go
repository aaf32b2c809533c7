package evaluate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"presswork/internal/analysis"
)

// A Document is a labelled document. Documents of one Group have the same author or repository. They are never
// split between training and evaluation, because they resemble each other.
type Document struct {
	Name, Type, Group string
	// Own marks the project's samples.
	Own bool
	// Language is the detected language. Documents that were measured before languages were stored have none.
	Language string
	// Version names the definition of the features of a document that was read from documents.txt. It had the first
	// Known features only; the others are 0.
	Version  string
	Known    int
	Markdown []byte
	// Features are the features of Markdown. Bare are the features without the front matter.
	Features, Bare []float64
}

// Documents loads the corpora and the project's samples. corpus is a list of folders as in PATH, with
// documents/index.tsv below each. Multilingual corpora are skipped, because they have no types. The samples are
// files TYPE.txt of documents, each after a line "-- name --".
func Documents(corpus string) ([]Document, error) {
	given, err := Given(corpus)
	if err != nil {
		return nil, err
	}
	own, err := Own()

	return append(given, own...), err
}

// Given loads the documents of the corpora only, without the project's samples.
func Given(corpus string) ([]Document, error) {
	var given []Document

	for _, dir := range filepath.SplitList(corpus) {
		documents, err := corpusDocuments(dir)
		if err != nil {
			return nil, err
		}
		given = append(given, documents...)
	}

	return measured(given), nil
}

// Own loads the project's samples only.
func Own() ([]Document, error) { return ownDocuments(samples) }

// ownDocuments loads the samples in a folder. It returns an error if there are none.
func ownDocuments(samples string) ([]Document, error) {
	var documents []Document

	files, err := filepath.Glob(filepath.Join(samples, "*.txt"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no samples in %s", samples)
	}

	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}

		kind := strings.TrimSuffix(filepath.Base(file), ".txt")
		for i, part := range splitSamples(string(b)) {
			documents = append(documents, Document{
				Name: kind + "/" + part[0], Type: kind, Own: true,
				Group: fmt.Sprintf("own %d", i%folds), Markdown: []byte(part[1]),
			})
		}
	}

	return measured(documents), nil
}

// measured sets the features of each document in place, and returns the slice.
func measured(documents []Document) []Document {
	for i := range documents {
		d := &documents[i]
		d.Features = analysis.DocumentFeatures(d.Markdown)
		d.Language = analysis.Analyze(d.Markdown).Language
		d.Bare = analysis.DocumentFeatures(withoutFrontMatter(d.Markdown))
	}

	return documents
}

// indexRow is a row of documents/index.tsv: the label, the file, and the repository and path of its origin.
type indexRow struct{ label, file, repository, path string }

// indexed returns the rows of a corpus without those of kept repositories.
func indexed(corpus string) ([]indexRow, error) {
	rows, err := readIndex(corpus)
	free, _ := KeptRepositories().split(rows)

	return free, err
}

// readIndex reads the rows of a corpus' index. The first line is a heading.
func readIndex(corpus string) (rows []indexRow, err error) {
	b, err := os.ReadFile(filepath.Join(corpus, "documents", "index.tsv"))
	if err != nil {
		return nil, err
	}

	_, body, _ := strings.Cut(string(b), "\n")
	for line := range strings.Lines(body) {
		if f := strings.Split(strings.TrimSpace(line), "\t"); len(f) >= 4 {
			rows = append(rows, indexRow{f[0], f[1], f[2], f[3]})
		}
	}

	return rows, nil
}

// corpusDocuments reads the labelled documents of a corpus.
func corpusDocuments(corpus string) ([]Document, error) {
	rows, err := indexed(corpus)
	if err != nil {
		return nil, err
	}
	var documents []Document

	for _, row := range rows {
		if row.label == "multilingual" {
			continue
		}

		b, err := os.ReadFile(filepath.Join(corpus, "documents", filepath.FromSlash(row.file)))
		if err != nil {
			return nil, err
		}
		documents = append(documents, Document{Name: row.file, Type: row.label, Group: row.repository, Markdown: b})
	}

	return documents, nil
}

// splitSamples cuts a file at its lines "-- name --" into name and text.
func splitSamples(file string) (parts [][2]string) {
	for line := range strings.Lines(file) {
		mark := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(mark, "-- ") && strings.HasSuffix(mark, " --"):
			parts = append(parts, [2]string{mark[3 : len(mark)-3]})
		case len(parts) > 0:
			parts[len(parts)-1][1] += line
		}
	}

	return parts
}

// withoutFrontMatter returns a document without its front matter in YAML.
func withoutFrontMatter(markdown []byte) []byte {
	s := string(markdown)
	if !strings.HasPrefix(s, "---\n") {
		return markdown
	}

	if _, body, ok := strings.Cut(s[4:], "\n---\n"); ok {
		return []byte(body)
	}

	return markdown
}
