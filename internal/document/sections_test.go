package document_test

import (
	"fmt"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/document"
)

// structured has a page or more of each kind of section.
const structured = `# The title

::: {.columns}
::: {.column width="30%"}
leftmost
:::
::: {.column}
rightmost
:::
:::

Tiny caption table:

| a |
|---|
| 1 |

: These words are the caption

A note.[^1]

::: {.landscape #wide}
## Sideways

The [Small]{.smallcaps} table.
:::

::: no-header
nothing above
:::

::: {.no-footer}
nothing below
:::

::: {.no-header .no-footer}
nothing at all
:::

The end.

[^1]: The note.
`

func TestEachKindOfSectionHasItsOwnPage(t *testing.T) {
	t.Parallel()

	r, path := printDocument(t, document.Document{
		Content: []byte(structured),
		Options: presswork.Options{HeaderText: new("Above"), FooterText: new("Below {page}")},
	})
	if r.Pages != 6 {
		t.Fatalf("%d pages, want 6", r.Pages)
	}

	page := func(n int, args ...string) string {
		return poppler(t, "pdftotext", append(args, "-f", fmt.Sprint(n), "-l", fmt.Sprint(n), path, "-")...)
	}
	for n, want := range map[int]struct {
		text           string
		header, footer bool
	}{1: {"rightmost", true, true}, 2: {"Sideways", true, true}, 3: {"nothing above", false, true}, 4: {"nothing below", true, false}, 5: {"nothing at all", false, false}, 6: {"The end.", true, true}} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			text := page(n)
			if !strings.Contains(text, want.text) || strings.Contains(text, "Above\n") != want.header ||
				strings.Contains(text, fmt.Sprintf("Below %d\n", n)) != want.footer {
				t.Errorf("page %d: %q, want %+v", n, text, want)
			}
		})
	}

	info := poppler(t, "pdfinfo", "-f", "1", "-l", "3", path)
	if !strings.Contains(info, "Page    2 size:  841.92 x 594.96 pts") ||
		!strings.Contains(info, "Page    3 size:  594.96 x 841.92 pts") {
		t.Errorf("want page 2 in landscape and page 3 in portrait, got %s", info)
	}

	first := page(1, "-layout")
	if !strings.Contains(first, "leftmost  ") || !strings.Contains(first, "These words are the caption\n") {
		t.Errorf("columns do not stand side by side, or a caption is as narrow as its table: %q", first)
	}

	if last := page(6); strings.Contains(last, "↩") {
		t.Errorf("a note has a link back on paper: %q", last)
	}

	if struc := poppler(t, "pdfinfo", "-struct-text", path); !strings.Contains(struc, "H2 (block)\n") ||
		!strings.Contains(struc, `"Sideways"`) {
		t.Errorf("the heading of a section is not tagged: %s", struc)
	}
}

func TestHTMLOfSectionsAndTitles(t *testing.T) {
	t.Parallel()

	wide := "::: landscape\n" + grid(13, 2, "1,234.5 kg") + ":::\n"
	for name, c := range map[string]struct {
		source  string
		options presswork.Options
		want    string
	}{
		"a table on its wide page":   {wide, presswork.Options{}, "<div class=\"turned\">\n<div class=\"landscape\">\n<table class=\"wide\">"},
		"a wide document":            {wide, presswork.Options{Landscape: new(true)}, "<div class=\"landscape\">\n<table class=\"wide\">"},
		"upright in a wide document": {"::: {.portrait}\na\n:::\n", presswork.Options{Landscape: new(true)}, "<div class=\"turned\">\n<div class=\"portrait\">"},
		"quotes in a title":          {"---\ntitle: It's \"so\"\n---\n\ntext\n", presswork.Options{}, "<h1 id=\"its-so\">It’s “so”</h1>"},
		"German quotes in a title":   {"---\ntitle: 'Das \"Haus\"'\nlang: de\n---\n\n# a\n\n# b\n", presswork.Options{}, "<p class=\"title\">Das „Haus“</p>"},
	} {
		t.Run(name, func(t *testing.T) {
			c.options.Margins = presswork.Margins{Left: "30mm", Right: "30mm"}

			html := compose(t, document.Document{Content: []byte(c.source), Options: c.options}).Page.HTML
			if _, body, _ := strings.Cut(html, "<main>\n"); !strings.HasPrefix(body, c.want) {
				t.Errorf("got %.200s, want %s", body, c.want)
			}
		})
	}

	html := compose(t, document.Document{Content: []byte(wide)}).Page.HTML
	if !strings.Contains(html, ":is(.landscape,.portrait,.no-header,.no-footer) > :first-child{margin-top: 0}") {
		t.Error("the page lacks the rule that removes the space above the first heading of a section")
	}

	html = compose(t, document.Document{Content: []byte("# plain\n")}).Page.HTML
	if strings.Contains(html, "no-header") || strings.Contains(html, "columns") {
		t.Error("a page without such sections has their CSS rules")
	}
}
