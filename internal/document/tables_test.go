package document_test

import (
	"regexp"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/document"
)

// grid returns a Markdown table of equal cells.
func grid(columns, rows int, cell string) string {
	row := strings.Repeat("| "+cell+" ", columns) + "|\n"
	return row + strings.Repeat("| --- ", columns) + "|\n" + strings.Repeat(row, rows)
}

// Wide tables get smaller type, then a landscape page, then both.
func TestWideTablesAreShrunkOrTurned(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		table, want string
		options     presswork.Options
	}{
		"narrow":                {grid(3, 2, "abc"), `<table>`, presswork.Options{}},
		"many narrow columns":   {grid(12, 2, "abc"), `<table>`, presswork.Options{}},
		"a column of prose":     {grid(2, 2, "words "+strings.Repeat("and words ", 30)), `<table class="tall">`, presswork.Options{}},
		"words that stay whole": {grid(14, 2, "some words here"), "<div class=\"turned\">\n<table class=\"wider\">", presswork.Options{}},
		"smaller":               {grid(8, 2, "1,234.5 kg"), `<table class="wide">`, presswork.Options{}},
		"smallest":              {grid(9, 2, "1,234.5 kg"), `<table class="wider">`, presswork.Options{}},
		"turned":                {grid(13, 2, "1,234.5 kg"), "<div class=\"turned\">\n<table class=\"wide\">", presswork.Options{}},
		"on landscape paper":    {grid(13, 2, "1,234.5 kg"), `<table class="wide">`, presswork.Options{Landscape: new(true)}},
		"90 columns":            {grid(90, 2, "1,234.5 kg"), "<div class=\"turned\">\n<table class=\"wider crowded tall\">", presswork.Options{}},
		"Han is twice as wide":  {grid(13, 2, "文字組"), `<table class="wider">`, presswork.Options{}},
		"so is Burmese":         {grid(11, 2, "ကခဂ"), `<table class="wider">`, presswork.Options{}},
		"cuneiform is wider":    {grid(14, 2, "𒀀"), `<table class="wider">`, presswork.Options{}},
		"with its headings":     {"# Prices\n\n## In euros\n\n" + grid(13, 2, "1,234.5 kg"), "<div class=\"turned\">\n<h1 id=\"prices\">Prices</h1>\n<h2 id=\"in-euros\">In euros</h2>\n<table class=\"wide\">", presswork.Options{}},
		"without the contents":  {"# Prices\n\n## In euros\n\n" + grid(13, 2, "1,234.5 kg"), "<h1 id=\"prices\">Prices</h1>\n<nav class=\"toc\"", presswork.Options{TOC: new(presswork.Depth(2))}},
		"with its heading":      {"- text\n\n## Prices\n\nIn euros:\n\n" + grid(13, 2, "1,234.5 kg"), "<ul>\n<li>text</li>\n</ul>\n<div class=\"turned\">\n<h2 id=\"prices\">Prices</h2>\n<p data-lead>In euros:</p>\n<table class=\"wide\">", presswork.Options{}},
	} {
		t.Run(name, func(t *testing.T) {
			c.options.Margins = presswork.Margins{Left: "30mm", Right: "30mm"} // whatever the preset

			html := compose(t, document.Document{Content: []byte(c.table), Options: c.options}).Page.HTML
			if _, body, _ := strings.Cut(html, "<main>\n"); !strings.HasPrefix(body, c.want) {
				t.Errorf("got %.200s, want %s", body, c.want)
			}
		})
	}
}

// Small tables have the same width, which is large compared with the text.
func TestSmallTablesAreEquallyWide(t *testing.T) {
	t.Parallel()

	for _, theme := range []string{"light", "dracula", "acid"} {
		t.Run(theme, func(t *testing.T) {
			t.Parallel()
			two := "| a | b |\n|---|--:|\n| 1 | First |\n\nText.\n\n"
			three := "| c | d | e |\n|--|--|--:|\n| a word | 3 | Second |\n"
			_, path := printDocument(t, document.Document{Content: []byte(two + three), Theme: theme})
			words := wordsIn(t, path)

			first, second := wordWith(t, words, "First").right, wordWith(t, words, "Second").right
			if first < 300 || first-second > 1 || second-first > 1 {
				t.Errorf("the tables end at %.1f and %.1f pt, want them equal and beyond 300", first, second)
			}
		})
	}
}

// Short cells such as dates stay on one line when other columns are squeezed.
func TestShortCellsAreNotBroken(t *testing.T) {
	t.Parallel()

	table := func(head string, dates, prose int) string {
		columns := dates + prose

		return strings.Repeat("| "+head+" ", columns) + "|\n" + strings.Repeat("|---", columns) + "|\n" +
			strings.Repeat("| 2026-11-20 ", dates) + strings.Repeat("| "+strings.Repeat("word ", 60), prose) + "|\n"
	}
	for name, c := range map[string]struct{ table, want string }{
		"next to prose":         {table("Date", 1, 1), `<table class="nb1">`},
		"next to much prose":    {table("Date", 6, 6), `<table class="wider nb1 nb2 nb3 nb4 nb5 nb6 tall">`},
		"under heads of a line": {table("Date it opened", 10, 1), `<table class="wider folded nb1 nb2 nb3 nb4 nb5 nb6 nb7 nb8 nb9 nb10">`},
	} {
		t.Run(name, func(t *testing.T) {
			html := compose(t, document.Document{Content: []byte(c.table)}).Page.HTML
			if !strings.Contains(html, c.want) {
				_, html, _ = strings.Cut(html, "<main>")
				t.Errorf("got %.100s, want %s", html, c.want)
			}
		})
	}
}

// Wide content stays on its page, and does not make Chromium shrink the rest of the document.
func TestWideContentIsNotCutOffAndShrinksNothingElse(t *testing.T) {
	t.Parallel()
	c := converter(t, document.Options{Printer: printer(t)})
	lines := regexp.MustCompile(
		`<word xMin="([0-9.]+)" yMin="([0-9.]+)" xMax="([0-9.]+)" yMax="([0-9.]+)">(\S+)</word>`,
	)
	// box returns the height of a word and its right edge, in points.
	box := func(path, word string) (height, right float64) {
		for _, m := range lines.FindAllStringSubmatch(poppler(t, "pdftotext", "-bbox", path, "-"), -1) {
			if m[5] == word {
				return parse(t, m[4]) - parse(t, m[2]), parse(t, m[3])
			}
		}
		t.Fatalf("the word %s is not printed", word)

		return 0, 0
	}
	_, plain := convert(t, c, document.Document{Content: []byte("Alpha\n")})
	want, _ := box(plain, "Alpha")

	for name, content := range map[string]string{
		"turned table":  strings.Replace(grid(15, 30, "1,234.5 kg"), "1,234.5 kg |\n", "Omega |\n", 1),
		"crowded table": strings.Replace(grid(40, 3, "1,234"), "1,234 |\n", "O |\n", 1) + "\nOmega\n",
		"long word":     strings.Repeat("x", 3000) + " Omega\n",
		"long code":     "`" + strings.Repeat("x", 3000) + "` Omega\n\n```\n" + strings.Repeat("y", 3000) + "\n```\n",
		"wide image":    `<img src="data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHdpZHRoPSI5MDAwIiBoZWlnaHQ9IjkiPjwvc3ZnPg==" width="9000">` + "\n\nOmega\n",
		"wide cell":     `<table><tr><td width="9000">a</td><td>Omega</td></tr></table>` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, path := convert(t, c, document.Document{Content: []byte("Alpha\n\n" + content)})
			if height, _ := box(path, "Alpha"); height < want-0.01 {
				t.Errorf("the text shrank from %.2f pt to %.2f", want, height)
			}

			width := 595.0
			if strings.HasPrefix(name, "turned") {
				width = 842
			}

			if _, right := box(path, "Omega"); right > width-30 {
				t.Errorf("the last word ends at %.0f pt, want at most %.0f", right, width-30)
			}
		})
	}
}
