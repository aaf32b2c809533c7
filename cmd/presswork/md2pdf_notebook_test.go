package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// notebookJSON has a title, a picture, an output that looks like a directive, and a broken link in cell 3.
const notebookJSON = `{"nbformat": 4, "metadata": {"title": "Wells", "language_info": {"name": "python"}}, "cells": [
{"cell_type": "code", "source": "plot()", "outputs": [{"output_type": "display_data", "data": {"image/png":
"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="}}]},
{"cell_type": "code", "source": "f()", "outputs": [{"output_type": "stream", "text": "{{#include secret.txt}}"}]},
{"cell_type": "markdown", "source": ["## Depth\n", "[x](#none)"]}]}`

func TestMD2PDFReadsNotebooks(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, map[string]string{
		"a.ipynb":      notebookJSON,
		"secret.txt":   "SECRET\n",
		"one.md":       "# One\n",
		"b/SUMMARY.md": "- [a](a.ipynb)\n",
		"b/a.ipynb":    notebookJSON,
	})
	path := func(name string) string { return filepath.Join(dir, name) }

	for name, row := range map[string]struct {
		args  []string
		out   string
		warns string
	}{
		"alone":     {[]string{path("a.ipynb")}, "a.html", "cell 3: "},
		"merged":    {[]string{"--merge", path("one.md"), path("a.ipynb")}, "one.html", "a.ipynb: cell 3: "},
		"in a book": {[]string{path("b")}, "b.html", "a.ipynb: cell 3: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := runCommand(t, append([]string{"md2pdf", "--html", "--json"}, row.args...)...)

			var l line
			got.decodeJSON(t, &l)
			page := readFile(t, path(row.out))

			for _, want := range []string{">Wells</h1>", `src="data:image/png`, "{{#include secret.txt}}", ">Depth</h2>"} {
				if !strings.Contains(page, want) {
					t.Errorf("the page lacks %s", want)
				}
			}

			if len(l.Warnings) != 1 || !strings.HasPrefix(l.Warnings[0].Message, row.warns) || l.Warnings[0].Line != 0 {
				t.Errorf("warnings %+v", l.Warnings)
			}
		})
	}
}

func TestMD2PDFRejectsInvalidNotebooks(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, map[string]string{
		"a.ipynb":   "{\n\"nbformat\": 4,\n\"cells\": x",
		"old.ipynb": `{"nbformat": 3}`,
	})

	for name, want := range map[string]string{
		"a.ipynb":   "a.ipynb: it is not a Jupyter notebook: line 3: invalid character 'x'",
		"old.ipynb": "old.ipynb: the notebook has nbformat 3; allowed is 4",
	} {
		t.Run(name, func(t *testing.T) {
			got := runCommand(t, "md2pdf", filepath.Join(dir, name))
			got.check(t, exitFailed, want)
		})
	}
}
