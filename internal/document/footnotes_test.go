package document_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/document"
)

// annotated returns a text with notes in every element that may have one. Each note has a unique word next to its
// mark and in its text. cited is the number of notes.
func annotated() (content string, cited int) {
	var b, notes strings.Builder
	mark := func() string {
		cited++

		length := cited % 5 * 12
		if cited == 14 {
			length = 500 // longer than the rest of any page
		}
		fmt.Fprintf(&notes, "[^%d]: notes%dx %sends%dx\n\n", cited, cited, strings.Repeat("in small type ", length),
			cited)

		return fmt.Sprintf("marks%dx[^%d]", cited, cited)
	}

	filler := func(n int) string { return strings.TrimSpace(strings.Repeat("words that fill lines ", n)) }
	for range 3 {
		fmt.Fprintf(&b, "## A heading %s\n\n%s %s %s.\n\n", mark(), filler(20), mark(), filler(6))
		fmt.Fprintf(&b, "- An item %s\n  - within %s\n- %s\n\n", mark(), mark(), filler(12))
		fmt.Fprintf(&b, "> Quoted %s %s\n\n| a | b |\n|---|---|\n| c | %s |\n\n", mark(), filler(20), mark())
		fmt.Fprintf(&b, "%s\n\n%s %s.\n\n%s^[notes%dx within a line ends%dx]\n\n", filler(30), filler(40), mark(),
			fmt.Sprintf("marks%dx", cited+1), cited+1, cited+1)
		cited++
	}

	return b.String() + notes.String(), cited
}

// Every note begins on the page of its mark and is tagged as a note. A note that is too long for that page
// ends on the next.
func TestNotesStandAtTheFootOfTheirPage(t *testing.T) {
	t.Parallel()
	content, cited := annotated()

	for name, d := range map[string]document.Document{
		"default options": {Theme: "light"},
		"right to left":   {Theme: "lofi", Options: presswork.Options{Lang: "he", PageSize: "A5"}},
		"with a cover":    {Theme: "light", Options: presswork.Options{Cover: new(true), Title: "Notes"}},
		"other pages":     {Theme: "silk", Options: presswork.Options{TOC: new(presswork.Depth(2)), Cover: new(true), Scale: new(0.8), MarginPreset: "narrow", As: "document"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d.Content = []byte(content)
			_, path := printDocument(t, d)
			pages := strings.Split(poppler(t, "pdftotext", "-raw", path, "-"), "\f")

			for n := 1; n <= cited; n++ {
				on := func(word string) int {
					last := -1 // headings are also in the contents, before

					for i, page := range pages {
						if strings.Contains(page, fmt.Sprintf("%s%dx", word, n)) {
							last = i
						}
					}

					return last
				}

				mark, note, end := on("marks"), on("notes"), on("ends")
				switch {
				case mark < 0 || mark != note:
					t.Errorf("note %d is on page %d, want it on page %d of its mark", n, note+1, mark+1)
				case n == 14 && end <= note:
					t.Errorf("the long note 14 begins on page %d and ends on page %d, want its end on a later page",
						note+1, end+1)
				case n != 14 && end != note && end != note+1:
					t.Errorf("note %d begins on page %d and ends on page %d, want its end on the same or the next page",
						n, note+1, end+1)
				}
			}

			for i, page := range pageTexts(t, path) { // from top to bottom
				if first := strings.Index(page, "notes"); first >= 0 && strings.Contains(page[first:], "marks") {
					t.Errorf("text is printed below the notes of page %d", i+1)
				}
			}

			structure := poppler(t, "pdfinfo", "-struct", path)
			if got := strings.Count(structure, "Note <note-"); got != cited {
				t.Errorf("%d notes are tagged, want %d", got, cited)
			}
		})
	}
}

// The layout skips pages without notes. Notes that are far apart must still be on the pages of their marks.
func TestNotesFarApartAreOnTheirPages(t *testing.T) {
	t.Parallel()
	const blocks = 1000
	var b strings.Builder

	for n := range blocks {
		switch n {
		case 3, blocks / 2, blocks - 3:
			fmt.Fprintf(&b, "Marked%dx[^%d].\n\n[^%d]: Noted%dx.\n\n", n, n, n, n)
		case blocks / 4:
			b.WriteString("\\newpage\n\n")
		}
		fmt.Fprintf(&b, "Paragraph %d, %s.\n\n", n, strings.Repeat("which fills a line ", n%9))
	}
	_, path := printDocument(t, document.Document{Content: []byte(b.String())})
	noted := 0

	for n, page := range strings.Split(poppler(t, "pdftotext", path, "-"), "\f") {
		mark, note := strings.Count(page, "Marked"), strings.Count(page, "Noted")
		if noted += note; mark != note {
			t.Errorf("page %d has %d notes and %d marks, want as many notes as marks", n+1, note, mark)
		}
	}

	if noted != 3 {
		t.Errorf("%d notes are printed, want 3", noted)
	}
}

// Notes are at the end on request, and when pages do not break as predicted.
func TestNotesAreAtTheEndOnRequestOrAfterUnexpectedPageBreaks(t *testing.T) {
	t.Parallel()

	const content = "Text[^1].\n\n\\newpage\n\nMore.\n\n[^1]: The note.\n"

	for name, o := range map[string]presswork.Options{
		"on request":       {Footnotes: "end"},
		"on smaller pages": {CSS: "@page{margin-bottom:120mm}"},
	} {
		t.Run(name, func(t *testing.T) {
			_, path := printDocument(t, document.Document{Content: []byte(content), Options: o})

			pages := strings.Split(poppler(t, "pdftotext", path, "-"), "\f")
			if len(pages) < 2 || !strings.Contains(pages[1], "The note.") {
				t.Errorf("got pages %q, want the note on the second", pages)
			}
		})
	}
}

// When one page does not break as predicted, only its notes move to the end.
func TestOnlyNotesThatMoveAreAtTheEnd(t *testing.T) {
	t.Parallel()
	const content = "First[^1].\n\nText.\n\n\\newpage\n\nSecond[^2].\n\n\\newpage\n\nThird.\n\n[^1]: Noted 1.\n\n[^2]: Noted 2.\n"
	_, path := printDocument(t, document.Document{
		Content: []byte(content),
		Options: presswork.Options{CSS: "@page:first{margin-bottom:120mm}"},
	})
	pages := strings.Split(poppler(t, "pdftotext", path, "-"), "\f")

	on := func(text string) int {
		return slices.IndexFunc(pages, func(page string) bool { return strings.Contains(page, text) })
	}

	mark, third, moved, stays := on("Second"), on("Third"), on("Noted 1"), on("Noted 2")
	if mark < 0 || moved != third || stays != mark {
		t.Errorf("the notes are on pages %d and %d, want %d and %d", moved+1, stays+1, third+1, mark+1)
	}
}

// Content that just fits on a printed page also fits when the pages are predicted, so that no text is printed
// below a note. Chromium rounds the area of a page to whole pixels.
func TestNoTextIsPrintedBelowNotes(t *testing.T) {
	t.Parallel()

	var content, css strings.Builder
	for n := range 12 {
		fmt.Fprintf(
			&content,
			"::: {.high%d}\nBegins.\n:::\n\n::: {.low}\nEnds.\n:::\n\n%sMarked.[^%d]\n\n%s\\newpage\n\n[^%d]: Noted.\n\n",
			n,
			strings.Repeat("Line.\n\n", 3),
			n,
			strings.Repeat("Line.\n\n", 20),
			n,
		)
		fmt.Fprintf(&css, ".high%d{height:%gpx}", n, 356+float64(n)/4)
	}
	css.WriteString("[class^=high],.low{break-inside:avoid;margin:0}.low{height:300px}")
	_, path := printDocument(t, document.Document{
		Content: []byte(content.String()),
		Options: presswork.Options{PageSize: "A5", CSS: css.String()},
	})
	noted := 0

	for n, page := range pageTexts(t, path) {
		_, below, found := strings.Cut(page, "Noted.")
		if found {
			noted++
		}

		if strings.Contains(below, "Line.") {
			t.Errorf("text is printed below the note of page %d:\n%s", n+1, page)
		}
	}

	if noted != 12 {
		t.Errorf("%d notes are printed, want 12", noted)
	}
}

// The foot of a page shows its note. A landscape page elsewhere makes the browser clip blocks at their edges.
func TestNotesAreNotCutOff(t *testing.T) {
	t.Parallel()

	for _, content := range []string{"Text[^1].\n", "Text[^1].\n\n::: {.landscape}\nWide.\n:::\n"} {
		_, path := printDocument(t, document.Document{Content: []byte(content + "\n[^1]: The note.\n")})

		first := inkedRows(t, path)[0]
		if foot := first[len(first)*4/5 : len(first)*9/10]; !slices.Contains(foot, true) {
			t.Errorf("%q: there is no ink at the foot of the page", content)
		}
	}
}

// A note that does not fit on its page is divided, so that little of the page stays white.
func TestLongNotesAreDivided(t *testing.T) {
	t.Parallel()
	// firstPage returns the text of the first of the pages with 60 lines, one of which has a mark.
	firstPage := func(marked int) string {
		var content strings.Builder
		for n := range 60 {
			fmt.Fprintf(&content, "Line %d.", n)

			if n == marked {
				content.WriteString("[^1]")
			}
			content.WriteString("\n\n")
		}
		content.WriteString("[^1]: " + strings.Repeat("A note of many words that fill its lines. ", 40) + "\n")
		_, path := printDocument(t, document.Document{Content: []byte(content.String())})
		page, _, _ := strings.Cut(poppler(t, "pdftotext", path, "-"), "\f")

		return page
	}

	marked := strings.Count(firstPage(-1), "Line ") - 6 // the sixth line from the foot
	if page := firstPage(marked); !strings.Contains(page, fmt.Sprintf("Line %d.", marked)) ||
		!strings.Contains(page, "A note of many words") {
		t.Errorf("line %d and the beginning of its note are not on the first page:\n%s", marked, page)
	}
}

// A picture that is slightly too high for the rest of a page is made smaller. A picture that is much too high goes
// to the next page.
func TestPicturesShrinkToFillThePage(t *testing.T) {
	t.Parallel()
	const picture = `<img alt="" src="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='300' height='400'%3E%3Crect width='300' height='400' fill='red'/%3E%3C/svg%3E">`

	var content strings.Builder
	for _, lines := range []int{20, 23, 33} {
		content.WriteString(strings.Repeat("A line.\\\n", lines) + "The last.\n\n")
		fmt.Fprintf(&content, "<figure>%s<figcaption>Caption %d</figcaption></figure>\n\n\\newpage\n\n", picture, lines)
	}
	_, path := printDocument(t, document.Document{Content: []byte(content.String())})
	pages := strings.Split(poppler(t, "pdftotext", path, "-"), "\f")

	on := func(text string) int {
		return slices.IndexFunc(pages, func(page string) bool { return strings.Contains(page, text) })
	}
	if a, b, c := on("Caption 20"), on("Caption 23"), on("Caption 33"); a != 0 || b != 1 || c != 3 {
		t.Errorf("the captions are on pages %d, %d, %d; want 1, 2, 4", a+1, b+1, c+1)
	}
}

// Each part of a merged document counts its own notes, and each note stands on the page that
// refers to it.
func TestNotesOfMergedDocuments(t *testing.T) {
	t.Parallel()

	part := func(name string) document.Part {
		return document.Part{
			Path:    name + ".md",
			Content: fmt.Appendf(nil, "# %[1]s\n\nText[^1] and[^2].\n\n[^1]: one of %[1]s\n[^2]: two of %[1]s\n", name),
		}
	}
	a := part("A")
	d := document.Document{
		Path:    a.Path,
		Content: a.Content,
		Parts:   []document.Part{part("B"), {Path: "x.md", Content: []byte("# Without notes\n")}, part("C")},
	}
	_, path := printDocument(t, d)
	pages := pageTexts(t, path)

	for page, name := range map[int]string{0: "A", 1: "B", 3: "C"} {
		t.Run(name, func(t *testing.T) {
			for n, text := range []string{"one of ", "two of "} {
				if note := fmt.Sprintf("%d %s%s\n", n+1, text, name); !strings.Contains(pages[page], note) {
					t.Errorf("page %d lacks the note %q:\n%s", page+1, note, pages[page])
				}
			}
		})
	}
}
