package document_test

import (
	"fmt"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/document"
)

// indexed has index entries on four of its five pages, in German.
const indexed = `---
toc: true
lang: de
---
# Book

Words\index{word}, twice\index{word}, and [terms]{.index}\index{list!of "words"}\index{ende@Ende}.

\newpage

## Chapter \index{chapter|see{heading}}one

Word\index{word}, Äpfel\index{Äpfel}\index{word|seealso{term}}

\newpage

Word\index{word}, list\index{list}.

\newpage

\newpage

Word\index{word}.
`

func TestIndexHasThePagesOfItsEntries(t *testing.T) {
	t.Parallel()
	r, path := printDocument(t, document.Document{Content: []byte(indexed)})
	text := poppler(t, "pdftotext", "-raw", "-f", fmt.Sprint(r.Pages), path, "-")
	_, index, _ := strings.Cut(text, "Register\n")
	// German sorts Ä as A.
	want := "Äpfel 2\nchapter (siehe heading)\nEnde 1\nlist 3\nof „words“ 1\nterms 1\nword 1–3, 5 (siehe auch term)\n"

	got := strings.Join(strings.Fields(index), " ")
	if !strings.HasPrefix(got, strings.Join(strings.Fields(want), " ")) {
		t.Errorf("the index is %q, want %q", got, want)
	}

	if contents := poppler(t, "pdftotext", "-l", "1", "-layout", path, "-"); !strings.Contains(contents, "Register") {
		t.Errorf("the index is not in the contents: %s", contents)
	}
}

func TestIndexLinksToItsEntries(t *testing.T) {
	t.Parallel()

	page := func(d document.Document) string { return compose(t, d).Page.HTML }

	web := page(document.Document{Content: []byte(indexed), Output: presswork.HTML})
	if strings.Contains(web, "data-fill") || !strings.Contains(web, `href="#toc-ix-2">2</a>`) {
		t.Errorf("an HTML document has no pages; want links numbered by occurrence: %s", web)
	}

	here := page(document.Document{Content: []byte("\\printindex\n\na\\index{b}\n")})
	if strings.Index(here, "toc-index\" role") > strings.Index(here, "<p>a") {
		t.Errorf("the index is below the paragraph, want it at \\printindex: %s", here)
	}

	parts := page(document.Document{
		Content: []byte("# A\n\na\\index{x}\n"),
		Path:    "a.md",
		Parts:   []document.Part{{Content: []byte("# B\n\nb\\index{x}\n\n\\printindex\n"), Path: "b.md"}},
	})
	if !strings.Contains(parts, `href="#toc-ix-1" data-fill></a><a class="toc-at" href="#toc-ix-1-2"`) ||
		strings.Contains(parts, ">Index</h") {
		t.Errorf("want one index of both parts, at \\printindex and without a heading: %s", parts)
	}

	hostile := page(document.Document{
		Content: []byte("a\\index{<b>x&\"} \\index{a|see{<i>}}\n\n<nav class=\"toc-index\"></nav>\n"),
	})
	if strings.Contains(hostile, "<b>") || strings.Contains(hostile, "<i>") ||
		strings.Count(hostile, "toc-first") != 1 {
		t.Errorf("HTML in an index entry is not escaped: %s", hostile)
	}

	if plain := page(document.Document{Content: []byte("# plain\n")}); strings.Contains(plain, "toc-index") {
		t.Error("a page without an index has the CSS rules of an index")
	}
}
