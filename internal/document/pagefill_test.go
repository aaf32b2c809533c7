package document_test

import (
	"strings"
	"testing"

	"presswork"
	"presswork/internal/document"
)

// Each block is printed at twelve distances from the foot of a page. Paragraphs of four lines are divided in the
// middle, paragraphs of three are not. No rule begins a page, and no summary ends one.
func TestPagesDoNotEndWithinShortBlocks(t *testing.T) {
	t.Parallel()
	var content strings.Builder
	// below puts a block below n+1 lines of a page.
	below := func(n int, then string) {
		content.WriteString(strings.Repeat("A line.\\\n", n) + "The last one.\n\n" + then + "\n\n\\newpage\n\n")
	}

	const four = "One, with words that go on to the end\\\ntwo, with words that go on to the end\\\nthree, with words that go on to the end\\\nfour, with words that go on to the end"
	for n := range 12 {
		below(32+n, strings.ReplaceAll(four, "with", "with more and more of the many"))
		below(34+n, "Uno, with words that go on to the end\\\ndos, with words that go on to the end\\\ntres.")
		below(34+n, "A paragraph.\n\n---\n\nAfter the rule.")
		below(34+n, "<details><summary>In short</summary>\n\nAt length.\n\n</details>")
	}
	_, path := printDocument(t, document.Document{
		Content: []byte(content.String()),
		Options: presswork.Options{CSS: `hr{height:auto}hr::before{content:"RULE"}`},
	})
	divided, after, short := 0, 0, 0

	for i, page := range pageTexts(t, path) {
		lines := strings.Split(strings.TrimSpace(page), "\n")
		number := lines[len(lines)-1]
		text := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(page), number))

		first, _, _ := strings.Cut(text, "\n")
		switch {
		case strings.HasPrefix(first, "three,"):
			divided++
		case strings.HasPrefix(first, "two,"),
			strings.HasPrefix(first, "dos,"),
			strings.HasPrefix(first, "tres."),
			strings.HasPrefix(first, "four,"),
			strings.HasPrefix(first, "RULE"),
			strings.HasSuffix(text, "In short"):
			t.Errorf("page %d begins with %q and ends with %q, want no block divided there",
				i+1, first, text[max(0, len(text)-20):])
		case strings.HasPrefix(first, "After the rule"):
			after++
		case strings.HasPrefix(first, "In short"):
			short++
		}
	}

	if divided == 0 || after == 0 || short == 0 {
		t.Errorf("%d paragraphs were divided, %d rules ended a page, %d summaries moved; want some of each", divided,
			after, short)
	}
}

// Consecutive headings of one level stay with the text below the last of them.
func TestRowsOfHeadingsStayWithTheirText(t *testing.T) {
	t.Parallel()
	var content strings.Builder

	for n := range 14 {
		lines := strings.Repeat("A line.\\\n", 30+n) + "The last one.\n\n"
		content.WriteString(lines + "## First heading\n## Second heading\n\n- one\n- two\n\n\\newpage\n\n")
		content.WriteString(
			lines + "### First heading\n### Second heading\n### Third heading\n\nText.\n\n\\newpage\n\n",
		)
	}
	_, path := printDocument(t, document.Document{Content: []byte(content.String())})
	moved := 0

	for i, page := range pageTexts(t, path) {
		lines := strings.Split(strings.TrimSpace(page), "\n")
		text := strings.TrimSpace(strings.Join(lines[:len(lines)-1], "\n"))

		if strings.HasSuffix(text, " heading") {
			t.Errorf("page %d ends with %q, want no heading last", i+1, text[max(0, len(text)-40):])
		}

		if strings.HasPrefix(text, "First heading") {
			moved++
		}
	}

	if moved < 4 {
		t.Errorf("%d rows of headings moved to the next page, want at least 4", moved)
	}
}

// Lists within lists are divided, so that their pages are full.
func TestListsWithinListsFillTheirPages(t *testing.T) {
	t.Parallel()
	_, path := printDocument(t, document.Document{
		Content: []byte(strings.Repeat(
			"Between the lists:\n\n"+strings.Repeat(
				"- An item\n"+strings.Repeat("  - with one\n    - with two\n    - with three\n", 3),
				3,
			),
			12,
		)),
	})
	divided := 0

	for _, page := range pageTexts(t, path) {
		if !strings.HasPrefix(strings.TrimSpace(page), "Between") {
			divided++
		}
	}

	if divided < 6 {
		t.Errorf("%d pages begin within a list, want most of 11", divided)
	}
}

// After a cover, a table of contents has a page of its own, unless it is short.
func TestShortContentsShareAPage(t *testing.T) {
	t.Parallel()

	c := converter(t, document.Options{})
	for content, own := range map[string]bool{
		"# T\n\n## Only\n\ntext":                    false,
		"# T\n\n" + strings.Repeat("## One\n\n", 4): true,
	} {
		t.Run(content, func(t *testing.T) {
			composed, err := c.Compose(t.Context(), document.Document{
				Content: []byte(content),
				Options: presswork.Options{Cover: new(true), TOC: new(presswork.Depth(3))},
			})
			if err != nil {
				t.Fatal(err)
			}

			if got := strings.Contains(composed.Page.HTML, `<nav class="toc toc-own-page"`); got != own {
				t.Errorf("own page %v, want %v", got, own)
			}
		})
	}
}

// Content without a rule against breaks starts on the current page, whatever its elements are.
func TestDivisibleContentFillsItsPage(t *testing.T) {
	t.Parallel()
	many := func(n int, form string) string {
		return strings.ReplaceAll(strings.Repeat(form, n), "WORDS", strings.Repeat("of many words ", 40))
	}
	kinds := map[string]string{
		"tables of one row":     many(9, "#### FIRST\n\n| A | B |\n|---|---|\n| x | y |\n\n"),
		"headings without text": many(16, "#### FIRST\n\n"),
		"lines in bold":         many(20, "**FIRST**\n\n"),
		"a table of long rows":  "| A | B |\n|---|---|\n" + many(6, "| FIRST | WORDS |\n"),
		"a table within a table": "<table><tr><td>\n\n| A |\n|---|\n" + many(24, "| FIRST |\n") +
			"\n</td></tr></table>",
	}

	var content strings.Builder
	for name, kind := range kinds {
		content.WriteString(many(20, "FILLED.\\\n") + name + ".\n\n" + kind + "\n\n\\newpage\n\n")
	}
	_, path := printDocument(t, document.Document{Content: []byte(content.String())})

	text := poppler(t, "pdftotext", "-layout", path, "-")
	for name := range kinds {
		t.Run(name, func(t *testing.T) {
			_, after, _ := strings.Cut(text, name)
			if page, _, _ := strings.Cut(after, "\f"); !strings.Contains(page, "FIRST") {
				t.Error("the content begins on the next page, want it below the text")
			}
		})
	}
}
