package document_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork"
	"presswork/internal/chromium/printable"
	"presswork/internal/document"
)

// pageTexts returns the text of each page, laid out as in print.
func pageTexts(t testing.TB, path string) []string {
	t.Helper()
	pages := strings.Split(poppler(t, "pdftotext", "-layout", path, "-"), "\f")

	return pages[:len(pages)-1]
}

// contentsLine matches a line that ends in a number after some space, such as an entry of contents.
var contentsLine = regexp.MustCompile(`(?m)^\s*(\S.*?)\s{2,}(\d+)\s*$`)

// TestContentsHaveThePagesOfTheirEntries searches for each entry on the page that it names.
func TestContentsHaveThePagesOfTheirEntries(t *testing.T) {
	t.Parallel()

	rich, err := os.ReadFile("testdata/rich.md")
	if err != nil {
		t.Fatal(err)
	}
	var long strings.Builder
	long.WriteString("# Book\n\n")

	for i := range 120 {
		fmt.Fprintf(&long, "## Chapter <%d> & 100%% of it\n\n%s", i,
			strings.Repeat("Words upon words, and more of them.\n\n", i%17))
	}

	for _, doc := range []struct {
		name    string
		content []byte
		options presswork.Options
		entries int
	}{
		{"all features", rich, presswork.Options{}, 25},
		{"numbered", rich, presswork.Options{NumberedHeadings: new(true), PageSize: "A5", TOC: new(presswork.Depth(2))}, 20},
		{"contents of several pages", []byte(long.String()), presswork.Options{TOC: new(presswork.Depth(2))}, 120},
		{"other scripts in anchors", []byte("[[toc]]\n\n# Über 50 % — größer\n\n# 日本語の章\n\n\\newpage\n\n# Überschrift *kursiv* `x(1)`\n"), presswork.Options{}, 3},
	} {
		t.Run(doc.name, func(t *testing.T) {
			t.Parallel()
			_, path := printDocument(t, document.Document{Content: doc.content, Options: doc.options})
			pages := pageTexts(t, path)
			squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
			entries, last := 0, 0

			for _, page := range pages {
				for _, m := range contentsLine.FindAllStringSubmatch(page, -1) {
					number, err := strconv.Atoi(m[2])
					if err != nil || number < 1 || number > len(pages) || number < last {
						continue // a table's line
					}
					entries, last = entries+1, number
					// pdftotext puts marks around text from right to left. So the number of a
					// heading has another place in its output than in the contents.
					words := strings.FieldsFunc(m[1], func(r rune) bool { return r >= 0x202a && r <= 0x202e })
					if slices.ContainsFunc(
						words,
						func(w string) bool { return !strings.Contains(squeeze(pages[number-1]), squeeze(w)) },
					) {
						t.Errorf("%q is not on page %d:\n%s", m[1], number, pages[number-1])
					}
				}

				if entries >= doc.entries {
					break
				}
			}

			if entries < doc.entries {
				t.Errorf("%d entries, want %d:\n%s", entries, doc.entries,
					strings.Join(pages[:min(4, len(pages))], "\n"))
			}
		})
	}
}

func TestContentsCountAllPagesWhenOnlySomeArePrinted(t *testing.T) {
	t.Parallel()
	content := "# A\n\n\\newpage\n\n# B\n\n\\newpage\n\n# C\n"
	r, path := printDocument(t, document.Document{Content: []byte(content), Options: presswork.Options{
		TOC: new(presswork.Depth(1)), Cover: new(true), PageRanges: "2", HeaderText: new("{chapter}"),
	}})

	text := poppler(t, "pdftotext", "-layout", path, "-")
	if r.Pages != 1 ||
		!regexp.MustCompile(`A\s+3\n\s*B\s+4\n\s*C\s+5`).
			MatchString(regexp.MustCompile(`\n+`).ReplaceAllString(text, "\n")) {
		t.Errorf("got %d pages, want 1 with the pages 3 to 5:\n%s", r.Pages, text)
	}
}

// Some chapters begin in the middle of a page, and a title has characters that end CSS strings and rules.
func TestRunningTitlesAreThoseOfTheirPages(t *testing.T) {
	t.Parallel()
	fill := strings.Repeat("Text that fills the page, line by line, until there is no room left.\n\n", 40)
	content := "# Title\n\nIntroduction.\n\n## One \"quoted\" } @page{size:A6}</style>\n\n" + fill +
		"## Two\n\nShort.\n\n## Three\n\n" + fill + "\\newpage\n\n" + fill
	_, path := printDocument(t, document.Document{Content: []byte(content), Options: presswork.Options{
		HeaderText: new("[{chapter}]"), FooterText: new("{page}"), Cover: new(true), TOC: new(presswork.Depth(2)),
	}})
	pages := pageTexts(t, path)
	running := ""

	for n, page := range pages[2:] {
		first, _, _ := strings.Cut(strings.TrimSpace(page), "\n")

		begun := regexp.MustCompile(`(?m)^ {0,8}(One .*|Two|Three)$`).FindAllStringSubmatch(page, -1)
		if begun != nil {
			running = begun[0][1] // the first that begins on the page
		}

		if want := "[" + running + "]"; first != want {
			t.Errorf("page %d is headed %s, want %s", n+3, first, want)
		}

		if begun != nil {
			running = begun[len(begun)-1][1]
		}
	}

	if running != "Three" || strings.Contains(pages[1], "[One") {
		t.Errorf("the last chapter is %q, want Three, and no running title above the contents:\n%s", running, pages[1])
	}

	if size := field(poppler(t, "pdfinfo", path), "Page size"); !strings.Contains(size, "A4") {
		t.Errorf("the page size is %s, want A4", size)
	}
}

func TestContentsHaveTheirPlaceAndEntriesInTheHTML(t *testing.T) {
	t.Parallel()
	nav := regexp.MustCompile(`(?s)<nav class="toc.*?</nav>\n`)
	html := func(content string, o presswork.Options) string {
		return compose(t, document.Document{Content: []byte(content), Options: o}).Page.HTML
	}
	const source = "# Title\n\n## A *b* `c` [d](#c)[^1] & <b>e\n\n#### Deep {#x}\n\n### B\n\n## C\n\n[^1]: Note.\n"
	got := nav.FindString(
		html(source, presswork.Options{TOC: new(presswork.Depth(4)), Lang: "de-AT", NumberedHeadings: new(true)}),
	)

	want := strings.NewReplacer("~", `<span class="toc-leader"></span><span class="toc-page" data-fill></span>`,
		"<n>", `<span class="toc-number">`, "<t>", `<span class="toc-text">`, "</x>", "</span>").Replace(
		`<nav class="toc" role="doc-toc" aria-label="Inhalt">
<p class="toc-title">Inhalt</p>
<ul>
<li><a href="#a-b-c-d--e"><n>1</x><t>A <em>b</em> <code>c</code> d &amp; <b>e</b></x>~</a><ul>
<li><a href="#x"><n>1.0.1</x><t>Deep</x>~</a></li>
<li><a href="#b"><n>1.1</x><t>B</x>~</a></li>
</ul>
</li>
<li><a href="#c"><n>2</x><t>C</x>~</a></li>
</ul>
</nav>
`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}

	for name, c := range map[string]struct {
		content string
		options presswork.Options
		before  string // what stands right before the contents; "" = there are none
	}{
		"below the title":     {source, presswork.Options{TOC: new(presswork.Depth(2))}, "</h1>\n"},
		"after the cover":     {source, presswork.Options{TOC: new(presswork.Depth(2)), Cover: new(true)}, "</section>\n<main>\n"},
		"before the first":    {"# A\n\n# B\n", presswork.Options{TOC: new(presswork.Depth(2))}, "<main>\n"},
		"at the mark":         {"# A\n\ntext\n\n[[toc]]\n\n## B\n", presswork.Options{}, "<p>text</p>\n"},
		"the request says no": {"# A\n\n[[toc]]\n\n## B\n", presswork.Options{TOC: new(presswork.Depth(0))}, ""},
		"nothing to list":     {"text\n\n[[toc]]\n", presswork.Options{TOC: new(presswork.Depth(3))}, ""},
		"a title alone":       {"# A\n\ntext\n", presswork.Options{TOC: new(presswork.Depth(3))}, "<main>\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := html(c.content, c.options)
			if at := nav.FindStringIndex(got); (at != nil) != (c.before != "") ||
				at != nil && !strings.HasSuffix(got[:at[0]], c.before) {
				t.Errorf("contents at %v, want them after %q, in %s", at, c.before, got[strings.Index(got, "<body>"):])
			}
		})
	}

	if got := html(source, presswork.Options{}); strings.Contains(got, "data-fill") {
		t.Error("a page without contents has page numbers to fill in")
	}
}

// farAway is a Printer that reports page 1234 for every heading.
type farAway struct {
	document.Printer
	printed []byte
}

// PrintRevised replaces all page numbers by 1234.
func (f *farAway) PrintRevised(
	ctx context.Context,
	page printable.Page,
	revise func([]byte) ([]string, error),
) ([]byte, error) {
	return f.Printer.PrintRevised(ctx, page, func(printed []byte) ([]string, error) {
		texts, err := revise(printed)
		for i := range texts {
			texts[i] = "1234"
		}
		f.printed = printed

		return texts, err
	})
}

// Numbers of four digits stay on one line. The leader before a number is drawn in the page: a transparency group of
// its own would be loaded by every page.
func TestEntriesWithLargeNumbersAreOneLineWithoutLayers(t *testing.T) {
	t.Parallel()
	browser := &farAway{Printer: printer(t)}

	_, path := convert(t, converter(t, document.Options{Printer: browser}), document.Document{
		Content: []byte("# A\n\n## Heavy\n\n### Light\n"),
		Options: presswork.Options{TOC: new(presswork.Depth(3))},
	})
	if page := pageTexts(t, path)[0]; !regexp.MustCompile(`Heavy +1234\n\s*Light +1234\n`).MatchString(page) {
		t.Errorf("got contents %q, want each number on the line of its entry", page)
	}

	if n := bytes.Count(browser.printed, []byte("/S /Transparency")); n > 0 {
		t.Errorf("the print has %d transparency groups, want none", n)
	}
}

// TestListsOfFiguresAndTablesHaveThePagesOfTheirEntries searches for each entry on the page that it names.
func TestListsOfFiguresAndTablesHaveThePagesOfTheirEntries(t *testing.T) {
	t.Parallel()
	var src strings.Builder
	src.WriteString("---\nlof: true\n---\n# Book\n\n\\listoftables\n\nSee @fig:f3 and @tbl:t2.\n\n")

	for i := range 5 {
		fmt.Fprintf(
			&src,
			"## Chapter %d\n\n\\newpage\n\n```mermaid\npie\n```\n\n::: {#fig:f%d}\nSome text.\n\nPicture%d\n:::\n\n| a |\n|---|\n| 1 |\n\n: Grid%d {#tbl:t%d}\n\n",
			i,
			i,
			i,
			i,
			i,
		)
	}
	_, path := printDocument(
		t,
		document.Document{Content: []byte(src.String()), Options: presswork.Options{TOC: new(presswork.Depth(2))}},
	)
	pages := pageTexts(t, path)
	found := 0

	for _, m := range contentsLine.FindAllStringSubmatch(pages[0], -1) {
		words := strings.Fields(m[1])

		page, err := strconv.Atoi(m[2])
		if name := words[len(words)-1]; err != nil || page < 1 || page > len(pages) {
			t.Errorf("the entry %q names page %s, want 1 to %d", m[0], m[2], len(pages))
		} else if strings.HasPrefix(name, "Picture") || strings.HasPrefix(name, "Grid") {
			found++

			if page == 1 || !strings.Contains(pages[page-1], name) {
				t.Errorf("%q is not on page %d", m[1], page)
			}
		}
	}

	if found != 10 {
		t.Errorf("%d entries, want 10:\n%s", found, pages[0])
	}

	if links := poppler(t, "pdfinfo", "-dests", path); !strings.Contains(links, `"fig:f3"`) ||
		!strings.Contains(links, `"tbl:t2"`) {
		t.Errorf("the figure and the table are no link targets: %s", links)
	}
}
