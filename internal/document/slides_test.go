package document_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/document"
	"presswork/internal/fault"
	"presswork/internal/pdffile"
)

// talk has a slide of each kind, notes, and text that resembles breaks between slides.
const talk = "---\nas: slides\ntitle: Talk\nauthor: Ann\n---\n# Talk\n\nA subtitle\n\n<!-- Welcome. -->\n\n---\n\n# Part\n\n---\n\n## Text\n\n- one\n- two\n\nNote: Say three.\nAnd (four).\n\n---\n\n" +
	"```go\nx := 1\n```\n\n---\n\n> A quote.\n\n---\n\n## Last\n\n***not a rule***\n\n- a\n\n  ---\n\n  b\n"

// slidesOf returns the HTML of a document with slides.
func slidesOf(t *testing.T, content string, o presswork.Options, output presswork.Output) string {
	t.Helper()

	c, err := converter(t, document.Options{}).Compose(
		t.Context(),
		document.Document{Content: []byte(content), Options: o, Output: output},
	)
	if err != nil {
		t.Fatal(err)
	}

	return c.Page.HTML
}

var slideKind = regexp.MustCompile(
	`<section class="(?:slide )?(?:cover cover-wide )?slide-([a-z]+)([^"]*)" id="slide-(\d+)"`,
)

// kinds returns the kind of each slide on a page, with its further classes.
func kinds(page string) (list []string) {
	for _, m := range slideKind.FindAllStringSubmatch(page, -1) {
		list = append(list, m[1]+m[2])
	}

	return list
}

func TestSlidesHaveTheirKind(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ content, want string }{
		"a talk":             {talk, "cover section content code statement content"},
		"headings":           {"---\nas: slides\n---\n# A\n\ntext\n\n## B\n\n- x\n\n### C\n\ntext\n\n## D\n\n| a |\n|-|\n| b |\n", "cover content table"},
		"title of matter":    {"---\nas: slides\ntitle: T\n---\n- x\n\n---\n\n- y\n", "cover content content"},
		"Marp":               {"---\nmarp: true\ntheme: gaia\nclass: lead\npaginate: true\nheader: H\n---\n# A\n\n---\n\n<!-- _class: invert -->\n\n## B\n\n- x\n\n---\n\n## C\n\n- y\n", "cover content invert content lead"},
		"directives stay on": {"---\nmarp: true\n---\n# A\n\n---\n<!-- class: invert -->\n- x\n\n---\n\n- y\n", "cover content invert content invert"},
		"raw HTML":           {"---\nas: slides\n---\n- a\n<hr>\n<div data-slide></div>\n<div data-embed=1></div>\n\n---\n\n- b <div>\n\n---\n\n- c", "content content content"},
		"Slidev":             {"---\nas: slides\n---\n# One\n\n---\nlayout: two-cols\ntransition: fade\n---\n\n# Two\n\n- x\n\n::right::\n\n- y\n\n---\nclass: px-20\n---\n\n> A quote.\n\n---\n\nkey: a heading\n---\n\n- z\n", "cover content statement content"},
		"like Slidev":        {"---\nas: slides\n---\n# One\n\n---\nAgenda: a heading\n---\n\n> A quote.\n", "cover content"},
		"nothing":            {"---\nas: slides\n---\n---\n\n<!-- only a note -->\n", "content"},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(kinds(slidesOf(t, c.content, presswork.Options{}, "")), " ")
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}

	page := slidesOf(
		t,
		"---\nmarp: true\npaginate: true\nheader: \"{x} <b>\"\n---\n# A\n\n---\n\n<!-- _paginate: false -->\n- x\n\n---\n\n- y ![bg right:40% x]("+dotURI+")\n",
		presswork.Options{},
		"",
	)
	for _, want := range []string{`<div class="slide-foot"><span>(x) &lt;b&gt;</span></div>`, `<span>3</span>`, `class="slide slide-content bg-right" id="slide-3" style="--bg:40%"`, `<div class="slide-bg right" style="--bg:40%"><img `} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s: %s", want, page[strings.Index(page, "<body"):])
		}
	}

	if strings.Contains(page, "<script") || strings.Contains(page, "MISSING") {
		t.Error("the page has a script or MISSING, want neither")
	}

	html := slidesOf(t, talk, presswork.Options{}, presswork.HTML)
	if len(kinds(html)) != 6 || strings.Contains(html, "Say three") || strings.Contains(html, "<script") {
		t.Errorf("as HTML: got slides %q, want 6 without notes and scripts", kinds(html))
	}
}

// TestSlidesArePrinted checks the pages of slides, the notes on them, and slides that do not
// fit on a page.
func TestSlidesArePrinted(t *testing.T) {
	t.Parallel()
	c := converter(t, document.Options{Printer: printer(t)})
	much := strings.Repeat("Words that fill a slide, and then the next one as well. ", 14)
	content := talk + "\n\n---\n\n## Much\n\n" + much + "\n\n" + much +
		"\n\n---\n\n## Too much\n\n" + strings.Repeat(much+"\n\n", 8) + "\n\n---\n\n## End\n\n- x\n"

	r, path := convert(t, c, document.Document{Content: []byte(content)})

	line7 := 1 + strings.Count(content[:strings.Index(content, "## Much")], "\n")
	if len(r.Warnings) != 2 || r.Warnings[1].Code != fault.SlideOverflow || r.Warnings[0].Line != line7 ||
		!strings.Contains(r.Warnings[0].Message, "slide 7 holds more than a page; it is printed on 2 pages") ||
		!strings.Contains(r.Warnings[1].Message, "slide 8 ") {
		t.Errorf("got warnings %+v, want that slide 7 is divided and slide 8 overflows", r.Warnings)
	}

	size := field(poppler(t, "pdfinfo", path), "Page size")
	if !strings.HasPrefix(size, "960 x 540") && !strings.HasPrefix(size, "960.") && !strings.HasPrefix(size, "959.") {
		t.Errorf("got pages of %s, want 960 x 540", size)
	}

	for page, want := range map[int]string{2: "Part", 3: "two", 5: "A quote", 7: "Much", 8: "Much 2/2", 9: "Too much"} {
		t.Run(fmt.Sprint(page), func(t *testing.T) {
			if text := poppler(
				t,
				"pdftotext",
				"-f",
				strconv.Itoa(page),
				"-l",
				strconv.Itoa(page),
				path,
				"-",
			); !strings.Contains(text, want) {
				t.Errorf("page %d has the text %s, want %q in it", page, text, want)
			}
		})
	}

	text := strings.Join(strings.Fields(poppler(t, "pdftotext", path, "-")), " ")
	if strings.Count(text, "and then the next one") != 14*10 {
		t.Errorf("%d sentences are printed, want 140", strings.Count(text, "and then the next one"))
	}

	f, err := pdffile.Read(r.PDF)
	if err != nil {
		t.Fatal(err)
	}

	if pages, err := f.Anchors(); err != nil || pages["slide-9"] != r.Pages {
		t.Errorf("got anchors %v, %v; want slide-9 on the last page %d", pages, err, r.Pages)
	}

	if !strings.Contains(string(r.PDF), "/Subtype /Text") || !strings.Contains(string(r.PDF), "(Welcome.)") {
		t.Error("the pages lack the speaker notes as annotations")
	}

	if out, err := exec.CommandContext(t.Context(), "pdftoppm", "-r", "20", "-png", path, t.TempDir()+"/p").
		CombinedOutput(); err != nil ||
		len(out) > 0 {
		t.Errorf("pdftoppm: %v with the output %s, want none", err, out)
	}

	for kind, pages := range map[string]int{"none": 6, "pages": 8} {
		r, path := convert(
			t,
			c,
			document.Document{Content: []byte(talk), Options: presswork.Options{SpeakerNotes: kind}},
		)
		if r.Pages != pages || strings.Contains(string(r.PDF), "/Subtype /Text") ||
			strings.Contains(poppler(t, "pdftotext", path, "-"), "And (four).") != (kind == "pages") ||
			len(r.Warnings) > 0 {
			t.Errorf("speaker notes %s: %d pages with warnings %+v, want %d without",
				kind, r.Pages, r.Warnings, pages)
		}
	}
}

// TestCrowdedSlidesContinueOnFurtherSlides checks words on each page of divided slides.
func TestCrowdedSlidesContinueOnFurtherSlides(t *testing.T) {
	t.Parallel()
	lines := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format+"\n", i+1)
		}

		return b.String()
	}

	for name, row := range map[string]struct {
		content string
		pages   []string // words on each page, in their order
	}{
		"a little": {lines(12, "- item %d."), []string{"Crowded item 1. item 12."}},
		"bullets":  {"Lead.\n\n" + lines(17, "- item %d."), []string{"Crowded Lead. item 1.", "Crowded 2/2 item 11. item 17."}},
		"numbers within": {
			lines(8, "1. item %d.\n   - nested one\n   - nested two"),
			[]string{"Crowded 1. item 1.", "Crowded 2/3 4. item 4.", "Crowded 3/3 7. item 7. 8. item 8. nested two"},
		},
		"rows": {
			"| Name | Text |\n|---|---|\n" + lines(22, "| row | cell %d. |"),
			[]string{"Name Text row cell 1.", "Crowded 2/3 Name Text row cell 8.", "Crowded 3/3 Name Text row cell 15. row cell 22."},
		},
		"rows of a wide table": {
			strings.Repeat("| Column of words ", 9) + "|\n" + strings.Repeat("|---", 9) + "|\n" +
				lines(20, "| row%d "+strings.Repeat("| undividedword ", 8)+"|"),
			[]string{"Column row1", "Crowded 2/2 Column words row20"},
		},
		"lines of code": {
			"```go {2}\n" + lines(40, "x%d := 0") + "```\n",
			[]string{"1 x1 := 0", "Crowded 2/3 14 x14 := 0", "Crowded 3/3 27 x27 := 0 40 x40 := 0"},
		},
		"a heading with its text": {
			lines(9, "- item %d.") + "\n### Below\n\n" + lines(6, "- other %d."),
			[]string{"item 9.", "Crowded 2/2 Below other 1. other 6."},
		},
		"a picture": {
			"- before\n\n![A picture](" + blackPicture(t, 1600, 900) + ")\n\n- after\n- last\n",
			[]string{"Crowded before after last"},
		},
		"one large block": {strings.Repeat("many words in one paragraph ", 70) + "\n\nNext.\n", []string{"many", "2/2 Next."}},
	} {
		t.Run(name, func(t *testing.T) {
			r, path := printDocument(t, document.Document{
				Content: []byte("---\nas: slides\nline_numbers: true\n---\n## Crowded\n\n" + row.content),
			})
			if r.Pages != len(row.pages) {
				t.Errorf("%d pages, want %d", r.Pages, len(row.pages))
			}

			for i, want := range row.pages {
				number := strconv.Itoa(i + 1)

				text := strings.Join(
					strings.Fields(poppler(t, "pdftotext", "-f", number, "-l", number, "-layout", path, "-")),
					" ",
				)
				for word := range strings.FieldsSeq(want) {
					before, after, found := strings.Cut(text, word)
					if !found {
						t.Errorf("page %d: no %q after %q in %q", i+1, word, before, text)
					}
					text = after
				}
			}

			if n := strings.Count(poppler(t, "pdfinfo", "-struct-text", path), "H2 (block)"); n != 1 {
				t.Errorf("%d headings for the outline, want 1", n)
			}
		})
	}
}

// TestLongSlidesAreNotDivided gives a slide more content than 200 further slides hold.
func TestLongSlidesAreNotDivided(t *testing.T) {
	t.Parallel()

	r, path := printDocument(t, document.Document{
		Content: []byte("---\nas: slides\n---\n## Long\n\n" + strings.Repeat("- item\n", 2999) + "- last\n"),
	})
	if text := poppler(t, "pdftotext", path, "-"); strings.Contains(text, "2/") || !strings.Contains(text, "last") {
		t.Errorf("want no slide 2/N and the last item; %d pages end with %s", r.Pages, text[max(0, len(text)-80):])
	}
}

func TestSlidesMayBePDFA(t *testing.T) {
	t.Parallel()

	r, path := printDocument(t, document.Document{
		Content: []byte(talk),
		Options: presswork.Options{PDFA: new(presswork.PDFALevel("2u")), PDFUA: new(true)},
	})
	for _, w := range r.Warnings {
		t.Error(w.Message)
	}

	for _, fault := range faults(t, r.PDF, claim{level: "2u", ua: true}) {
		t.Error(fault)
	}

	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}
