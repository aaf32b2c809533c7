package document_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/document"
	"presswork/internal/fault"
)

// novel returns prose in three chapters. The first has that many paragraphs, the others have 12.
func novel(first int) string {
	const sentence = "the lamplighter of the harbour town went from street to street, with extraordinary patience, and found that nobody had waited. "
	var b strings.Builder
	b.WriteString("---\ntitle: The Lamplighter\nlang: en\ntoc: true\n---\n\n")

	for n, paragraphs := range []int{first, 12, 12} {
		fmt.Fprintf(&b, "# Chapter%dx\n\n", n+1)

		for p := range paragraphs {
			opening := "And "

			switch p {
			case 0:
				opening = "“Once "
			case 6:
				fmt.Fprintf(&b, "## Section%dx\n\n", n+1)
			}
			b.WriteString(opening + strings.Repeat(sentence, 5) + "\n\n")
		}
	}

	return b.String()
}

// Chapters of a book begin on the right, and the contents have their pages. Left pages name the chapter and right
// ones the section. White pages and first pages of chapters name nothing.
func TestLiteraryProseIsSetAsABook(t *testing.T) {
	t.Parallel()

	for name, first := range map[string]int{"white page": 14, "no white page": 9} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := presswork.Options{Binding: "5mm", CropMarks: new(true)}

			r, path := printDocument(t, document.Document{Content: []byte(novel(first)), Theme: "fantasy", Options: o})
			if len(r.Warnings) > 0 {
				t.Errorf("got warnings %v, want none", r.Warnings)
			}
			pages := strings.Split(strings.TrimSuffix(poppler(t, "pdftotext", "-raw", path, "-"), "\f"), "\f")
			chapter, section, white := "", "", 0

			for i, text := range pages {
				number := i + 1

				folio := regexp.MustCompile(fmt.Sprintf(`(?m)^– ?%d ?–\n`, number))
				if strings.TrimSpace(text) != "" && !folio.MatchString(text) {
					t.Errorf("page %d does not print its number: %q", number, text)
				}
				text = folio.ReplaceAllString(text, "")
				lines := strings.Split(strings.TrimSpace(text), "\n")

				opened := slices.IndexFunc(
					lines,
					func(l string) bool { return regexp.MustCompile(`^Chapter\dx$`).MatchString(l) },
				)
				switch head := lines[0]; {
				case number == 1: // title and contents
					continue
				case strings.TrimSpace(text) == "":
					white++
				case opened == 0 && strings.Contains(text, "Once the lamplighter"):
					chapter, section = head, head
					if number%2 == 0 {
						t.Errorf("%s begins on page %d, want a right page", head, number)
					}

					if !regexp.MustCompile(fmt.Sprintf(`(?m)^%s %d$`, head, number)).MatchString(pages[0]) {
						t.Errorf("%s begins on page %d, not where the contents have it:\n%s", head, number, pages[0])
					}
				default:
					i := slices.IndexFunc(
						lines[1:],
						func(l string) bool { return regexp.MustCompile(`^Section\dx$`).MatchString(l) },
					)
					if i >= 0 {
						section = lines[1+i]
					}

					want := section
					if number%2 == 0 {
						want = chapter
					}

					if head != want {
						t.Errorf("page %d has the head %q, want %q", number, head, want)
					}
				}
			}

			if chapter != "Chapter3x" || (name == "white page") != (white == 1) {
				t.Errorf("the last chapter is %s, want Chapter3x; %d pages are white", chapter, white)
			}

			info := poppler(t, "pdfinfo", "-box", path)
			for _, box := range []string{`MediaBox: +-25.51 +-25.51 +637.51 +884.\d\d`, `BleedBox: +0.00 +0.00 +612.00 +858.\d\d`, `TrimBox: +8.50 +8.50 +603.50 +850.\d\d`} {
				t.Run(box, func(t *testing.T) {
					if !regexp.MustCompile(box).MatchString(info) {
						t.Errorf("no %s in\n%s", box, info)
					}
				})
			}

			if left, right := textEdge(t, path, 4), textEdge(t, path, 3); left-right < 5 {
				t.Errorf(
					"text begins at %.0f pt on a left page, %.0f on a right one; want 5 pt less on right ones",
					left,
					right,
				)
			}
		})
	}
}

// textEdge returns where the longest line of a page begins, in points from the left.
func textEdge(t *testing.T, path string, page int) float64 {
	t.Helper()
	out := poppler(t, "pdftotext", "-bbox-layout", "-f", fmt.Sprint(page), "-l", fmt.Sprint(page), path, "-")
	edge, widest := 0.0, 0.0

	for _, m := range regexp.MustCompile(`<line xMin="([\d.]+)" yMin="[\d.]+" xMax="([\d.]+)"`).FindAllStringSubmatch(out, -1) {
		var from, to float64
		if _, err := fmt.Sscan(m[1], &from); err != nil {
			t.Fatal(err)
		}

		if _, err := fmt.Sscan(m[2], &to); err != nil {
			t.Fatal(err)
		}

		if to-from > widest {
			edge, widest = from, to-from
		}
	}

	return edge
}

// Documents that are short, not prose, or declared as documents are not set as books. Each part of the setting can
// be switched on or off.
func TestOnlyLongProseIsSetAsABook(t *testing.T) {
	t.Parallel()

	list := "# A\n\n" + strings.Repeat("- an item of a list that goes on for a while\n", 300)
	for name, c := range map[string]struct {
		content, theme string
		o              presswork.Options
		holds, lacks   string
	}{
		"prose":             {content: novel(12), theme: "silk", holds: `class="book" class="drop-cap" class="leaf" @page:left presswork-running data-chapter har` + "\u00adbour"},
		"as document":       {content: novel(12), theme: "silk", o: presswork.Options{As: "document"}, lacks: `class="book" drop-cap leaf @page:left presswork-running har` + "\u00adbour"},
		"another theme":     {content: novel(12), theme: "light", lacks: `class="book" drop-cap leaf @page:left presswork-running`},
		"as book":           {content: "# A\n\nText.", theme: "light", o: presswork.Options{As: "book"}, holds: `class="book" @page:left`, lacks: "drop-cap leaf"},
		"a list":            {content: list, theme: "silk", lacks: `class="book" @page:left`},
		"a specification":   {content: novel(12) + strings.Repeat("\n\n```\ncode\n```\n", 30), theme: "silk", lacks: `class="book" @page:left drop-cap`},
		"with an example":   {content: novel(12) + "\n\n```\ncode\n```\n", theme: "silk", holds: `class="book" @page:left drop-cap`},
		"short":             {content: "# A\n\n" + strings.Repeat("Once a short text. ", 40), theme: "silk", holds: `class="book" drop-cap`, lacks: "@page:left presswork-running"},
		"short chapters":    {content: "# A\n\n" + strings.Repeat("## B\n\nA short text, but several.\n\n"+strings.Repeat("Words. ", 200)+"\n\n", 12), theme: "silk", holds: `@page:left presswork-running`, lacks: "data-chapter leaf"},
		"few pages":         {content: strings.Repeat("# A\n\n"+strings.Repeat("Once a text. ", 600)+"\n\n", 2), theme: "silk", holds: `@page:left data-chapter`, lacks: "leaf"},
		"its own header":    {content: novel(12), theme: "silk", o: presswork.Options{HeaderText: new("H")}, lacks: "presswork-running", holds: "leaf"},
		"chapters on pages": {content: novel(12), theme: "light", o: presswork.Options{ChapterStart: "page"}, holds: "data-chapter", lacks: `class="book" leaf`},
		"only binding":      {content: "# A\n", theme: "light", o: presswork.Options{Binding: "10mm"}, holds: "@page:left", lacks: `class="book" text-align:left`},
	} {
		t.Run(name, func(t *testing.T) {
			composed, err := converter(t, document.Options{}).Compose(
				t.Context(),
				document.Document{Content: []byte(c.content), Theme: c.theme, Options: c.o},
			)
			if err != nil {
				t.Fatal(err)
			}

			html := composed.Page.HTML
			for want := range strings.FieldsSeq(c.holds) {
				if !strings.Contains(html, want) {
					t.Errorf("the page lacks %s", want)
				}
			}

			for bad := range strings.FieldsSeq(c.lacks) {
				if strings.Contains(html, bad) {
					t.Errorf("the page has %s", bad)
				}
			}
		})
	}
}

// Paragraphs that contain only pictures keep space around them in themes whose other paragraphs have none.
func TestParagraphsOfPicturesKeepTheirSpace(t *testing.T) {
	t.Parallel()
	const picture = "<img alt=\"a\" src=\"data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==\">"
	content := "Text.\n\n" + picture + " " + picture + "\n\nText " + picture + ".\n"

	composed, err := converter(t, document.Options{}).Compose(
		t.Context(),
		document.Document{Content: []byte(content), Theme: "fantasy"},
	)
	if err != nil {
		t.Fatal(err)
	}

	if html := composed.Page.HTML; strings.Count(html, "<p data-pictures>") != 1 ||
		!strings.Contains(html, "main > p[data-pictures]:is(p){margin-block") ||
		!strings.Contains(html, "p[data-pictures] + p:is(p)") {
		t.Errorf("want one paragraph of pictures, and its rules: %s", html)
	}
}

func TestPressOptionsAreChecked(t *testing.T) {
	t.Parallel()

	for param, o := range map[string]presswork.Options{
		"binding": {Binding: "8"}, "bleed": {Bleed: "30mm"}, "chapter_start": {ChapterStart: "left"}, "as": {As: "novel"},
	} {
		t.Run(param, func(t *testing.T) {
			err := document.CheckOptions(o)
			if e := fault.AsError(err); err == nil || e.Param != "options."+param || e.Code != fault.InvalidOption {
				t.Errorf("%+v: got %v, want %s of options.%s", o, err, fault.InvalidOption, param)
			}
		})
	}
}
