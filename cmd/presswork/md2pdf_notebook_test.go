package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// aNotebook has a title, a picture, an output that looks like a directive, and a broken link in cell 3.
const aNotebook = `{"nbformat": 4, "metadata": {"title": "Wells", "language_info": {"name": "python"}}, "cells": [
{"cell_type": "code", "source": "plot()", "outputs": [{"output_type": "display_data", "data": {"image/png":
"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="}}]},
{"cell_type": "code", "source": "f()", "outputs": [{"output_type": "stream", "text": "{{#include secret.txt}}"}]},
{"cell_type": "markdown", "source": ["## Depth\n", "[x](#none)"]}]}`

func TestMD2PDFReadsNotebooks(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{
		"a.ipynb":      aNotebook,
		"secret.txt":   "SECRET\n",
		"one.md":       "# One\n",
		"b/SUMMARY.md": "- [a](a.ipynb)\n",
		"b/a.ipynb":    aNotebook,
	})
	in := func(name string) string { return filepath.Join(dir, name) }

	for name, row := range map[string]struct {
		args  []string
		out   string
		warns string
	}{
		"alone":     {[]string{in("a.ipynb")}, "a.html", "cell 3: "},
		"merged":    {[]string{"--merge", in("one.md"), in("a.ipynb")}, "one.html", "a.ipynb: cell 3: "},
		"in a book": {[]string{in("b")}, "b.html", "a.ipynb: cell 3: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ask(t, append([]string{"md2pdf", "--html", "--json"}, row.args...)...)

			var l line
			if err := json.Unmarshal([]byte(got.stdout), &l); err != nil || got.code != 0 {
				t.Fatalf("%v: %+v", err, got)
			}
			page := content(t, in(row.out))

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

func TestMD2PDFNamesWhatIsWrongWithANotebook(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"a.ipynb": "{\n\"nbformat\": 4,\n\"cells\": x", "old.ipynb": `{"nbformat": 3}`})

	for name, want := range map[string]string{
		"a.ipynb":   "a.ipynb: it is not a Jupyter notebook: line 3: invalid character 'x'",
		"old.ipynb": "old.ipynb: the notebook has nbformat 3, and 4 is read",
	} {
		if got := ask(
			t,
			"md2pdf",
			filepath.Join(dir, name),
		); got.code != exitFailed ||
			!strings.Contains(got.stderr, want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
