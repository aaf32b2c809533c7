package pdf_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork"
	"presswork/internal/pdf"
)

// chapters is a document with a bit of everything that must stay whole when it is
// printed in sections, between chapters what ends them. Titles of links that nobody
// sees make it large: some 300 KB of HTML on few pages.
func chapters(between string) []byte {
	const last = 13
	var b strings.Builder
	b.WriteString("# The book\n\nOn to [the last](#chapter-13).\n\n")
	for i := range last + 1 {
		b.WriteString(between)
		again := i // a note of another section would be in both
		if i < 5 {
			again = 0
		}
		fmt.Fprintf(&b, "## Chapter %d\n\nFrom [the one before](#chapter-%d), of [the middle](#chapter-7 %q).[^n%d] See again[^n%d], and [*Terms*]{.index}.\n\n[^n%d]: A note of chapter %d.\n\n", i, max(i-1, 0),
			strings.Repeat("large ", 4000), i, again, i, i)
		for row := range []int{10, 12, 50}[i%3] {
			if row == 0 {
				fmt.Fprintf(&b, "### Section %d\n\n%s\n\n| a %d | b |\n|---|---:|\n", i, strings.Repeat("Some words, *set* in `lines`. ", 9), i)
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
	font         = regexp.MustCompile(` font="\d+"`)
)

// TestADividedDocumentIsTheSame prints a document in one piece and in sections.
func TestADividedDocumentIsTheSame(t *testing.T) {
	t.Parallel()
	browser := printer(t)
	whole := converter(t, pdf.Options{Printer: browser})
	var log bytes.Buffer
	divided := converter(t, pdf.Options{Printer: browser, Idle: func() int { return 2 }, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	for name, d := range map[string]pdf.Document{
		"between pages that it ends": {Content: chapters("\\newpage\n\n"), Options: presswork.Options{HeaderText: new("{title}: {chapter}"), TOC: new(presswork.Depth(2)), Cover: new(true), CropMarks: new(true)}},
		"where chapters begin":       {Content: chapters(""), Theme: "dark", Options: presswork.Options{ChapterStart: "page", Footnotes: "end", FooterText: new("")}},
	} {
		t.Run(name, func(t *testing.T) {
			want, wantPath := convert(t, whole, d)
			got, gotPath := convert(t, divided, d)
			if want.Pages != got.Pages {
				t.Fatalf("%d pages, want %d", got.Pages, want.Pages)
			}
			for what, args := range map[string][]string{
				"the text of the pages": {"pdftotext", "-layout", "", "-"},
				"the tags":              {"pdfinfo", "-struct", ""},
				"the outline and links": {"pdftohtml", "-xml", "-i", "-stdout", ""},
				"the places of anchors": {"pdfinfo", "-dests", ""},
			} {
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
						// In a page's stream the banners come after the text, not before.
						if args[0] != "pdftohtml" || strings.Contains(line, "<a ") || strings.Contains(line, "<item") || strings.Contains(line, "outline>") {
							lines = append(lines, font.ReplaceAllString(line, ""))
						}
					}
					return lines
				}
				want, got := read(wantPath), read(gotPath)
				for i := range want {
					if i == len(got) || want[i] != got[i] {
						t.Errorf("%s differ from line %d on:\n%.600q, want\n%.600q", what, i, got[min(i, len(got)):], want[i:])
						break
					}
				}
			}
			if n := strings.Count(poppler(t, "pdffonts", gotPath), "\n"); n != strings.Count(poppler(t, "pdffonts", wantPath), "\n") {
				t.Errorf("%d fonts are embedded", n)
			}
		})
	}
	if strings.Count(log.String(), "printed in sections") != 2 {
		t.Errorf("the documents were not printed in sections: %s", &log)
	}
}

// A document that is too much for one print is cut before headings: every chapter is
// there, the contents name its page, and it can only be opened with its password.
func TestWhatIsTooMuchForOnePrintIsDivided(t *testing.T) {
	t.Parallel()
	c := converter(t, pdf.Options{Printer: printer(t), Idle: func() int { return 2 }})
	first := strings.ReplaceAll(string(chapters("")), "\n\n[[index]]", "")
	content := first + strings.Repeat(strings.TrimPrefix(first, "# The book\n"), 3)
	const password = "x"
	composed, err := c.Compose(t.Context(), pdf.Document{Content: []byte(content), Options: presswork.Options{HeaderText: new("in {chapter}"), TOC: new(presswork.Depth(2)), Footnotes: "end", Password: password}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Print(t.Context(), pdf.Oversized(composed))
	if err != nil {
		t.Fatal(err)
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
		in, found := running, false
		for _, m := range regexp.MustCompile(`(?m)^(Chapter \d+|Index)$`).FindAllStringSubmatchIndex(page, -1) {
			want = append(want, page[m[2]:m[3]]+" on "+strconv.Itoa(i+1))
			if strings.TrimSpace(page[:m[0]]) == "" {
				begins++
			}
			if running = page[m[2]:m[3]]; !found {
				in, found = running, true
			}
		}
		if number := fmt.Sprintf("%d / %d", i+1, r.Pages); !strings.Contains(page, number) || strings.TrimSpace(head) != strings.TrimSpace("in "+in) {
			t.Errorf("page %d says %q, want %q, and %q", i+1, head, "in "+in, number)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) != 4*15+1 || begins == 0 {
		t.Errorf("%d chapters, %d at the head of a page; the contents differ (-print +contents):\n%s", len(want), begins, diff)
	}
}

// Nobody waits for a document that can be printed neither at once nor in sections.
func TestWhatCannotBeDividedIsRefused(t *testing.T) {
	t.Parallel()
	c := converter(t, pdf.Options{Idle: func() int { return 2 }})
	rows := strings.Repeat("| a | b |\n", 26_000)
	for name, d := range map[string]pdf.Document{
		"one table":               {Content: []byte("# A\n\n| a | b |\n|---|---|\n" + rows)},
		"a stylesheet of its own": {Content: []byte("# A\n\n| a | b |\n|---|---|\n" + rows), Options: presswork.Options{CSS: "p{color:red}"}},
	} {
		composed, err := c.Compose(t.Context(), d)
		if err == nil {
			_, err = c.Print(t.Context(), composed)
		}
		if e := presswork.AsError(err); e == nil || e.Code != presswork.ContentTooComplex {
			t.Errorf("%s: %v", name, err)
		}
	}
}
