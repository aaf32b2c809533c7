package document_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/document"
	"presswork/internal/markdown/notebook"
)

// laidOut returns a document in each layout and a notebook, by name.
func laidOut(t *testing.T) map[string]document.Document {
	t.Helper()
	all := map[string]document.Document{}

	for _, name := range []string{"letter", "letter-us", "cv", "recipe", "minutes"} {
		all[name] = document.Document{Content: example(t, name)}
	}

	rich, err := os.ReadFile("testdata/rich.md")
	if err != nil {
		t.Fatal(err)
	}

	// Notes at the foot of columns, a wide table and a picture across both.
	article := "---\ntitle: Tides\nauthor: [{name: A. Keeper, affiliation: Harbour, orcid: 0000-0002-1825-0097}]\n" +
		"abstract: Short.\nkeywords: [tide]\nlang: en\n---\n\n## Floats\n\n" +
		strings.Repeat("Text that fills a column.[^1] See $x^2$.\n\n", 30) +
		"| " + strings.Repeat("a long head | ", 12) + "\n" + strings.Repeat("|---", 12) + "|\n\n" +
		"![A float](" + dotURI + "){.wide}\n\n[^1]: A note with [a link](https://example.com).\n"

	for name, columns := range map[string]int{"paper": 1, "paper-columns": 2} {
		o := presswork.Options{As: "paper", Columns: &columns}
		all[name] = document.Document{Content: []byte(article), Options: o}
		all[name+"-rich"] = document.Document{Content: rich, Path: "rich.md", Options: o}
	}

	file, err := os.ReadFile("../markdown/notebook/testdata/wells.ipynb")
	if err != nil {
		t.Fatal(err)
	}

	n, err := notebook.Convert(file)
	if err != nil {
		t.Fatal(err)
	}
	all["notebook"] = document.Document{
		Content: n.Markdown, Filename: "wells.ipynb", Place: n.Place,
		Asset: func(name string) ([]byte, error) {
			if data, ok := n.Files[name]; ok {
				return data, nil
			}

			return nil, fs.ErrNotExist
		},
	}

	return all
}
