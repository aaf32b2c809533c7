package typeset_test

import (
	"fmt"
	"strings"
	"testing"

	"presswork/internal/document/sheet"
	"presswork/internal/document/typeset"
	"presswork/internal/markdown/block"
)

// Most documents cannot have text that is too wide, so their prints are not inspected.
func TestMayOverflowIsTrueOnlyForTablesAndWideFormulas(t *testing.T) {
	t.Parallel()
	options := typeset.Options{ // with a text area of 150 mm
		Sheet:    sheet.Sheet{Width: 210, Left: 30, Right: 30, Height: 297, Scale: 1},
		TextSize: 1,
	}

	cell := func(content string) string { return "<table><tr><td>" + content + "</td><td>a</td></tr></table>" }
	for name, c := range map[string]struct {
		body string
		want bool
	}{
		"no table":              {"<p>" + strings.Repeat("W", 500) + "</p>", false},
		"a small table":         {cell("some words in a cell"), false},
		"a long cell":           {cell(strings.Repeat("some words ", 100)), false},
		"many narrow cells":     {"<table><tr>" + strings.Repeat("<td>12.50 €</td>", 8) + "</tr></table>", true},
		"a picture":             {cell(`<img src="data:">`), true},
		"a table in a table":    {cell("<table><tr><td>a</table>"), true},
		"a cell of two columns": {`<table><tr><td colspan="2">a</td></tr><tr><td>a<td>b</table>`, true},
	} {
		t.Run(name, func(t *testing.T) {
			_, text := typeset.Write(block.Read(c.body), nil, options)

			if got := text.MayOverflow(0); got != c.want {
				t.Errorf("MayOverflow = %v, want %v", got, c.want)
			}
		})
	}

	for em, want := range map[float64]bool{0.6: false, 25: false, 40: true, 1000: true} {
		t.Run(fmt.Sprintf("a formula of %g em", em), func(t *testing.T) {
			_, text := typeset.Write(nil, nil, options)
			if got := text.MayOverflow(em); got != want {
				t.Errorf("MayOverflow = %v, want %v", got, want)
			}
		})
	}
}
