package document_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/document"
)

// paper returns a paper with eight sections, a note in each, a table that fits a column and one that does not. Words
// that tests look for end in x.
func paper() string {
	const filler = "words that fill the lines of a column until they end "
	var b strings.Builder
	b.WriteString("---\ntitle: Titlex of a paper that is\nauthor: [Ann Authorx]\nabstract: Abstractx of it.\n" +
		"as: paper\nlang: en\n---\n\n")

	for n := range 8 {
		fmt.Fprintf(&b, "## Section%dx\n\n%s marks%dx[^%d] %s\n\n%s\n\n",
			n, strings.Repeat(filler, 12), n, n, strings.Repeat(filler, 6), strings.Repeat(filler, 14))

		if n == 2 {
			b.WriteString("| smallx | b |\n|---|---|\n| c | d |\n\n")
		}

		if n == 4 {
			cell := "| a remark of several long words "
			b.WriteString(
				"| firstx |" + strings.Repeat(" head |", 6) + " lastx |\n|" + strings.Repeat("---|", 8) + "\n" +
					strings.Repeat(cell, 8) + "|\n\n",
			)
		}
	}

	for n := range 8 {
		fmt.Fprintf(&b, "[^%d]: notes%dx of a few words.\n\n", n, n)
	}

	return b.String()
}

// printedWord is a word on a page and its box in points, from the top left corner.
type printedWord struct {
	page                     int
	text                     string
	left, top, right, bottom float64
}

var (
	printedPage = regexp.MustCompile(`<page width="([\d.]+)" height="([\d.]+)">`)
	wordBox     = regexp.MustCompile(`<word xMin="([\d.]+)" yMin="([\d.]+)" xMax="([\d.]+)" yMax="([\d.]+)">([^<]*)<`)
)

// wordsIn returns the words of a PDF.
func wordsIn(t *testing.T, path string) (words []printedWord) {
	t.Helper()

	pages := printedPage.Split(poppler(t, "pdftotext", "-bbox", path, "-"), -1)
	for page, text := range pages[1:] {
		for _, m := range wordBox.FindAllStringSubmatch(text, -1) {
			var at [4]float64
			for i := range at {
				at[i], _ = strconv.ParseFloat(m[i+1], 64) // digits
			}
			words = append(words, printedWord{page + 1, m[5], at[0], at[1], at[2], at[3]})
		}
	}

	return words
}

// wordWith returns the first word that begins with some letters.
func wordWith(t *testing.T, words []printedWord, begin string) printedWord {
	t.Helper()

	i := slices.IndexFunc(words, func(w printedWord) bool { return strings.HasPrefix(w.text, begin) })
	if i < 0 {
		t.Fatalf("%s is not printed", begin)
	}

	return words[i]
}

// The title of a paper and a wide table span both columns. Each note is at the foot of the column of its mark.
func TestTwoColumnsOfAPaper(t *testing.T) {
	t.Parallel()
	_, path := printDocument(
		t,
		document.Document{Content: []byte(paper()), Options: presswork.Options{Columns: new(2)}},
	)
	words := wordsIn(t, path)

	const middle = 210 * 72 / 25.4 / 2
	const gap = 6 * 72 / 25.4

	crossing := 0 // words on the first page in the gap below the title and the abstract
	title := wordWith(t, words, "Abstractx")

	for _, w := range words {
		const folio = "1" // the page number is in the middle
		if w.page == 1 && w.text != folio && w.top > title.bottom+20 &&
			w.left < middle+gap/2-1 && w.right > middle-gap/2+1 {
			crossing++
		}
	}

	if crossing > 0 {
		t.Errorf("%d words are between the columns, want none", crossing)
	}

	if w := wordWith(t, words, "Titlex"); w.left > middle || wordWith(t, words, "is").page != 1 {
		t.Errorf("the title begins at %.0f pt, want it left of the middle and on page 1", w.left)
	}

	right := 0

	for n := range 8 {
		mark, note := wordWith(t, words, fmt.Sprintf("marks%dx", n)), wordWith(t, words, fmt.Sprintf("notes%dx", n))
		if mark.page != note.page || (mark.left > middle) != (note.left > middle) || note.top < mark.bottom {
			t.Errorf("note %d is at %+v, want it below its mark at %+v, in the same column", n, note, mark)
		}

		if note.left > middle {
			right++
		}
	}

	if right == 0 || right == 8 {
		t.Errorf("%d of 8 notes are in the right column, want some but not all", right)
	}

	if first, last := wordWith(t, words, "firstx"), wordWith(t, words, "lastx"); first.left > middle ||
		last.left < middle {
		t.Errorf("the wide table is between %.0f and %.0f pt, want it across the middle %.0f", first.left, last.right,
			middle)
	}
}

// blackPicture returns a PNG file of that size as a data URI.
func blackPicture(t *testing.T, width, height int) string {
	t.Helper()

	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}

	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
}

// Low wide pictures and tables of many columns span both columns of the text.
func TestWideContentSpansBothColumns(t *testing.T) {
	t.Parallel()
	picture := func(width, height int) string { return blackPicture(t, width, height) }

	for name, row := range map[string]struct{ text, want string }{
		"picture":         {"![a](" + picture(1200, 400) + ")", `<p class="spanning" data-pictures><img`},
		"figure":          {"![a](" + picture(1200, 400) + ` "Title")`, `<figure id="toc-fig-1" class="spanning">`},
		"high picture":    {"![a](" + picture(1200, 800) + ")", `<p data-pictures><img`},
		"small picture":   {"![a](" + picture(600, 100) + ")", `<p data-pictures><img`},
		"in a sentence":   {"See ![a](" + picture(1200, 400) + ").", `<p>See <img`},
		"six columns":     {grid(6, 2, "1"), `<table class="spanning">`},
		"five columns":    {grid(5, 2, "1"), `<table>`},
		"wide by a class": {grid(2, 2, "1") + "{.wide}\n", `<table class="spanning">`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			html := compose(t, document.Document{
				Content: []byte(row.text), Options: presswork.Options{As: "paper", Columns: new(2)},
			}).Page.HTML

			if _, body, _ := strings.Cut(html, "<main>\n"); !strings.HasPrefix(body, row.want) {
				t.Errorf("got %.100s, want %s", body, row.want)
			}
		})
	}
}

// In two columns, a page break ends the page and not only the column, also above footnotes.
func TestAPageBreakEndsAPageInTwoColumns(t *testing.T) {
	t.Parallel()
	content := "# Title\n\nFirst.[^1]\n\n\\newpage\n\nSecond.[^2]\n\n" + strings.Repeat("Words of a column. ", 200) +
		"\n\n\\newpage\n\nThird.[^3]\n"

	plain := regexp.MustCompile(`\[\^.\]`).ReplaceAllString(content, "")

	for name, text := range map[string]string{
		"with notes":    content + "\n[^1]: Anote.\n[^2]: Bnote.\n[^3]: Cnote.\n",
		"without notes": plain,
		"below a table": strings.Replace(plain, "First.\n", "First.\n\n"+grid(6, 2, "1"), 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, path := printDocument(t, document.Document{
				Content: []byte(text), Options: presswork.Options{As: "paper", Columns: new(2)},
			})
			words := wordsIn(t, path)

			for word, page := range map[string]int{"First": 1, "Second": 2, "Third": 3} {
				if w := wordWith(t, words, word); w.page != page || w.left > 100 {
					t.Errorf("%s is at %+v, want it on the left of page %d", word, w, page)
				}
			}

			if name != "with notes" {
				return
			}

			for word, page := range map[string]int{"Anote": 1, "Bnote": 2, "Cnote": 3} {
				if w := wordWith(t, words, word); w.page != page || w.top < 700 {
					t.Errorf("%s is at %+v, want it at the foot of page %d", word, w, page)
				}
			}
		})
	}
}

// The script that places notes removes finished pages from the layout. It keeps them where that would move the rest,
// as below a table across both columns.
func TestNotesOfALongPaperAreInTheirColumns(t *testing.T) {
	t.Parallel()
	const notes, middleA5 = 60, 148.5 * 72 / 25.4 / 2
	var text, list strings.Builder

	for n := range notes {
		text.WriteString(
			strings.Repeat("words that fill the lines ", 20+n%7*9) + fmt.Sprintf("marks%dx[^%d].\n\n", n, n),
		)
		fmt.Fprintf(&list, "[^%d]: notes%dx %s\n\n", n, n, strings.Repeat("in small type ", n%5*3))

		if n%12 == 5 {
			text.WriteString("| " + strings.Repeat("a long head | ", 12) + "\n" + strings.Repeat("|---", 12) + "|\n\n")
		}
	}
	_, path := printDocument(t, document.Document{
		Content: []byte(text.String() + list.String()),
		Options: presswork.Options{As: "paper", Columns: new(2), PageSize: "A5"},
	})
	words := wordsIn(t, path)

	if last := words[len(words)-1].page; last < 14 {
		t.Fatalf("the paper has %d pages, want at least 14", last)
	}

	for n := range notes {
		mark, note := wordWith(t, words, fmt.Sprintf("marks%dx", n)), wordWith(t, words, fmt.Sprintf("notes%dx", n))
		if mark.page != note.page || (mark.left > middleA5) != (note.left > middleA5) || note.top < mark.bottom {
			t.Errorf("note %d is at %+v, want it below its mark at %+v, in the same column", n, note, mark)
		}
	}
}

func TestPapersNumberSectionsAndAreDenserThanDocuments(t *testing.T) {
	t.Parallel()
	pages := map[string]int{}

	for name, o := range map[string]presswork.Options{
		"document": {As: "document"}, "paper": {}, "columns": {Columns: new(2)}, "compact": {Density: "compact"},
		"generous": {Density: "generous"},
	} {
		made, path := printDocument(t, document.Document{Content: []byte(paper()), Options: o})
		pages[name] = made.Pages

		text := poppler(t, "pdftotext", path, "-")
		if numbered := regexp.MustCompile(`2\s+Section1x`).MatchString(text); numbered != (name != "document") {
			t.Errorf("%s: sections are numbered: %v, want %v", name, numbered, !numbered)
		}
	}

	if !(pages["columns"] < pages["paper"] && pages["paper"] < pages["document"]) ||
		!(pages["compact"] < pages["generous"]) {
		t.Errorf("got pages %v, want columns < paper < document, and compact < generous", pages)
	}
}

func TestOnlyPrintedPapersHaveColumns(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		options presswork.Options
		want    string
	}{
		"documents": {presswork.Options{Columns: new(2)}, "columns goes with as: paper only"},
		"three":     {presswork.Options{Columns: new(3), As: "paper"}, "columns 3 is not allowed; allowed: 1, 2"},
		"density":   {presswork.Options{Density: "dense"}, `density "dense" is not allowed; allowed: compact, normal, generous`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if _, err := document.Check([]byte("x"), c.options); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}

	web := compose(t, document.Document{
		Content: []byte(paper()), Output: presswork.HTML, Options: presswork.Options{Columns: new(2)},
	}).Page.HTML
	if !strings.Contains(web, `<body class="paper">`) || strings.Contains(web, "two-columns") {
		t.Error("want the HTML file as a paper in one column")
	}
}
