package document_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork"
	"presswork/internal/chromium/printable"
	"presswork/internal/document"
	"presswork/internal/fault"
)

// chapters returns a document with one of everything that must stay whole when it is printed in sections. between
// is the text between chapters. Invisible titles of links make it large: about 300 KB of HTML on few pages.
func chapters(between string) []byte {
	const last = 13
	var b strings.Builder
	b.WriteString("# The book\n\nOn to [the last](#chapter-13).\n\n")

	for i := range last + 1 {
		b.WriteString(between)

		// The first five chapters refer to one note, so they stay in one section.
		again := i
		if i < 5 {
			again = 0
		}
		fmt.Fprintf(
			&b,
			"## Chapter %d\n\nFrom [the one before](#chapter-%d), of [the middle](#chapter-7 %q)%s.[^n%d] See again[^n%d], and [*Terms*]{.index}.\n\n[^n%d]: A note of chapter %d.\n\n",
			i,
			max(i-1, 0),
			strings.Repeat("large ", 4000),
			strings.Repeat(" and so on", 27),
			i,
			again,
			i,
			i,
		)

		for row := range []int{10, 12, 50}[i%3] {
			if row == 0 {
				fmt.Fprintf(&b, "### Section %d\n\n%s\n\n| a %d | b |\n|---|---:|\n", i,
					strings.Repeat("Some words, *set* in `lines`. ", 9), i)
			}
			fmt.Fprintf(&b, "| row %d of %d | %d |\n", row, i, row*i)
		}
		fmt.Fprintf(&b, "\n- one\n- two, of %d\n  - three\n\n```go\nfunc f%d() int { return %d }\n```\n\n", i, i, i)
	}
	b.WriteString("## Index\n\n[[index]]\n")

	return []byte(b.String())
}

var (
	objectNumber = regexp.MustCompile(`Object \d+ 0`)
	// unstable matches attributes that differ between equal prints: fonts are numbered by file, and pdftohtml rounds
	// the others.
	unstable   = regexp.MustCompile(` (top|width|font)="\d+"`)
	secondNote = regexp.MustCompile(`See again\[\^n\d+\]`)
)

// unlinked removes notes and replaces internal links by external ones. When only some pages are printed, internal
// links to the other pages would have no target.
func unlinked(content string) []byte {
	return []byte(
		regexp.MustCompile(`\[\^n\d+\](: .*)?`).
			ReplaceAllString(regexp.MustCompile(`\(#[a-z]+-\d+`).ReplaceAllString(content, "(https://example.com"), ""),
	)
}

// TestDocumentsInSectionsEqualDocumentsInOnePiece prints documents both ways. The names of the rows say where the
// documents are divided, or which pages are printed.
func TestDocumentsInSectionsEqualDocumentsInOnePiece(t *testing.T) {
	t.Parallel()
	browser := printer(t)
	whole := converter(t, document.Options{Printer: browser})
	var log bytes.Buffer
	divided := converter(t, document.Options{
		Printer: browser,
		Idle:    func() int { return 2 },
		Log:     slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})

	var paragraphs strings.Builder
	for i := range 700 { // each page begins with a block
		fmt.Fprintf(&paragraphs, "Paragraph %d of [the middle](#chapter-7 %q).\n\n", i, strings.Repeat("large ", 100))

		if i%6 < 2 {
			paragraphs.WriteString("```\ncode\n```\n\n")
		}
	}

	for name, d := range map[string]document.Document{
		"between page breaks":          {Content: chapters("\\newpage\n\n"), Options: presswork.Options{HeaderText: new("{title}: {chapter}"), TOC: new(presswork.Depth(2)), Cover: new(true), CropMarks: new(true)}},
		"at pages of the layout pass":  {Content: append([]byte(paragraphs.String()), chapters("")...), Theme: "fantasy", Options: presswork.Options{As: "document", TOC: new(presswork.Depth(2)), Cover: new(true), Footnotes: "end", HeaderText: new("in {chapter}")}},
		"at pages of a book":           {Content: append([]byte(paragraphs.String()), chapters("")...), Theme: "fantasy", Options: presswork.Options{As: "book", TOC: new(presswork.Depth(2)), Footnotes: "end"}},
		"before chapters on the right": {Content: chapters(""), Theme: "silk", Options: presswork.Options{As: "book", ChapterStart: "right", Cover: new(true), TOC: new(presswork.Depth(2)), Footnotes: "end", PDFA: new(presswork.PDFALevel("2b"))}},
		"after a cover":                {Content: []byte(strings.TrimPrefix(secondNote.ReplaceAllString(string(chapters("")), ""), "# The book\n\nOn to [the last](#chapter-13).\n\n")), Options: presswork.Options{ChapterStart: "right", Cover: new(true), Title: "A", HeaderText: new("{page}: {chapter}"), CropMarks: new(true)}},
		"between facing pages":         {Content: chapters("\\newpage\n\n"), Options: presswork.Options{Binding: "10mm", HeaderText: new("in {chapter}"), FooterText: new("")}},
		"pages of the middle":          {Content: unlinked(paragraphs.String() + string(chapters(""))), Options: presswork.Options{PageRanges: "29,2-3", TOC: new(presswork.Depth(2)), Footnotes: "end", HeaderText: new("in {chapter}")}},
		"pages near the end":           {Content: unlinked(paragraphs.String() + string(chapters(""))), Theme: "silk", Options: presswork.Options{PageRanges: "20-21", As: "book", Footnotes: "end"}},
		"pages around a white one":     {Content: unlinked(string(chapters(""))), Theme: "silk", Options: presswork.Options{As: "book", ChapterStart: "right", PageRanges: "3-12", Footnotes: "end"}},
		"with notes of several parts":  {Path: "a.md", Content: secondNote.ReplaceAll(chapters("\\newpage\n\n"), nil), Parts: []document.Part{{Path: "b.md", Content: secondNote.ReplaceAll(chapters("\\newpage\n\n"), nil)}}},
		"after empty pages":            {Content: chapters("\\newpage\n\n\\newpage\n\n"), Options: presswork.Options{ChapterStart: "page", Footnotes: "end"}},
		"where chapters begin":         {Content: chapters(""), Theme: "dark", Options: presswork.Options{ChapterStart: "page", Footnotes: "end", FooterText: new("")}},
	} {
		t.Run(name, func(t *testing.T) {
			want, wantPath := convert(t, whole, d)

			got, gotPath := convert(t, divided, d)
			if want.Pages != got.Pages {
				t.Fatalf("sections have %d pages, want %d", got.Pages, want.Pages)
			}

			for what, args := range map[string][]string{
				"the text of the pages": {"pdftotext", "-layout", "", "-"},
				"the tags":              {"pdfinfo", "-struct", ""},
				"the outline and links": {"pdftohtml", "-xml", "-i", "-stdout", ""},
				"the places of lines":   {"pdftohtml", "-xml", "-i", "-stdout", ""},
				"the places of anchors": {"pdfinfo", "-dests", ""},
			} {
				t.Run(what, func(t *testing.T) {
					read := func(path string) []string {
						list := make([]string, len(args)-1)
						for i, a := range args[1:] {
							list[i] = a
							if a == "" {
								list[i] = path
							}
						}
						var lines []string

						for line := range strings.Lines(objectNumber.ReplaceAllString(poppler(t, args[0], list...), "Object")) {
							if args[0] != "pdftohtml" ||
								what == "the places of lines" && strings.HasPrefix(line, "<text") ||
								strings.Contains(line, "<a ") ||
								strings.Contains(line, "<item") ||
								strings.Contains(line, "outline>") {
								lines = append(lines, unstable.ReplaceAllString(line, ""))
							}
						}

						return lines
					}

					want, got := read(wantPath), read(gotPath)
					if what == "the places of lines" { // sections have their banners after the text, whole documents before it
						slices.Sort(want)
						slices.Sort(got)
					}

					for i := range want {
						if i == len(got) || want[i] != got[i] {
							t.Errorf("%s differ from line %d on:\n%.600q, want\n%.600q", what, i,
								got[min(i, len(got)):], want[i:])
							break
						}
					}
				})
			}
			// Some fonts of that theme are not TrueType: each section embeds its own copy.
			if n := strings.Count(poppler(t, "pdffonts", gotPath), "\n"); d.Theme != "fantasy" &&
				n != strings.Count(poppler(t, "pdffonts", wantPath), "\n") {
				t.Errorf("%d lines of pdffonts, want as many as for the whole document", n)
			}
		})
	}

	if n := strings.Count(log.String(), "printed in sections"); n != 12 {
		t.Errorf("%d of 12 documents were printed in sections: %s", n, &log)
	}
}

// counting is a Printer that counts the prints of the table of contents.
type counting struct {
	document.Printer
	layouts  atomic.Int64 // untagged layout passes
	contents atomic.Int64 // tagged prints
	headings atomic.Int64 // headings of the text in these prints
}

// Print counts the print if it contains the table of contents.
func (c *counting) Print(ctx context.Context, page printable.Page) ([]byte, error) {
	if strings.Contains(page.HTML, `<nav class="toc"`) {
		n := &c.layouts
		if page.Sheet.Tagged {
			n = &c.contents
		}
		n.Add(1)
		c.headings.Add(int64(strings.Count(page.HTML, "<h2")))
	}

	return c.Printer.Print(ctx, page)
}

// A document that is too large for one print is divided before headings. Every chapter is printed, the contents name
// its page, and the file needs its password. Long contents are printed twice, without the text.
func TestLargeDocumentsAreDivided(t *testing.T) {
	t.Parallel()
	browser := &counting{Printer: printer(t)}
	c := converter(t, document.Options{Printer: browser, Idle: func() int { return 2 }})
	first := strings.ReplaceAll(string(chapters("")), "\n\n[[index]]", "")
	content := first + strings.Repeat(strings.TrimPrefix(first, "# The book\n"), 3) + "\n\n" +
		strings.Repeat("### .\n\n", 200)
	const password = "x"

	composed, err := c.Compose(t.Context(), document.Document{
		Content: []byte(content),
		Options: presswork.Options{
			HeaderText: new("in {chapter}"),
			TOC:        new(presswork.Depth(3)),
			Footnotes:  "end",
			Password:   password,
		},
	})
	if err != nil {
		t.Fatal(err)
	}

	r, err := c.Print(t.Context(), document.Oversized(composed))
	if err != nil {
		t.Fatal(err)
	}

	layouts, contents, headings := browser.layouts.Load(), browser.contents.Load(), browser.headings.Load()
	if layouts != 1 || contents != 1 || headings != 0 {
		t.Errorf(
			"the contents had %d layout passes and %d tagged prints, want 1 and 1; with %d headings of the text, want 0",
			layouts,
			contents,
			headings,
		)
	}

	path := filepath.Join(t.TempDir(), "out.pdf")
	if err := os.WriteFile(path, r.PDF, 0o600); err != nil {
		t.Fatal(err)
	}
	pages := strings.Split(poppler(t, "pdftotext", "-upw", password, "-layout", path, "-"), "\f")

	var got, want []string // chapters and their pages
	for _, m := range regexp.MustCompile(`(?m)^ *(Chapter \d+|Index) +(\d+)$`).FindAllStringSubmatch(strings.Join(pages, "\n"), -1) {
		got = append(got, m[1]+" on "+m[2])
	}
	begins := 0
	running := ""

	for i, page := range pages[:r.Pages] {
		head, page, _ := strings.Cut(page, "\n")
		in, found := running, false // the chapter that the header must name

		for _, m := range regexp.MustCompile(`(?m)^(Chapter \d+|Index)$`).FindAllStringSubmatchIndex(page, -1) {
			want = append(want, page[m[2]:m[3]]+" on "+strconv.Itoa(i+1))
			if strings.TrimSpace(page[:m[0]]) == "" {
				begins++
			}

			if running = page[m[2]:m[3]]; !found {
				in, found = running, true
			}
		}

		if number := fmt.Sprintf("%d / %d", i+1, r.Pages); !strings.Contains(page, number) ||
			strings.TrimSpace(head) != strings.TrimSpace("in "+in) {
			t.Errorf("page %d says %q, want %q, and %q", i+1, head, "in "+in, number)
		}
	}

	if diff := cmp.Diff(want, got); diff != "" || len(want) != 4*15+1 || begins == 0 {
		t.Errorf("%d chapters, %d at the head of a page; the contents differ (-print +contents):\n%s", len(want),
			begins, diff)
	}
}

// refusing is a Printer that records the size of the first page in bytes of HTML, and fails.
type refusing struct {
	blank
	size *atomic.Int64
}

func (p refusing) Print(_ context.Context, page printable.Page) ([]byte, error) {
	p.size.CompareAndSwap(0, int64(len(page.HTML)))
	return nil, fault.Errorf(fault.RenderFailed, "not printed")
}

func (p refusing) PrintRevised(
	ctx context.Context,
	page printable.Page,
	_ func([]byte) ([]string, error),
) ([]byte, error) {
	return p.Print(ctx, page)
}

// A document that is too large to print at once and cannot be divided is rejected before it is printed.
func TestIndivisibleDocumentsAreRejected(t *testing.T) {
	t.Parallel()
	c := converter(t, document.Options{Idle: func() int { return 2 }})

	rows := strings.Repeat("| a | b |\n", 26_000)
	for name, d := range map[string]document.Document{
		"one table":               {Content: []byte("# A\n\n| a | b |\n|---|---|\n" + rows)},
		"a stylesheet of its own": {Content: []byte("# A\n\n| a | b |\n|---|---|\n" + rows), Options: presswork.Options{CSS: "p{color:red}"}},
	} {
		t.Run(name, func(t *testing.T) {
			composed, err := c.Compose(t.Context(), d)
			if err == nil {
				_, err = c.Print(t.Context(), composed)
			}

			if fault.CodeOf(err) != fault.ContentTooComplex {
				t.Errorf("got %v, want %s", err, fault.ContentTooComplex)
			}
		})
	}
}

// A page range beyond the last page is rejected for divided documents as well.
func TestPagesBeyondTheLastAreRejected(t *testing.T) {
	t.Parallel()
	c := converter(t, document.Options{Printer: printer(t), Idle: func() int { return 2 }})

	composed, err := c.Compose(t.Context(), document.Document{
		Content: unlinked(string(chapters("\\newpage\n\n"))),
		Options: presswork.Options{PageRanges: "900", Footnotes: "end"},
	})
	if err != nil {
		t.Fatal(err)
	}

	_, err = c.Print(t.Context(), document.Oversized(composed))
	if e := fault.AsError(err); e == nil || e.Code != fault.InvalidOption || e.Param != "options.page_ranges" {
		t.Errorf("got %v, want %s of options.page_ranges", err, fault.InvalidOption)
	}
}
