package preflight

import (
	"errors"
	"strings"
	"testing"

	"presswork/internal/fault"
	"presswork/internal/pdffile"
	"presswork/internal/pdffile/inspect"
)

func TestWarningsNameFileAndLine(t *testing.T) {
	t.Parallel()

	c := Check{Sources: []Source{
		{Path: "a.md", Content: []byte("# A\n")},
		{Path: "b/b.md", Content: []byte("# B\n\ntoo wide 漢\n")},
	}}
	for want, found := range map[string][]fault.Warning{
		"the package fonts-noto-cjk": c.glyphsMissing([]string{"漢"}),
		"page 2: something is wider": c.linesOverflow([]inspect.Misfit{{Page: 2, Text: "too wide"}, {Page: 2}}),
	} {
		t.Run(want, func(t *testing.T) {
			if len(found) != 1 || found[0].Line != 3 || !strings.HasPrefix(found[0].Message, "b.md: ") ||
				!strings.Contains(found[0].Message, want) {
				t.Errorf("got %+v, want %q in line 3 of b.md", found, want)
			}
		})
	}
}

func TestAPrintIsOnlyReadIfGlyphsMayBeMissing(t *testing.T) {
	t.Parallel()
	failure := errors.New("the print was read")
	read := func() (*pdffile.File, error) { return nil, failure }

	if _, err := (Check{}).Inspect(t.Context(), "<p>plain – text</p>", read); err != nil {
		t.Errorf("plain text: got %v, want that the print is not read", err)
	}

	if _, err := (Check{}).Inspect(t.Context(), "<p>\U000F0000</p>", read); !errors.Is(err, failure) {
		t.Errorf("a character that no font has: got %v, want that the print is read", err)
	}
}
