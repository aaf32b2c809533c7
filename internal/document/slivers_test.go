package document_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/document"
	"presswork/internal/test/printed"
)

// The sheet of these tests, in millimetres. Each element is at the top of its own page.
const (
	sliverWidth, sliverHeight, sliverMargin = 110, 120, 15
	// overflow is the distance up to which Chromium paints ink outside the text area.
	overflow = 5
)

// reaching returns Markdown whose ink may reach above its first line.
func reaching() []string {
	things := []string{
		"Text",
		"**Ấ** `chip` Ệ",
		"- `chip`\n- [ ] task",
		"1. Ḗ `chip`",
		"> quote `chip`",
		"> > deep",
		"> [!NOTE]\n> `chip`",
		"```go title=\"x.go\"\nx := 1\n```",
		"    code",
		"| `a` | Ấ |\n|---|---|\n| 1 | 2 |",
		"![badge](dot.png) ![badge](dot.png)",
		"![](dot.png)",
		"![A caption](dot.png)\n",
		"Term\n: `chip`",
		"<details><summary>`chip` Ấ</summary>x</details>",
		"<kbd>Ctrl</kbd> <mark>Ấ</mark> x^2^ <sub>2</sub>",
		"$$\\int_0^1 \\frac{a^{b^{c}}}{\\sqrt{\\frac{x}{y}}}$$",
		"$\\frac{a^{b^{c}}}{x}$ `chip`",
		"---",
		"[`link`](https://example.com) Ấ",
		"~~`struck`~~ ==Ấ==",
		"<p align=\"center\"><img src=\"dot.png\" width=\"40\"></p>",
	}

	for level := 1; level <= 6; level++ {
		texts := []string{"`a.b(c)`", "Ấ བོད [`a`](#x)"}
		if level <= 3 {
			texts = append(texts, "グラフ ที่นี่", "العربية لِّهِ <kbd>K</kbd>")
		}

		for _, text := range texts {
			things = append(things, strings.Repeat("#", level)+" "+text)
		}
	}

	return things
}

// Chromium paints ink above the first line of a page at the foot of the page before. It paints ink below the last line
// at the head of the next page.
func TestFirstLinesDoNotReachOntoThePageBefore(t *testing.T) {
	t.Parallel()
	things := reaching()
	content := strings.ReplaceAll(strings.Join(things, "\n\n\\newpage\n\n"), "dot.png", dotURI)
	doc := document.Document{Content: []byte(content), Options: presswork.Options{
		PageSize: fmt.Sprintf("%dmm x %dmm", sliverWidth, sliverHeight), Tagged: new(false), FooterText: new(""),
		Margins: presswork.Margins{Top: "15mm", Right: "15mm", Bottom: "15mm", Left: "15mm"},
	}}

	for _, theme := range catalogue(t).List() {
		t.Run(theme.Name, func(t *testing.T) {
			t.Parallel()
			d := doc
			d.Theme = theme.Name
			_, path := printDocument(t, d)

			pages := inkedRows(t, path)
			if len(pages) != len(things) {
				t.Fatalf("%d pages, want one for each of %d elements", len(pages), len(things))
			}

			for n, rows := range pages {
				at := func(mm float64) int { return int(mm / sliverHeight * float64(len(rows))) }
				if first := slices.Index(rows, true); first >= 0 && first <= at(sliverMargin-overflow)+1 {
					t.Errorf("page %d: the top of %q may be cut off", n+1, things[n])
				}

				if slices.Contains(rows[at(sliverHeight-40):at(sliverHeight)-1], true) && n+1 < len(things) {
					t.Errorf("page %d has ink at its foot, probably of %q on the next page", n+1, things[n+1])
				}
			}
		})
	}
}

// TestLastLinesDoNotReachOntoTheNextPage fills pages so that a line with descenders is the last one.
func TestLastLinesDoNotReachOntoTheNextPage(t *testing.T) {
	t.Parallel()
	var b strings.Builder

	things := []string{"`chip` ǫgjpq", "कृष्ण क्त्रु", "## `chip` gjpq"}
	for n, thing := range things {
		if n > 0 {
			b.WriteString("\n\n\\newpage\n\n")
		}
		b.WriteString("<div class=\"small\"></div>\n\n" + thing + "\n\n\\newpage\n\n<div class=\"lead\"></div>\n\nText")
	}
	_, path := printDocument(
		t,
		document.Document{Content: []byte(b.String()), Theme: "nord", Options: presswork.Options{
			PageSize: fmt.Sprintf("%dmm x %dmm", sliverWidth, sliverHeight), FooterText: new(""),
			Margins: presswork.Margins{Top: "15mm", Right: "15mm", Bottom: "15mm", Left: "15mm"},
			CSS: ".small { height: calc(var(--area-height) - 1rem); line-height: 1 } .lead { height: 40mm }" +
				"p, h2 { margin: 0; padding: 0; border: 0; font-size: 1rem; line-height: 1 }",
		}},
	)

	pages := inkedRows(t, path)
	if want := 2 * len(things); len(pages) != want {
		t.Fatalf("%d pages, want %d", len(pages), want)
	}

	for n, rows := range pages {
		at := func(mm float64) int { return int(mm / sliverHeight * float64(len(rows))) }
		if n%2 == 1 && slices.Contains(rows[:at(sliverMargin+30)], true) {
			t.Errorf("page %d has ink at its head, probably of %q on the page before", n+1, things[n/2])
		}
	}
}

// inkedRows reports for each page which rows of pixels have ink, at 72 dpi.
func inkedRows(t *testing.T, path string) [][]bool {
	t.Helper()

	pages, err := printed.InkedRows(t.Context(), path, 72)
	if err != nil {
		t.Fatal(err)
	}

	return pages
}
