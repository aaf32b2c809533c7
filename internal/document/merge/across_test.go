package merge

import (
	"errors"
	"strings"
	"testing"

	"presswork/internal/markdown"
)

// parse merges documents whose paths are a.md, b.md and so on.
func parse(t *testing.T, o markdown.Options, contents ...string) markdown.Document {
	t.Helper()

	var sources []Source
	for i, content := range contents {
		sources = append(sources, Source{Path: string(rune('a'+i)) + ".md", Content: []byte(content), Options: o})
	}

	whole, err := Parse(t.Context(), markdown.New().Parse, sources)
	if err != nil {
		t.Fatal(err)
	}

	return whole
}

// checkContains fails the test for each of wants that text lacks.
func checkContains(t *testing.T, text string, wants ...string) {
	t.Helper()

	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("want %s in\n%s", want, text)
		}
	}
}

func TestLabelsAndNumbersWorkAcrossDocuments(t *testing.T) {
	t.Parallel()

	whole := parse(t, markdown.Options{},
		"# One\n\n![First](x.png){#fig:first}\n\nSee [@fig:second].\n",
		"# Two\n\n![Second](y.png){#fig:second}\n\nSee [@fig:first].\n")

	var captions []string
	for _, c := range whole.Captions {
		captions = append(captions, c.ID)
	}

	if len(captions) != 2 || captions[0] == captions[1] {
		t.Errorf("got the anchors %q of captions, want two different ones", captions)
	}
	checkContains(t, whole.HTML, "Figure\u00a01:</span> First", "Figure\u00a02:</span> Second",
		`href="#`+captions[0]+`"`, `href="#`+captions[1]+`"`)
}

// The bibliography of all documents is printed once, in the document that has a place for it.
func TestDocumentsShareOneBibliography(t *testing.T) {
	t.Parallel()

	const library = `[{"id":"a","type":"book","title":"Alpha","author":[{"family":"Abel"}]},
		{"id":"b","type":"book","title":"Beta","author":[{"family":"Bach"}]}]`
	o := markdown.Options{
		Bibliography: []string{"library.json"}, CitationStyle: "ieee",
		Asset: func(string) ([]byte, error) { return []byte(library), nil },
	}
	whole := parse(t, o, "# One\n\nAs in [@a].\n", "# Two\n\nAs in [@b].\n\n# References\n\n::: {#refs}\n:::\n",
		"# Three\n\n[@a]\n")

	if n := strings.Count(whole.HTML, "Alpha"); n != 1 {
		t.Errorf("the entry of the first book is there %d times, want once, in\n%s", n, whole.HTML)
	}
	before, after, _ := strings.Cut(whole.HTML, "References")
	checkContains(t, before, "[1]", "[2]")
	checkContains(t, after, "Abel", "Bach", "[1]")

	if strings.Index(after, "Bach") > strings.Index(after, "Three") {
		t.Error("the bibliography is after the third document, want it in the second")
	}
}

func TestNotesAndHeadingsOfDocumentsHaveDifferentAnchors(t *testing.T) {
	t.Parallel()

	const note = "# Part\n\nText[^1].\n\n[^1]: Note.\n"
	whole := parse(t, markdown.Options{}, note, note)

	for _, id := range []string{`id="fn:1"`, `id="fnref:1"`, `id="part"`, `id="part-2"`} {
		if n := strings.Count(whole.HTML, id); n != 1 {
			t.Errorf("%s is there %d times, want once, in\n%s", id, n, whole.HTML)
		}
	}
	checkContains(t, whole.HTML, `id="fn:1-2"`, `href="#fn:1-2"`, `id="fnref:1-2"`, `href="#fnref:1-2"`)
}

func TestLinksReachADocumentWithoutHeading(t *testing.T) {
	t.Parallel()

	whole := parse(t, markdown.Options{}, "[b](b.md) [up](../b.md) [web](https://example.com/b.md)\n", "Text.\n")
	checkContains(t, whole.HTML, `<a>up</a>`, `id="part-2"`, `href="#part-2">b`, `href="https://example.com/b.md"`)
}

func TestWholeHasTheTitleOfTheFirstDocumentAndAnyContents(t *testing.T) {
	t.Parallel()

	whole := parse(t, markdown.Options{}, "# Der Anfang der Geschichte und das Ende\n", "[TOC]\n\n## Zwei\n")
	if !whole.TOC || whole.Title != "Der Anfang der Geschichte und das Ende" || len(whole.Blocks) == 0 {
		t.Errorf("got contents %t, title %q and %d blocks; want contents, the heading and some",
			whole.TOC, whole.Title, len(whole.Blocks))
	}
}

func TestWholeAddsUpTheElementsLettersAndFormulasOfItsDocuments(t *testing.T) {
	t.Parallel()

	first, second := "# One\n\nText.\n", "# Two\n\n## Three\n\nΕλλάδα, Россия, Ўзбекистон, العربية, 日本語 $$"+
		strings.Repeat("x+", 60)+"y$$\n"
	one := parse(t, markdown.Options{}, first)
	other := parse(t, markdown.Options{}, second)

	whole := parse(t, markdown.Options{}, first, second)
	if whole.Parts != one.Parts+other.Parts {
		t.Errorf("the whole has %d elements, want the sum of %d and %d", whole.Parts, one.Parts, other.Parts)
	}

	if want := one.Letters.With(other.Letters); whole.Letters != want || want == (markdown.Document{}).Letters {
		t.Errorf("the whole has the letters %v, want %v", whole.Letters, want)
	}

	if whole.WidestFormula != other.WidestFormula || other.WidestFormula == 0 {
		t.Errorf("the widest formula is %v, want %v", whole.WidestFormula, other.WidestFormula)
	}
}

// Equal labels of captions and equal index entries get different anchors, and numbers of chapters continue.
func TestCaptionsIndexAndChapterNumbersOfEqualDocuments(t *testing.T) {
	t.Parallel()

	const part = "# Part\n\n## Section\n\n![Picture](x.png){#fig:same}\n\nA \\index{word} here.\n"
	whole := parse(t, markdown.Options{NumberHeadings: true}, part, part)

	ids := map[string]bool{}
	for _, c := range whole.Captions {
		ids[c.ID] = true
		checkContains(t, whole.HTML, `id="`+c.ID+`"`)
	}

	for _, e := range whole.Index {
		ids[e.ID] = true
		checkContains(t, whole.HTML, `id="`+e.ID+`"`)
	}

	if len(whole.Captions) != 2 || len(whole.Index) != 2 || len(ids) != 4 {
		t.Errorf("got captions %+v and index %+v, want two of each with different anchors", whole.Captions, whole.Index)
	}
	checkContains(t, whole.HTML, ">1.1\u2002Section", ">2.1\u2002Section")
}

func TestFirstDocumentDecidesTheLanguageAndReadsTheBibliography(t *testing.T) {
	t.Parallel()

	library := func(string) ([]byte, error) {
		return []byte(`[{"id":"a","type":"book","title":"Alpha","author":[{"family":"Abel"}]}]`), nil
	}
	none := func(name string) ([]byte, error) { return nil, errors.New("no " + name) }

	whole, err := Parse(t.Context(), markdown.New().Parse, []Source{
		{Path: "/a.md", Content: []byte("# Eins\n\n[web](https://example.com/b.md)\n"), Options: markdown.Options{
			Lang: "de", Asset: library,
		}},
		{Path: "/b.md", Content: []byte("# Zwei\n\n\"Wort\" von @a\n"), Options: markdown.Options{
			Bibliography: []string{"library.json"}, Asset: none,
		}},
		{Path: "/c.md", Content: []byte("# Drei\n"), Options: markdown.Options{Lang: "en"}},
	})
	if err != nil {
		t.Fatal(err)
	}

	if whole.Lang != "de" {
		t.Errorf("the language is %q, want de", whole.Lang)
	}
	checkContains(t, whole.HTML, "„Wort“", "Abel", `href="https://example.com/b.md"`)
}

// Section numbers continue in documents of a lower level. Chapters of the appendix have letters.
func TestNumbersContinueInABook(t *testing.T) {
	t.Parallel()

	o := markdown.Options{NumberHeadings: true, Folder: "."}
	deeper, part := o, o
	deeper.Shift, part.BookPart = 1, true

	whole, err := Parse(t.Context(), markdown.New().Parse, []Source{
		{Path: "pre.md", Content: []byte("# Preface {-}\n"), Options: o},
		{Path: "part.md", Content: []byte("# Part\n"), Options: part},
		{Path: "a.md", Content: []byte("# A\n\n## B\n\n[c](c.html)\n"), Options: o},
		{Path: "c.md", Content: []byte("# C\n\n## D\n"), Options: deeper},
		{Path: "e.md", Content: []byte("# E\n\n# (PART) Second {-}\n\n# (APPENDIX) Appendix {-}\n\n# F\n"), Options: o},
		{Path: "g.md", Content: []byte("# G\n"), Options: o, Appendix: true},
	})
	if err != nil {
		t.Fatal(err)
	}

	got := ""
	for _, h := range whole.Headings {
		got += strings.TrimLeft(h.Number+" "+h.Text, " ") + "; "
	}

	if want := "Preface; Part; 1 A; 1.1 B; 1.2 C; 1.2.1 D; 2 E; Second; Appendix; A F; B G; "; got != want {
		t.Errorf("got headings %s, want %s", got, want)
	}
	checkContains(t, whole.HTML, `<h1 class="part unnumbered" id="part">Part</h1>`+"\n<h1 id=\"a\">", `href="#c">c`)
}
