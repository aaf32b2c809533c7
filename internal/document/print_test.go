package document_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/document"
)

// convert composes and prints a document. It returns the result and the path of its PDF.
func convert(t testing.TB, c *document.Converter, d document.Document) (document.Result, string) {
	t.Helper()

	composed, err := c.Compose(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}

	r, err := c.Print(t.Context(), composed)
	if err != nil {
		t.Fatal(err)
	}

	path := filepath.Join(t.TempDir(), "out.pdf")
	if err := os.WriteFile(path, r.PDF, 0o600); err != nil {
		t.Fatal(err)
	}

	return r, path
}

// printDocument is convert with the shared browser.
func printDocument(t *testing.T, d document.Document) (document.Result, string) {
	t.Helper()

	return convert(t, converter(t, document.Options{Printer: printer(t)}), d)
}

// poppler runs a tool of poppler-utils and returns its output. It fails the test if the tool writes to stderr:
// that is a complaint about the PDF.
func poppler(t testing.TB, tool string, args ...string) string {
	t.Helper()
	var complaints strings.Builder
	cmd := exec.CommandContext(t.Context(), tool, args...)
	cmd.Stderr = &complaints

	out, err := cmd.Output()
	if err != nil || complaints.Len() > 0 {
		t.Fatalf("%s: %v: %s", tool, err, &complaints)
	}

	return string(out)
}

// field returns a value from the output of pdfinfo, or "".
func field(info, name string) string {
	m := regexp.MustCompile(`(?m)^` + name + `:\s+(.*)$`).FindStringSubmatch(info)
	if m == nil {
		return ""
	}

	return m[1]
}

func TestPrintedDocument(t *testing.T) {
	t.Parallel()
	c := converter(t, document.Options{Printer: printer(t)})

	t.Run("has its metadata", func(t *testing.T) {
		t.Parallel()

		sample, err := os.ReadFile("testdata/sample.md")
		if err != nil {
			t.Fatal(err)
		}
		r, path := convert(
			t,
			c,
			document.Document{Content: sample, Options: presswork.Options{Title: "Gedämpfte (Töne) 漢字"}},
		)

		info := poppler(t, "pdfinfo", path)
		for name, want := range map[string]string{
			"Title": "Gedämpfte (Töne) 漢字", "Author": "The Presswork Authors", "Subject": "Everything a page can hold",
			"Keywords": "markdown, pdf, typography", "Creator": "Presswork", "Tagged": "yes", "Pages": fmt.Sprint(r.Pages), "Page size": "594.96 x 841.92 pts (A4)",
		} {
			if got := field(info, name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}

		if !strings.HasPrefix(field(info, "Producer"), "Skia/PDF") || field(info, "CreationDate") == "" {
			t.Errorf("want the producer Skia/PDF and a date, got %s", info)
		}

		text := poppler(t, "pdftotext", "-layout", path, "-")
		for _, want := range []string{"Field Guide to Presswork", "inline code", "return order, nil", "booklets and small books", "日本語の文章も", "русский", "A missing picture", fmt.Sprintf("1/%d", r.Pages)} {
			if !strings.Contains(text, want) {
				t.Errorf("the text lacks %q:\n%s", want, text)
			}
		}
	})

	t.Run("is packed without changing its text", func(t *testing.T) {
		t.Parallel()
		var table strings.Builder
		table.WriteString("# T\n\n| a | b | c |\n|---|---|---|\n")

		for i := range 200 {
			fmt.Fprintf(&table, "| %d | [x](https://example.com/%d) | `z` |\n", i, i)
		}

		composed, err := c.Compose(t.Context(), document.Document{Content: []byte(table.String())})
		if err != nil {
			t.Fatal(err)
		}

		raw, err := printer(t).Print(t.Context(), composed.Page)
		if err != nil {
			t.Fatal(err)
		}

		r, path := convert(t, c, document.Document{Content: []byte(table.String())})
		if len(r.PDF)*3 > len(raw) {
			t.Errorf("packing %d bytes makes %d, want at most a third", len(raw), len(r.PDF))
		}

		rawPath := filepath.Join(t.TempDir(), "raw.pdf")
		if err := os.WriteFile(rawPath, raw, 0o600); err != nil {
			t.Fatal(err)
		}

		if poppler(t, "pdftotext", "-layout", path, "-") != poppler(t, "pdftotext", "-layout", rawPath, "-") {
			t.Error("packing changed the text, want that of the print")
		}

		for _, what := range []string{"-struct-text", "-url", "-dests"} {
			t.Run(what, func(t *testing.T) {
				// Chromium numbers the nodes of a structure tree per renderer. It also wraps each run of
				// text in a NonStruct node, which packing removes.
				names := regexp.MustCompile(`node\d+|(?m)^ *(NonStruct\n)?`)
				got := names.ReplaceAllString(poppler(t, "pdfinfo", what, path), "")

				want := names.ReplaceAllString(poppler(t, "pdfinfo", what, rawPath), "")
				if got != want || len(got) < 20 {
					t.Errorf("packing changed what pdfinfo %s says:\n%.500s\nwas\n%.500s", what, got, want)
				}
			})
		}

		if field(poppler(t, "pdfinfo", path), "Pages") != fmt.Sprint(r.Pages) || r.Pages < 5 {
			t.Errorf("%d pages, want at least 5 and as many as pdfinfo counts", r.Pages)
		}
	})

	t.Run("has the size and the pages of its options", func(t *testing.T) {
		t.Parallel()
		content := []byte("one\n\n\\newpage\n\ntwo\n\n<!-- pagebreak -->\n\nthree\n")
		r, path := convert(t, c, document.Document{
			Content: content,
			Options: presswork.Options{
				PageSize:   "Letter",
				Landscape:  new(true),
				PageRanges: "2-3",
				FooterText: new("p {page} of {total}"),
			},
		})

		info, text := poppler(t, "pdfinfo", path), poppler(t, "pdftotext", path, "-")
		if r.Pages != 2 || field(info, "Page size") != "792 x 612 pts (letter)" {
			t.Errorf("got %d pages of %s, want 2 of 792 x 612 pts", r.Pages, field(info, "Page size"))
		}

		if strings.Contains(text, "one") || !strings.Contains(text, "two") || !strings.Contains(text, "p 2 of 3") {
			t.Errorf("got the text %q, want pages 2 and 3 of 3", text)
		}
	})

	t.Run("has no tags on request", func(t *testing.T) {
		t.Parallel()

		_, path := convert(
			t,
			c,
			document.Document{Content: []byte("# x"), Options: presswork.Options{Tagged: new(false)}},
		)
		if got := field(poppler(t, "pdfinfo", path), "Tagged"); got != "no" {
			t.Errorf("Tagged is %q, want no", got)
		}
	})

	t.Run("has a cover without banners", func(t *testing.T) {
		t.Parallel()
		r, path := convert(t, c, document.Document{
			Content: []byte("# Body"),
			Theme:   "nord",
			Options: presswork.Options{Cover: new(true), Title: "The Cover", HeaderText: new("HEAD")},
		})

		text := poppler(t, "pdftotext", "-f", "1", "-l", "1", path, "-")
		if r.Pages != 2 || !strings.Contains(text, "The Cover") || strings.Contains(text, "HEAD") ||
			strings.Contains(text, "1 / 2") {
			t.Errorf(
				"got %d pages with the cover %q, want 2, and a cover without header and page number",
				r.Pages,
				text,
			)
		}
	})
}

func BenchmarkConvertSample(b *testing.B) {
	sample, err := os.ReadFile("testdata/sample.md")
	if err != nil {
		b.Fatal(err)
	}

	c := converter(b, document.Options{Printer: printer(b)})
	for b.Loop() {
		composed, err := c.Compose(b.Context(), document.Document{Content: sample, Theme: "nord"})
		if err != nil {
			b.Fatal(err)
		}

		if _, err := c.Print(b.Context(), composed); err != nil {
			b.Fatal(err)
		}
	}
}

func TestNoPageBeginsWithTheLastLineOfAParagraph(t *testing.T) {
	t.Parallel()

	var content strings.Builder
	for n := range 12 { // each page has the paragraph of four lines one line lower
		content.WriteString(strings.Repeat("A line.\\\n", 34+n) + "The last one.\n\n" +
			"Begin " + strings.Repeat("and go on to the end of it ", 10) + "with a word at last.\n\n\\newpage\n\n")
	}
	_, path := printDocument(t, document.Document{Content: []byte(content.String())})
	moved := 0

	for i, page := range pageTexts(t, path) {
		first, _, _ := strings.Cut(strings.TrimSpace(page), "\n")
		if strings.HasPrefix(first, "Begin") {
			moved++
		}

		if strings.Contains(first, "at last.") {
			t.Errorf("page %d begins with %q, want no last line of a paragraph", i+1, first)
		}
	}

	if moved < 3 {
		t.Errorf("%d paragraphs moved to the next page, want at least 3", moved)
	}
}

func TestNoPageHasOnlyTheFirstOrLastRowOfATable(t *testing.T) {
	t.Parallel()

	var content strings.Builder
	for n := range 16 { // each page has the table of ten rows one line lower
		content.WriteString(strings.Repeat("A line.\\\n", 24+n) + "The last one.\n\n| Row | |\n|---|---|\n")

		for row := range 10 {
			fmt.Fprintf(&content, "| r%d. | |\n", row)
		}
		content.WriteString("\n\\newpage\n\n")
	}
	_, path := printDocument(t, document.Document{Content: []byte(content.String())})
	divided := 0

	for i, page := range pageTexts(t, path) {
		has := func(row string) bool { return strings.Contains(page, row) }
		if has("r0.") != has("r1.") || has("r8.") != has("r9.") {
			t.Errorf("page %d has a row alone: %q", i+1, page)
		}

		if has("r0.") && !has("r9.") {
			divided++
		}
	}

	if divided < 5 {
		t.Errorf("%d tables were divided, want at least 5", divided)
	}
}
