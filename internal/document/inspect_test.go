package document

import (
	"fmt"
	"strings"
	"testing"

	"presswork/internal/document/sheet"
	"presswork/internal/markdown/block"
)

// Most documents cannot have text that is too wide, so their prints are not inspected.
func TestContentThatMayBeTooWideIsMarked(t *testing.T) {
	t.Parallel()
	const area = 150 // millimetres

	cell := func(content string) string { return "<table><tr><td>" + content + "</td><td>a</td></tr></table>" }
	for name, c := range map[string]struct {
		body string
		want bool
	}{
		"no table":           {"<p>" + strings.Repeat("W", 500) + "</p>", false},
		"a small table":      {cell("some words in a cell"), false},
		"a long cell":        {cell(strings.Repeat("some words ", 100)), false},
		"many narrow cells":  {"<table><tr>" + strings.Repeat("<td>12.50 €</td>", 8) + "</tr></table>", true},
		"a picture":          {cell(`<img src="data:">`), true},
		"a table in a table": {cell("<table><tr><td>a</table>"), true},
		"a cell over two":    {`<table><tr><td colspan="2">a</td></tr><tr><td>a<td>b</table>`, true},
	} {
		t.Run(name, func(t *testing.T) {
			set := typesetter{
				sheet:   sheet.Sheet{Width: area + 60, Left: 30, Right: 30, Height: 297, Scale: 1},
				perLine: 90, textSize: 1,
			}
			set.typeset(block.Read(c.body))

			if set.doubtful != c.want {
				t.Errorf("%s: %v", name, set.doubtful)
			}
		})
	}

	for em, want := range map[float64]bool{0.6: false, 25: false, 40: true, 1000: true} {
		t.Run(fmt.Sprint(em), func(t *testing.T) {
			if got := maybeWide(em, area); got != want {
				t.Errorf("a formula of %g em: %v", em, got)
			}
		})
	}
}
