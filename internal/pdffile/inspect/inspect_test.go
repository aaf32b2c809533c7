package inspect

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/pdffile"
	"presswork/internal/pdffile/filetest"
)

// column returns the area for text in these tests: 10 points from each edge.
func column(int, float64, float64) *Area {
	return &Area{Left: 10, Right: 90, Bottom: 10, Top: 190, LineEnd: 90, Smallest: 4}
}

// findings returns the findings for pages with these contents. wanted are the characters of the document. Each glyph is
// half as wide as the type size.
func findings(t *testing.T, wanted string, area func(int, float64, float64) *Area, contents ...string) Findings {
	t.Helper()
	texts := filetest.Latin()
	texts[0], texts[1], texts[2] = "", "é", "漢"
	built := filetest.Build(t, filetest.Pages("/Font <</F1 @font>>", contents...), filetest.Font("font", texts))

	found, err := Text(t.Context(), read(t, built.Data), []rune(wanted), area)
	if err != nil {
		t.Fatal(err)
	}

	return found
}

// at returns content that shows text at a position.
func at(x, y int, text string) string {
	return fmt.Sprintf("BT\n/F1 10 Tf\n1 0 0 1 %d %d Tm\n%sET\n", x, y, filetest.Show(text))
}

func TestTextThatDoesNotFitIsFound(t *testing.T) {
	t.Parallel()

	outside := func(text string) []Misfit { return []Misfit{{Page: 1, Text: text}} }
	for name, c := range map[string]struct {
		content string
		want    []Misfit
	}{
		"text within":                  {at(20, 100, "abc"), nil},
		"text from edge to edge":       {at(10, 100, "abcdefghijklmnop"), nil},
		"text that begins on the left": {at(9, 100, "abc"), outside("abc")},
		"text that ends on the right":  {at(60, 100, "abcdefghi"), outside("abcdefghi")},
		"the last glyph hangs over":    {at(60, 100, "abcdefg"), nil},
		"text in the margin above":     {at(0, 195, "abc"), nil},
		"text in the margin below":     {at(0, 5, "abc"), nil},
		"spaces alone":                 {at(0, 100, "   "), nil},
		"text that is moved outside":   {"1 0 0 1 50 0 cm\n" + at(50, 100, "abc"), outside("abc")},
		"text that is moved back":      {"q\n1 0 0 1 50 0 cm\nQ\n" + at(50, 100, "abc"), nil},
		"Q without q":                  {"Q\n" + at(50, 100, "abc"), nil},
		"text after Td":                {"BT\n/F1 10 Tf\n1 0 0 1 50 100 Tm\n50 0 Td\n" + filetest.Show("abc") + "ET\n", outside("abc")},
		"glyphs set closer":            {"BT\n/F1 10 Tf\n1 0 0 1 60 100 Tm\n[<00410042> 4000 <00430044004500460047>] TJ\nET\n", nil},
		"glyphs set apart":             {"BT\n/F1 10 Tf\n1 0 0 1 60 100 Tm\n[<0041> -4000 <0042>] TJ\nET\n", outside("AB")},
		"upright text from below":      {"BT\n/F1 10 Tf\n0 1 -1 0 50 20 Tm\n" + filetest.Show(strings.Repeat("a", 100)) + "ET\n", nil},
		"a tag is reported once":       {"/P <</MCID 0 >>BDC\n" + at(0, 100, "abc") + at(0, 90, "def") + "EMC\n", outside("abcdef")},
		"two tags are two findings": {"/P <</MCID 0 >>BDC\n" + at(0, 100, "abc") + "EMC\n/P <</MCID 1 >>BDC\n" + at(0, 90, "def") +
			"EMC\n", []Misfit{{Page: 1, Text: "abc"}, {
			Page: 1,
			Text: "def",
		}}},
		"a span's text stands for its glyphs": {"/P <</MCID 0 >>BDC\n/Span<</ActualText (word) >> BDC\n" + at(0, 100, "abc") + "EMC\nEMC\n", outside("word")},
		"text cut by a clip":                  {"20 0 40 200 re\nW\nn\n" + at(30, 100, "abcdefgh"), outside("abcdefgh")},
		"text within a clip":                  {"20 0 60 200 re\nW\nn\n" + at(30, 100, "abcdefgh"), nil},
		"text next to a clip":                 {"20 0 10 200 re\nW\nn\n" + at(40, 100, "abc"), nil},
		"a clip that has ended":               {"q\n20 0 40 200 re\nW*\nn\nQ\n" + at(30, 100, "abcdefgh"), nil},
		"a clip within a clip":                {"20 0 60 200 re\nW\nn\n0 0 60 200 re\nW\nn\n" + at(30, 100, "abcdefgh"), outside("abcdefgh")},
		"a clip of lines":                     {"20 0 m\n60 0 l\n60 200 l\n20 200 l\nh\nW\nn\n" + at(30, 100, "abcdefgh"), outside("abcdefgh")},
		"a clip of a curve":                   {"20 0 m\n20 0 60 0 60 200 c\nh\nW\nn\n" + at(30, 100, "abcdefgh"), outside("abcdefgh")},
		"a shape cut where lines end":         {"10 0 80 200 re\nW\nn\n50 50 60 10 re\nf\n", outside("")},
		"a shape that hangs over a little":    {"10 0 80 200 re\nW\nn\n50 50 49 10 re\nf\n", nil},
		"a shape cut elsewhere":               {"10 0 60 200 re\nW\nn\n50 50 60 10 re\nf\n", nil},
		"a shape and text":                    {"10 0 80 200 re\nW\nn\n50 50 60 10 re\nf\n" + at(0, 100, "abc"), outside("abc")},
		"type that can just be read":          {"BT\n/F1 4 Tf\n1 0 0 1 20 100 Tm\n" + filetest.Show("abc") + "ET\n", nil},
		"type too small to read":              {"BT\n/F1 3 Tf\n1 0 0 1 20 100 Tm\n" + filetest.Show("abc") + "ET\n", []Misfit{{Page: 1, Size: 3, Text: "abc"}}},
		"type that is made too small":         {".25 0 0 .25 0 0 cm\nBT\n/F1 10 Tf\n1 0 0 1 80 400 Tm\n" + filetest.Show("abc") + "ET\n", []Misfit{{Page: 1, Size: 2.5, Text: "abc"}}},
		"small type outside is outside":       {"BT\n/F1 3 Tf\n1 0 0 1 0 100 Tm\n" + filetest.Show("abc") + "ET\n", outside("abc")},
		"small spaces":                        {"BT\n/F1 3 Tf\n1 0 0 1 20 100 Tm\n" + filetest.Show("  ") + "ET\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(c.want, findings(t, "", column, c.content).Misfits); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}

			anywhere := func(int, float64, float64) *Area { return nil }
			if got := findings(t, "", anywhere, c.content).Misfits; got != nil {
				t.Errorf("without an area: got %v, want none", got)
			}
		})
	}
}

func TestMisfitsAreInTheOrderOfThePages(t *testing.T) {
	t.Parallel()
	built := filetest.Build(
		t,
		strings.Replace(
			filetest.Pages("/Font <</F1 @font>>", at(0, 100, "third"), at(0, 100, "first"), at(0, 100, "second")),
			"@page-1 @page-2 @page-3",
			"@page-2 @page-3 @page-1",
			1,
		),
		filetest.Font("font", filetest.Latin()),
	)
	var sizes [][3]float64

	found, err := Text(t.Context(), read(t, built.Data), nil, func(page int, width, height float64) *Area {
		sizes = append(sizes, [3]float64{float64(page), width, height})
		return column(page, width, height)
	})
	if err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff([]Misfit{{1, 0, "first"}, {2, 0, "second"}, {3, 0, "third"}}, found.Misfits); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	if diff := cmp.Diff([][3]float64{{1, 100, 200}, {2, 100, 200}, {3, 100, 200}}, sizes); diff != "" {
		t.Errorf("calls of area (-want +got):\n%s", diff)
	}
}

func TestFindingsAreLimited(t *testing.T) {
	t.Parallel()

	found := findings(t, "", column, strings.Repeat(at(0, 100, "abc"), maxFindings+50))
	if len(found.Misfits) != maxFindings {
		t.Errorf("got %d misfits, want %d", len(found.Misfits), maxFindings)
	}
}

func TestMissingCharactersAreFound(t *testing.T) {
	t.Parallel()
	const nothing = "BT\n/F1 9 Tf\n<0000> Tj\nET\n"

	span := func(text, glyphs string) string {
		return "/Span<</ActualText " + pdffile.TextString(text) + " >> BDC\nBT\n/F1 9 Tf\n" + glyphs + " Tj\nET\nEMC\n"
	}
	for name, c := range map[string]struct {
		content, wanted string
		want            []string
	}{
		"nothing is wanted":                       {at(20, 100, "abc"), "", nil},
		"it is shown":                             {"BT\n/F1 9 Tf\n<0001> Tj\nET\n", "é", nil},
		"it is printed as glyph 0":                {nothing, "ß", []string{"ß"}},
		"another character is printed as glyph 0": {"BT\n/F1 9 Tf\n<00010000> Tj\nET\n", "é", nil},
		"nothing is printed as glyph 0":           {at(20, 100, "abc"), "ß", nil},
		"a span names it":                         {span("ß", "<0000>"), "ß", []string{"ß"}},
		"a span names it, though not wanted":      {span("ß", "<0000>"), "", []string{"ß"}},
		"a span names it twice":                   {span("ß", "<0000>") + span("ß", "<0000>"), "", []string{"ß"}},
		"a span names it, of several glyphs":      {span("ßa", "<00000041>"), "ß", []string{"ßa"}},
		"one by name and one without":             {span("ß", "<0000>") + nothing, "ßÖ", []string{"ß", "Ö"}},
		"a span that shows it otherwise":          {span("ß", "<0041>") + nothing, "ßÖ", []string{"Ö"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			anywhere := func(int, float64, float64) *Area { return nil }
			if diff := cmp.Diff(c.want, findings(t, c.wanted, anywhere, c.content).Missing); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPagesAreNotReadWhenTheFontsHaveAllCharacters(t *testing.T) {
	t.Parallel()

	built := filetest.Build(t, filetest.Pages("", "(a content that is not understood\n"),
		filetest.Font("font", map[int]string{1: "é", 2: "漢"}))
	for wanted, readable := range map[string]bool{"é漢": true, "": true, "é漢ß": false} {
		t.Run(wanted, func(t *testing.T) {
			found, err := Text(t.Context(), read(t, built.Data), []rune(wanted), nil)
			if (err == nil) != readable || found.Missing != nil {
				t.Errorf("got %v, %v; want an error only if the content is read", found, err)
			}
		})
	}
}

func TestInspectionStopsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the client has disconnected")
	cancel(cause)

	area := func(int, float64, float64) *Area { return nil }

	f := read(t, filetest.Build(t, filetest.Pages("", "")).Data)
	if _, err := Text(ctx, f, nil, area); !errors.Is(err, cause) {
		t.Errorf("got %v, want %v", err, cause)
	}
}

func read(t testing.TB, data []byte) *pdffile.File {
	t.Helper()

	f, err := pdffile.Read(data)
	if err != nil {
		t.Fatal(err)
	}

	return f
}
