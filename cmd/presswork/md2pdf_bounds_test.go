package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each input is bounded, the message names it, and the rest of the document is printed.
func TestMD2PDFBoundsWhatItReads(t *testing.T) {
	t.Parallel()

	picture := `{"cell_type":"code","source":"draw()","outputs":[{"output_type":"display_data","data":{"image/png":"` +
		strings.Repeat("iVBO", 1<<20) + `"}}]},`

	book := map[string]string{}
	var summary strings.Builder

	for i := range 2000 {
		fmt.Fprintf(&summary, "- [C%d](c/%d.md)\n", i, i)
		book[fmt.Sprintf("book/c/%d.md", i)] = fmt.Sprintf("# C%d\n\nWord%d and [next](%d.md).\n", i, i, (i+1)%2000)
	}
	book["book/SUMMARY.md"] = summary.String()

	var graph strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&graph, "n%d -> n%d;\n", i, (i*7+3)%20_000)
	}

	for name, c := range map[string]struct {
		files  map[string]string
		input  string
		code   int
		stderr string
		words  string // of the page
	}{
		"a notebook of 50 MB of pictures": {map[string]string{
			"a.ipynb": `{"nbformat":4,"cells":[` + strings.Repeat(picture, 17) + `{"cell_type":"markdown","source":"x"}]}`,
		}, "a.ipynb", 1, "a.ipynb: it is larger than 64 MB", ""},
		"a book of 2000 chapters": {book, "book", 0, "", "Word0 Word999 Word1999"},
		"a cycle of includes": {map[string]string{
			"a.md": "# A\n\n{{#include b.md}}\n\nafter-a\n",
			"b.md": "in-b\n\n{{#include a.md}}\n\nafter-b\n",
		}, "a.md", 0, "a.md:3: include of \"b.md\": it includes itself: b.md includes a.md includes b.md", "in-b after-b after-a"},
		"macros without end": {map[string]string{
			"a.md": "# A\n\n$$\\def\\a{\\b\\b}\\def\\b{\\a\\a}\\a$$\n\nafter\n",
		}, "a.md", 0, "a.md:3: formula", "after"},
		"a graph of 20000 nodes": {map[string]string{
			"a.md": "# A\n\n```dot\ndigraph {\n" + graph.String() + "}\n```\n\nafter\n",
		}, "a.md", 0, "a.md:3: diagram: it has", "n19999 after"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := writeFiles(t, c.files)

			got := runCommand(t, "md2pdf", "--to", "html", filepath.Join(dir, c.input), "-o",
				filepath.Join(dir, "out.html"))
			if got.code != c.code || !strings.Contains(got.stderr, c.stderr) {
				t.Fatalf("exit status %d, want %d, with %q in\n%.2000s", got.code, c.code, c.stderr, got.stderr)
			}

			if c.code != exitOK {
				if _, err := os.Stat(filepath.Join(dir, "out.html")); err == nil {
					t.Error("a failed conversion left a file")
				}

				return
			}

			page := readFile(t, filepath.Join(dir, "out.html"))
			for word := range strings.FieldsSeq(c.words) {
				if !strings.Contains(page, word) {
					t.Errorf("the page lacks %s", word)
				}
			}
		})
	}
}

func TestPDFNamesFilesThatItCannotReadAsTheyAre(t *testing.T) {
	t.Parallel()
	sample := func(name string) []byte {
		data, err := os.ReadFile("../../internal/pdfops/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}

		return data
	}
	sound := sample("crazyones.pdf")
	broken := append(bytes.Clone(sound[:bytes.LastIndex(sound, []byte("startxref"))]), "startxref\n999999\n%%EOF\n"...)
	dir := writeFiles(t, map[string]string{
		"closed.pdf": string(sample("r6-both-passwords.pdf")),
		"broken.pdf": string(broken),
	})

	got := runCommand(t, "pdf", "text", filepath.Join(dir, "closed.pdf"))
	got.check(t, exitFailed, "closed.pdf is encrypted and the password is missing or wrong")
	got.checkNoOutput(t)

	got = runCommand(t, "pdf", "text", filepath.Join(dir, "broken.pdf"))
	got.check(t, exitOK, "the cross-references were damaged")
	got.checkPrints(t, "The Crazy Ones")
}
