package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLostWordsAreReportedAsOftenAsTheyAreMissing(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		source, in string
		lost       []string
	}{
		"equal":                     {"One two, THREE", "one TWO three", nil},
		"divided at a line":         {"an incomprehensible word", "an incompre-\nhensible word", nil},
		"ligatures, capitals, soft": {"straße ﬁnd foo\u00adbar", "STRASSE find foobar", nil},
		"another order of signs":    {"कि", "िक", nil},
		"missing once":              {"cat cat dog", "cat dog", []string{"cat"}},
		"missing words":             {"alpha beta", "", []string{"alpha", "beta"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.lost, wordsOf(c.source).lost(wordsOf(c.in))); diff != "" {
				t.Errorf("lost words (-want +got):\n%s", diff)
			}
		})
	}
}

// pdftotext may change the order of the letters of a line from right to left.
func TestRightToLeftWordsAreComparedByLetters(t *testing.T) {
	t.Parallel()

	if got := wordsOf("اصلاح plain").letters().lost(wordsOf("اصالح").letters()); !cmp.Equal(got, []string{"plain"}) {
		t.Errorf("lost %q, want only plain", got)
	}

	if got := wordsOf("اصلاح").letters().lost(wordsOf("اصلا").letters()); !cmp.Equal(got, []string{"ح"}) {
		t.Errorf("lost %q, want the letter ح", got)
	}
}

func TestSyntaxIsNotCountedAsWords(t *testing.T) {
	t.Parallel()

	const text = "> [!NOTE] Title\n\n## Use {/*use*/} {#id .class}\n\n$x^2$ costs $5\n\n```mermaid\ngraph\n```\n\nText"

	got := string(withoutSyntax([]byte(text)))

	want := "> Title\n\n## Use\n\ncosts $5\n\nText"
	if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestVisibleTextLeavesOutScriptsAndDividesBlocks(t *testing.T) {
	t.Parallel()

	const page = "<head><title>no</title></head><p>a<b>b</b></p>" +
		"<table><tr><td>c</td><td>d</td></tr></table><script>no</script>"

	text, err := visibleText([]byte(page))
	if err != nil {
		t.Fatal(err)
	}

	if got, want := strings.Join(strings.Fields(text), " "), "ab c d"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestVisibleSyntaxIsReportedOutsideCode(t *testing.T) {
	t.Parallel()

	got := visibleSyntax(
		[]byte("<p>::: note</p><pre>::: in code</pre><p>see [[Page]] and <code>{#id}</code></p><p>plain</p>"),
	)
	if diff := cmp.Diff([]string{"::: note", "[[Page]]"}, got); diff != "" {
		t.Errorf("visible syntax (-want +got):\n%s", diff)
	}
}

func TestSliversAndGapsAreCounted(t *testing.T) {
	t.Parallel()
	// page returns a page of 297 rows, one for each millimetre, with ink from one row to another.
	page := func(from, to int) []bool {
		rows := make([]bool, 297)
		for y := from; y < to; y++ {
			rows[y] = true
		}

		return rows
	}
	full, fifth, half, line := page(20, 277), page(20, 220), page(20, 140), page(20, 25)

	got, worst, _ := countPages([][]bool{full, fifth, half, line})
	if want := (Pages{All: 4, Slivers: 1, Gap15: 2, Gap33: 1}); got != want || worst != 3 {
		t.Errorf("got %+v and page %d, want %+v and page 3", got, worst, want)
	}

	if got, _, _ := countPages([][]bool{line}); got.Slivers != 0 {
		t.Errorf("a document of one short page has %d slivers, want none", got.Slivers)
	}
}

func TestMarkdownIsFoundInFolders(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	for _, name := range []string{"a.md", "sub/b.MDX", "sub/c.qmd", "sub/d.txt"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}

		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}

	paths, err := find(dir)
	if err != nil || len(paths) != 3 {
		t.Errorf("found %q, %v; want three files", paths, err)
	}

	if _, err := find(t.TempDir()); err == nil || !strings.Contains(err.Error(), "no Markdown") {
		t.Errorf("empty folder: error %v, want one with no Markdown", err)
	}
}

func TestAllThemesAreListed(t *testing.T) {
	t.Parallel()

	if all, err := themeNames("all"); err != nil || len(all) < 35 || !slices.Contains(all, "nord") {
		t.Errorf("themeNames(all) = %q, %v; want at least 35 with nord", all, err)
	}
}

func TestWordsOutsideTheMarginsAreReported(t *testing.T) {
	t.Parallel()

	got := outsideMargins(`<page width="595.0" height="842.0">
    <word xMin="56.7" yMin="60" xMax="80.5" yMax="70">inside</word>
    <word xMin="500.1" yMin="60" xMax="581" yMax="70">a&amp;b</word>
    <word xMin="-3.5" yMin="60" xMax="90" yMax="70">left</word>
  </page><page width="842.0" height="595.0">
    <word xMin="500.1" yMin="60" xMax="561" yMax="70">landscape</word>`)
	if diff := cmp.Diff([]string{"a&b", "left"}, got); diff != "" {
		t.Errorf("words outside the margins (-want +got):\n%s", diff)
	}
}

func TestRotationGivesEachDocumentTheSameNumberOfThemes(t *testing.T) {
	t.Parallel()
	o := options{themes: []string{"a", "b", "c"}, rotate: 2}

	paths := []string{"0", "1", "2", "3"}

	for theme, want := range [][]string{{"0", "1", "3"}, {"0", "2", "3"}, {"1", "2"}} {
		t.Run(o.themes[theme], func(t *testing.T) {
			if diff := cmp.Diff(want, o.documentsOf(theme, paths)); diff != "" {
				t.Errorf("documents of the theme (-want +got):\n%s", diff)
			}
		})
	}

	if got := (options{themes: o.themes}).documentsOf(2, paths); !cmp.Equal(got, paths) {
		t.Errorf("without rotate: documents %q, want all", got)
	}
}
