package main

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// quartoBook returns the files of a Quarto book: parts, an appendix, variables, includes and references.
func quartoBook() map[string]string {
	return map[string]string{
		"wells/_quarto.yml": "book:\n  title: Wells\n  subtitle: A guide\n  author: Ada Penrose\n  chapters:\n    - index.qmd\n" +
			"    - part: Basics\n      chapters: [text/one.qmd, text/two.qmd]\n  appendices: [text/long.qmd]\n" +
			"bibliography: refs.bib\ntheme: nord\n",
		"wells/index.qmd":       "# Preface {-}\n\nSee @sec-depth, [two](text/two.html#sec-depth) and [long](/text/long.qmd).\n",
		"wells/text/one.qmd":    "---\ntitle: First\n---\n\n## Start\n\nAs in [@tide].\n\n{{< include /notes/_note.qmd >}}\n\n![Pic](../img/p.svg){#fig-one}\n",
		"wells/text/two.qmd":    "# Second\n\n## Depth {#sec-depth}\n\n@fig-one, [@tide].\n\n![Pic](/img/p.svg){#fig-two}\n",
		"wells/text/long.qmd":   "---\nparams:\n  year: 2026\n---\n# Tables\n\n## More\n\nIn {{< meta title >}} {{< var v.no >}}, `r params$year`.\n",
		"wells/_variables.yml":  "v:\n  no: 1.2\n",
		"wells/notes/_note.qmd": "Included from the book.\n",
		"wells/img/p.svg":       `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M0 0h9v9z"/></svg>`,
		"wells/refs.bib":        "@book{tide, title={Tides}, author={Abel, Ann}, year={2001}, publisher={Coast}}\n",
	}
}

func TestMD2PDFPrintsABookFolder(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, quartoBook())
	got := runCommand(t, "md2pdf", "--html", filepath.Join(dir, "wells"))

	if got.code != exitOK || strings.Count(got.stderr, "\n") != 1 {
		t.Fatalf("got %v; want success and one line in stderr", got)
	}
	page := readFile(t, filepath.Join(dir, "wells.html"))

	for _, want := range []string{
		"<title>Wells</title>", "A guide", "Ada Penrose", `class="toc"`, "Included from the book.",
		">Basics<", "1\u2002First", "1.1\u2002Start", "2.1\u2002Depth", "A\u2002Tables", "A.1\u2002More", "In Wells 1.2, 2026.",
		`<a href="#sec-depth">two</a>`, `<a href="#tables">long</a>`, "Section\u00a02.1",
		"Figure\u00a01.1:", "Figure\u00a02.1:", `Abel, Ann.`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}

	if n := strings.Count(page, "Abel, Ann."); n != 1 {
		t.Errorf("the cited work is listed %d times, want once", n)
	}
}

func TestMD2PDFConfinesABookToItsFolder(t *testing.T) {
	t.Parallel()

	dir := writeFiles(t, map[string]string{
		"book/SUMMARY.md": "- [a](text/a.md)\n- [link](link.md)\n- [up](../secret.md)\n",
		"book/text/a.md":  "# A\n\n![p](../../secret.png)\n\n{{#include ../../secret.md}}\n\n![q](/../secret.png)\n",
		"secret.md":       "SECRET\n",
		"secret.png":      "SECRET",
	})
	if err := os.Symlink(filepath.Join(dir, "secret.md"), filepath.Join(dir, "book", "link.md")); err != nil {
		t.Fatal(err)
	}
	got := runCommand(t, "md2pdf", "--html", "--json", filepath.Join(dir, "book"))

	var l line
	got.decodeJSON(t, &l)

	if page := readFile(t, filepath.Join(dir, "book.html")); strings.Contains(page, "SECRET") {
		t.Error("the page has a file from outside the book")
	}

	if len(l.Warnings) != 5 || len(l.Merged) != 1 || l.Merged[0] != filepath.Join(dir, "book", "text", "a.md") {
		t.Errorf("got %+v; want five warnings and the chapter text/a.md alone", l)
	}

	if !strings.Contains(got.stderr, "text/a.md:5: include of") {
		t.Errorf("stderr %q", got.stderr)
	}
}

func TestMD2PDFExplainsAFolderThatIsNoBook(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, map[string]string{"x/02.md": "# B\n", "x/01.md": "# A\n"})

	got := runCommand(t, "md2pdf", "--html", filepath.Join(dir, "x"))
	got.check(t, exitFailed, "_quarto.yml", "--merge 01.md 02.md")

	if _, err := os.Stat(filepath.Join(dir, "x.html")); err == nil {
		t.Error("a failed conversion left a file")
	}
}

func TestMD2PDFWritesNothingIfAChapterIsInvalid(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, map[string]string{
		"b/SUMMARY.md": "- [a](a.md)\n- [b](b.md)\n",
		"b/a.md":       "# A\n",
		"b/b.md":       "\xff\xfe",
	})

	got := runCommand(t, "md2pdf", "--html", filepath.Join(dir, "b"))
	got.check(t, exitFailed, "b.md: the content is UTF-16")

	if _, err := os.Stat(filepath.Join(dir, "b.html")); err == nil {
		t.Error("a failed conversion left a file")
	}
}

// Quarto stores the Markdown with the outputs below _freeze, and the MD5 hash of the chapter.
func TestMD2PDFShowsTheStoredOutputsOfABook(t *testing.T) {
	t.Parallel()

	const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M0 0h9v9z"/></svg>`
	chapter := "# Depth\r\n\r\n```{python}\r\nprint(6 * 7)\r\n```\r\n"
	sum := md5.Sum([]byte(strings.ReplaceAll(chapter, "\r\n", "\n")))

	stored, err := json.Marshal(map[string]any{
		"hash": hex.EncodeToString(sum[:]),
		"result": map[string]any{
			"engine": "jupyter",
			"markdown": "# Depth\n\n::: {#4a .cell execution_count=1}\n``` {.python .cell-code}\nprint(6 * 7)\n```\n\n" +
				"::: {.cell-output .cell-output-stdout}\n```\n{{< include lost.md >}}\n42\n```\n:::\n\n::: {.cell-output .cell-output-display}\n" +
				"![](depth_files/figure-html/a.svg){#fig-depth}\n\n![](gone.png)\n:::\n:::\n",
		},
	})
	if err != nil {
		t.Fatal(err)
	}

	dir := writeFiles(t, map[string]string{
		"book/_quarto.yml":    "book:\n  title: Wells\n  chapters: [index.md, text/depth.qmd, late.qmd, odd.qmd]\n",
		"book/index.md":       "# Preface\n",
		"book/text/depth.qmd": chapter,
		"book/_freeze/text/depth/execute-results/html.json": string(stored),
		"book/_freeze/text/depth/figure-html/a.svg":         svg,
		"book/late.qmd": "# Late\n\nNew words.\n",
		"book/_freeze/late/execute-results/html.json": string(stored),
		"book/odd.qmd": "# Odd\n\nOdd words.\n",
		"book/_freeze/odd/execute-results/html.json":      "<<<<<<<",
		"book/_freeze/index/execute-results/unknown.json": "{}",
	})

	got := runCommand(t, "md2pdf", "--html", filepath.Join(dir, "book"))
	got.checkOK(t)

	page := readFile(t, filepath.Join(dir, "book.html"))
	for _, want := range []string{"42\n</code>", "data:image/svg+xml", "New words.", "Odd words."} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s:\n%s", want, page[strings.Index(page, "<body"):])
		}
	}

	for _, want := range []string{
		"late.qmd: its stored outputs are not shown: it has changed since Quarto wrote _freeze/late/execute-results/html.json",
		"odd.qmd: its stored outputs are not shown: _freeze/odd/execute-results/html.json is not JSON",
		"depth.qmd: line 18 of its stored outputs: ", "gone.png",
	} {
		if !strings.Contains(got.stderr, want) {
			t.Errorf("%s is not in\n%s", want, got.stderr)
		}
	}

	if strings.Contains(got.stderr, "lost.md") {
		t.Errorf("an output was read as a directive:\n%s", got.stderr)
	}
}
