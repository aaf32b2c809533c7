package bookfolder_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/fault"
	"presswork/internal/local/bookfolder"
)

// folder returns a folder with the settings files and their text, and with empty files.
func folder(settings map[string]string, files ...string) fstest.MapFS {
	f := fstest.MapFS{}
	for name, text := range settings {
		f[name] = &fstest.MapFile{Data: []byte(text)}
	}

	for _, name := range files {
		f[name] = &fstest.MapFile{}
	}

	return f
}

// listing returns the entries of a book as text. A line has a dash per level, the file or "# heading", and "(part)" or
// "(appendix)".
func listing(b bookfolder.Book) string {
	var out strings.Builder

	for _, e := range b.Entries {
		out.WriteString(strings.Repeat("-", e.Depth))

		if e.File == "" {
			out.WriteString("# " + e.Title)
		} else {
			out.WriteString(e.File)
		}

		for mark, is := range map[string]bool{" (part)": e.Part, " (appendix)": e.Appendix} {
			if is {
				out.WriteString(mark)
			}
		}
		out.WriteString("\n")
	}

	return out.String()
}

func TestChaptersHaveTheOrderOfTheSettings(t *testing.T) {
	t.Parallel()

	for name, row := range map[string]struct {
		settings map[string]string
		files    []string
		want     string
		matter   string // part of the front matter
	}{
		"Quarto": {
			map[string]string{"_quarto.yml": "project: {type: book}\nbook:\n  title: Wells\n  author: Ada\n  chapters:\n" +
				"    - index.qmd\n    - part: Basics\n      chapters: [a.qmd, {file: b.qmd, text: B}]\n" +
				"    - part: c.qmd\n      chapters:\n        - d.qmd\n    - ---\n  appendices: [e.qmd]\n" +
				"bibliography: refs.bib\n"},
			[]string{"index.qmd", "a.qmd", "b.qmd", "c.qmd", "d.qmd", "e.qmd"},
			"index.qmd\n# Basics (part)\na.qmd\nb.qmd\nc.qmd (part)\nd.qmd\ne.qmd (appendix)\n",
			"numbering: \"chapter\"\ntitle: \"Wells\"\ntoc: 2\n",
		},
		"Quarto without numbers": {
			map[string]string{"_quarto.yml": "book: {title: T, chapters: [a.qmd]}\nformat: {pdf: {number-sections: false}}\n"},
			[]string{"a.qmd"},
			"a.qmd\n", "---\ntitle: \"T\"\ntoc: 2\n---\n",
		},
		"Bookdown with a list": {
			map[string]string{
				"_bookdown.yml": "rmd_files:\n  html: [x.Rmd]\n  latex: [index.Rmd, b.Rmd]\n",
				"index.Rmd":     "---\ntitle: Wells\ndate: \"`r Sys.Date()`\"\nbiblio-style: apalike\n---\n",
			},
			[]string{"b.Rmd", "x.Rmd"},
			"index.Rmd\nb.Rmd\n",
			"---\nnumbered_headings: true\nnumbering: \"chapter\"\ntitle: \"Wells\"\ntoc: 2\n---\n",
		},
		"Bookdown by name": {
			map[string]string{"_bookdown.yml": "book_filename: x\n"},
			[]string{"02-b.Rmd", "01-a.Rmd", "index.Rmd", "_draft.Rmd", "sub/03.Rmd"},
			"index.Rmd\n01-a.Rmd\n02-b.Rmd\n", "",
		},
		"Jupyter Book": {
			map[string]string{
				"_toc.yml": "format: jb-book\nroot: intro\nparts:\n  - caption: One\n    numbered: true\n    chapters:\n" +
					"      - file: a/index\n        sections:\n          - file: a/x\n            sections:\n" +
					"              - file: a/y\n  - caption: Two\n    chapters:\n      - file: b\n      - url: https://a.example\n",
				"_config.yml": "title: Wells\nauthor: Ada\nbibtex_bibfiles: [refs.bib]\n",
			},
			[]string{"intro.md", "a/index.md", "a/x.ipynb", "a/y.md", "b.md"},
			"intro.md\n# One (part)\na/index.md\n-a/x.ipynb\n--a/y.md\n# Two (part)\nb.md\n", "numbered_headings: true",
		},
		"MyST": {
			map[string]string{"myst.yml": "version: 1\nproject:\n  title: Wells\n  toc:\n    - file: index.md\n" +
				"    - title: More\n      children:\n        - file: a.md\n"},
			[]string{"index.md", "a.md"},
			"index.md\n# More\n-a.md\n", "title: \"Wells\"",
		},
		"mdBook": {
			map[string]string{
				"book.toml": "[book]\ntitle = \"Wells\"\nauthors = [\"Ada\"]\nsrc = \"text\"\n",
				"text/SUMMARY.md": "# Summary\n\n[Preface](./pre.md)\n\n# Start\n\n- [A](a.md)\n    - [`B`](b%20c.md)\n" +
					"    - [again](a.md#x)\n- [Draft]()\n- [More]()\n  - [D](d.md)\n\n---\n\n[End](end.md)\n",
			},
			[]string{"text/pre.md", "text/a.md", "text/b c.md", "text/d.md", "text/end.md"},
			"text/pre.md\n# Start (part)\ntext/a.md\n-text/b c.md\n# More\n-text/d.md\ntext/end.md\n", "title: \"Wells\"",
		},
		"GitBook": {
			map[string]string{"SUMMARY.md": "# Table of contents\n\n* [Start](README.md)\n\n## Use\n\n* [A](use/a.md)\n" +
				"  * [B](use/b.md)\n* [Web](https://a.example)\n"},
			[]string{"README.md", "use/a.md", "use/b.md"},
			"README.md\n# Use (part)\nuse/a.md\n-use/b.md\n", "",
		},
		"MkDocs": {
			map[string]string{"mkdocs.yml": "site_name: Wells\nmarkdown_extensions:\n  - x:\n      f: !!python/name:a.b.c\nnav:\n" +
				"  - index.md\n  - Use:\n      - A: use/a.md\n      - Deep:\n          - use/b.md\n  - Web: https://a.example\n"},
			[]string{"docs/index.md", "docs/use/a.md", "docs/use/b.md"},
			"docs/index.md\n# Use\n-docs/use/a.md\n-# Deep\n--docs/use/b.md\n", "title: \"Wells\"",
		},
		"MkDocs by name": {
			map[string]string{"mkdocs.yml": "site_name: Wells\ndocs_dir: text\n"},
			[]string{"text/b.md", "text/index.md", "text/a/z.md", "text/a/index.md", "text/.x.md"},
			"text/index.md\ntext/a/index.md\ntext/a/z.md\ntext/b.md\n", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			book, err := bookfolder.Read(folder(row.settings, row.files...))
			if err != nil || len(book.Warnings) > 0 {
				t.Fatalf("got error %v and warnings %v, want none", err, book.Warnings)
			}

			if diff := cmp.Diff(row.want, listing(book)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}

			if matter := string(book.FrontMatter()); !strings.Contains(matter, row.matter) {
				t.Errorf("the front matter is\n%s\nwant in it\n%s", matter, row.matter)
			}
		})
	}
}

func TestErrorsOfUnusableSettingsNameTheFile(t *testing.T) {
	t.Parallel()

	var many strings.Builder
	for i := range 2001 {
		fmt.Fprintf(&many, "- [%d](%d.md)\n", i, i)
	}
	thousands := folder(map[string]string{"SUMMARY.md": many.String()})

	for i := range 2001 {
		thousands[fmt.Sprintf("%d.md", i)] = &fstest.MapFile{}
	}

	for name, row := range map[string]struct {
		folder fstest.MapFS
		code   fault.Code
		want   string
	}{
		"nothing":        {folder(nil), fault.InvalidRequest, "known are _quarto.yml, _bookdown.yml, _toc.yml, myst.yml, book.toml, mkdocs.yml and SUMMARY.md"},
		"numbered files": {folder(nil, "02-b.md", "01-a.md", "index.md"), fault.InvalidRequest, "--merge index.md 01-a.md 02-b.md"},
		"website":        {folder(map[string]string{"_quarto.yml": "website: {title: x}\n"}), fault.InvalidRequest, "without the settings of a book"},
		"no YAML":        {folder(map[string]string{"_toc.yml": "root: \"x\n"}), fault.InvalidRequest, "_toc.yml: line "},
		"list":           {folder(map[string]string{"_toc.yml": "- file: x\n"}), fault.InvalidRequest, "_toc.yml: line 1: it must be a list of"},
		"nothing left":   {folder(map[string]string{"SUMMARY.md": "- [a](a.md)\n"}), fault.InvalidRequest, `chapter "a.md" is left out: there is no such file`},
		"no chapter":     {folder(map[string]string{"SUMMARY.md": "text\n"}), fault.InvalidRequest, "SUMMARY.md: it names no chapter"},
		"no summary":     {folder(map[string]string{"book.toml": "[book]\n"}), fault.InvalidRequest, "src/SUMMARY.md, cannot be read"},
		"no TOML":        {folder(map[string]string{"book.toml": "[book\n"}), fault.InvalidRequest, "book.toml: line 1"},
		"aliases":        {folder(map[string]string{"mkdocs.yml": "a: &a [x]\nb: &b [*a, *a]\nnav: [*b, *b]\n"}), fault.InvalidRequest, "mkdocs.yml: line 3: nav: aliases are not followed"},
		"deep":           {folder(map[string]string{"_toc.yml": "root: x\nchapters: " + strings.Repeat("[", 40) + "\n"}), fault.InvalidRequest, "nest deeper"},
		"large":          {folder(map[string]string{"_toc.yml": strings.Repeat("# a\n", 200_000)}), fault.InvalidRequest, "longer than 512 KB"},
		"many chapters":  {thousands, fault.ContentTooComplex, "more than 2000 chapters"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := bookfolder.Read(row.folder)
			if fault.CodeOf(err) != row.code || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %s", err, row.want)
			}
		})
	}
}

func TestEntriesThatCannotBePrintedCauseWarnings(t *testing.T) {
	t.Parallel()

	book, err := bookfolder.Read(folder(
		map[string]string{
			"SUMMARY.md": "- [a](a.md)\n- [up](../up.md)\n- [no](no.md)\n- [r](x.rst)\n- [root](/etc/passwd)\n",
		},
		"a.md",
		"x.rst",
	))
	if err != nil {
		t.Fatal(err)
	}

	var got []string
	for _, w := range book.Warnings {
		got = append(got, w.Message)
	}

	want := []string{
		`SUMMARY.md: chapter "../up.md" is left out: it is not in the folder of the book`,
		`SUMMARY.md: chapter "no.md" is left out: there is no such file`,
		`SUMMARY.md: chapter "x.rst" is left out: it is neither Markdown nor a notebook`,
		`SUMMARY.md: chapter "etc/passwd" is left out: there is no such file`,
	}
	if diff := cmp.Diff(want, got); diff != "" || listing(book) != "a.md\n" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
