package document_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/document"
)

// Code is set smaller, down to 7 pt, if its longest lines then fit.
func TestCodeSizeKeepsLinesWhole(t *testing.T) {
	t.Parallel()
	block := func(columns int) string { return "```\n" + strings.Repeat("-", columns) + "\nshort\n```\n" }
	size := regexp.MustCompile(`<pre[^>]* style="font-size:([0-9.]+)pt"`)

	for name, c := range map[string]struct {
		content  string
		theme    string
		options  presswork.Options
		from, to float64 // allowed sizes in points; 0 is the default size
	}{
		"short lines":         {block(78), "light", presswork.Options{}, 0, 0},
		"a little too long":   {block(85), "light", presswork.Options{}, 7.6, 7.8},
		"far too long":        {block(120), "light", presswork.Options{}, 0, 0},
		"larger type":         {block(78), "coffee", presswork.Options{}, 7.5, 8.8},
		"within a list":       {"- item\n\n  " + strings.ReplaceAll(block(79), "\n", "\n  "), "light", presswork.Options{}, 7.7, 8},
		"numbered":            {block(79), "light", presswork.Options{LineNumbers: new(true)}, 7.4, 7.8},
		"on a landscape page": {"::: landscape\n" + block(120) + ":::\n", "light", presswork.Options{}, 0, 0},
		"on landscape paper":  {block(150), "light", presswork.Options{Landscape: new(true)}, 7, 8.1},
		"too long for 7 pt":   {block(90), "light", presswork.Options{Scale: new(0.8)}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			composed, err := converter(t, document.Options{}).Compose(
				t.Context(),
				document.Document{Content: []byte(c.content), Theme: c.theme, Options: c.options},
			)
			if err != nil {
				t.Fatal(err)
			}

			got := 0.0
			if m := size.FindStringSubmatch(composed.Page.HTML); m != nil {
				got, _ = strconv.ParseFloat(m[1], 64)
			}

			if got < c.from || got > c.to || strings.Contains(composed.Page.HTML, "data-columns") {
				t.Errorf("%v pt, want %v to %v", got, c.from, c.to)
			}
		})
	}
}
