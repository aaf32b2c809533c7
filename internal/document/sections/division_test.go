package sections

import (
	"slices"
	"strings"
	"testing"
)

// A heading stays with the text below it, so no section ends with one. Each piece of long contents is a section.
func TestSectionsBeginAtHeadingsAndContents(t *testing.T) {
	t.Parallel()
	text := func(size int) piece { return piece{Block: Block{HTML: strings.Repeat("x", size), Paragraph: true}} }
	heading := func(level int) piece { return piece{Block: Block{HTML: "<h2>", Heading: level}} }
	contents := func(size int) piece { return piece{Block: Block{HTML: strings.Repeat("x", size), Contents: true}} }

	for name, test := range map[string]struct {
		blocks []piece
		want   []int // indexes of the blocks at which sections begin
	}{
		"a heading in the first half": {
			[]piece{text(50 << 10), heading(2), heading(3), text(225 << 10), text(50 << 10)},
			[]int{0, 1, 4},
		},
		"a heading at the beginning":   {[]piece{heading(2), text(usualSection), text(100 << 10)}, []int{0, 2}},
		"a heading in the second half": {[]piece{text(150 << 10), heading(2), text(150 << 10)}, []int{0, 1}},
		"pieces of long contents, the last of which is short": {
			[]piece{heading(1), contents(150 << 10), contents(150 << 10), contents(1 << 10), heading(2), text(9 << 10)},
			[]int{0, 2, 3, 4},
		},
		"short contents": {[]piece{heading(1), contents(9 << 10), heading(2), text(9 << 10)}, []int{0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := starts(test.blocks, true); !slices.Equal(got, test.want) {
				t.Errorf("sections begin at %v, want %v", got, test.want)
			}
		})
	}
}
