package pdffile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/pdffile/filetest"
)

// column is where text may lie on the pages of these tests: 10 points from each edge.
func column(int, float64, float64) *Area {
	return &Area{Left: 10, Right: 90, Bottom: 10, Top: 190, LineEnd: 90, Smallest: 4}
}

// findings are what Inspect finds on pages with these contents. Each glyph is half as
// wide as the type is large.
func findings(t *testing.T, wanted string, area func(int, float64, float64) *Area, contents ...string) Findings {
	t.Helper()
	texts := latin()
	texts[0], texts[1], texts[2] = "", "é", "漢"
	built := filetest.Build(t, filetest.Pages("/Font <</F1 @font>>", contents...), filetest.Font("font", texts))

	found, err := read(t, built.Data).Inspect(t.Context(), []rune(wanted), area)
	if err != nil {
		t.Fatal(err)
	}

	return found
}

// at shows a text at a place.
func at(x, y int, text string) string {
	return fmt.Sprintf("BT\n/F1 10 Tf\n1 0 0 1 %d %d Tm\n%sET\n", x, y, shownText(text))
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
		"text after Td": {"BT\n/F1 10 Tf\n1 0 0 1 50 100 Tm\n" +
			"50 0 Td\n" + shownText("abc") + "ET\n", outside("abc")},
		"text that is pulled together": {"BT\n/F1 10 Tf\n1 0 0 1 60 100 Tm\n" +
			"[<00410042> 4000 <00430044004500460047>] TJ\nET\n", nil},
		"text that is pushed apart": {"BT\n/F1 10 Tf\n1 0 0 1 60 100 Tm\n[<0041> -4000 <0042>] TJ\n" +
			"ET\n", outside("AB")},
		"upright text from below": {"BT\n/F1 10 Tf\n" +
			"0 1 -1 0 50 20 Tm\n" + shownText(strings.Repeat("a", 100)) + "ET\n", nil},
		"a tag is reported once": {"/P <</MCID 0 " +
			">>BDC\n" + at(0, 100, "abc") + at(0, 90, "def") + "EMC\n", outside("abcdef")},
		"two tags are two findings": {"/P <</MCID 0 >>BDC\n" + at(0, 100, "abc") + "EMC\n" +
			"/P <</MCID 1 >>BDC\n" + at(0, 90, "def") + "EMC\n", []Misfit{{Page: 1, Text: "abc"}, {
			Page: 1,
			Text: "def",
		}}},
		"a span's text stands for its glyphs": {"/P <</MCID 0 >>BDC\n" +
			"/Span<</ActualText (word) >> BDC\n" + at(0, 100, "abc") + "EMC\nEMC\n", outside("word")},
		"text cut by a clip": {"20 0 40 200 re\nW\n" +
			"n\n" + at(30, 100, "abcdefgh"), outside("abcdefgh")},
		"text within a clip":    {"20 0 60 200 re\nW\nn\n" + at(30, 100, "abcdefgh"), nil},
		"text next to a clip":   {"20 0 10 200 re\nW\nn\n" + at(40, 100, "abc"), nil},
		"a clip that has ended": {"q\n20 0 40 200 re\nW*\nn\nQ\n" + at(30, 100, "abcdefgh"), nil},
		"a clip within a clip": {"20 0 60 200 re\nW\nn\n0 0 60 200 re\nW\n" +
			"n\n" + at(30, 100, "abcdefgh"), outside("abcdefgh")},
		"a clip of lines": {"20 0 m\n60 0 l\n60 200 l\n20 200 l\nh\nW\n" +
			"n\n" + at(30, 100, "abcdefgh"), outside("abcdefgh")},
		"a clip of a curve": {"20 0 m\n20 0 60 0 60 200 c\nh\nW\n" +
			"n\n" + at(30, 100, "abcdefgh"), outside("abcdefgh")},
		"a shape cut where lines end":      {"10 0 80 200 re\nW\nn\n50 50 60 10 re\nf\n", outside("")},
		"a shape that hangs over a little": {"10 0 80 200 re\nW\nn\n50 50 49 10 re\nf\n", nil},
		"a shape cut elsewhere":            {"10 0 60 200 re\nW\nn\n50 50 60 10 re\nf\n", nil},
		"a shape and text": {"10 0 80 200 re\nW\nn\n50 50 60 10 re\n" +
			"f\n" + at(0, 100, "abc"), outside("abc")},
		"type that can just be read": {"BT\n/F1 4 Tf\n1 0 0 1 20 100 Tm\n" + shownText("abc") + "ET\n", nil},
		"type too small to read": {"BT\n/F1 3 Tf\n" +
			"1 0 0 1 20 100 Tm\n" + shownText("abc") + "ET\n", []Misfit{{Page: 1, Size: 3, Text: "abc"}}},
		"type that is made too small": {".25 0 0 .25 0 0 cm\nBT\n/F1 10 Tf\n" +
			"1 0 0 1 80 400 Tm\n" + shownText("abc") + "ET\n", []Misfit{{Page: 1, Size: 2.5, Text: "abc"}}},
		"small type outside is outside": {"BT\n/F1 3 Tf\n" +
			"1 0 0 1 0 100 Tm\n" + shownText("abc") + "ET\n", outside("abc")},
		"small spaces": {"BT\n/F1 3 Tf\n1 0 0 1 20 100 Tm\n" + shownText("  ") + "ET\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(c.want, findings(t, "", column, c.content).Misfits); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}

			anywhere := func(int, float64, float64) *Area { return nil }
			if got := findings(t, "", anywhere, c.content).Misfits; got != nil {
				t.Errorf("where text may lie anywhere, found %v", got)
			}
		})
	}
}

func TestMisfitsComeInTheOrderOfPages(t *testing.T) {
	t.Parallel()
	built := filetest.Build(
		t,
		strings.Replace(
			filetest.Pages("/Font <</F1 @font>>", at(0, 100, "third"), at(0, 100, "first"), at(0, 100, "second")),
			"@page-1 @page-2 @page-3",
			"@page-2 @page-3 @page-1",
			1,
		),
		filetest.Font("font", latin()),
	)
	var sizes [][3]float64

	found, err := read(t, built.Data).Inspect(t.Context(), nil, func(page int, width, height float64) *Area {
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
		t.Errorf("the area was asked of (-want +got):\n%s", diff)
	}
}

func TestFindingsAreBounded(t *testing.T) {
	t.Parallel()

	if found := findings(
		t,
		"",
		column,
		strings.Repeat(at(0, 100, "abc"), maxFindings+50),
	); len(
		found.Misfits,
	) != maxFindings {
		t.Errorf("%d misfits", len(found.Misfits))
	}
}

func TestMissingCharactersAreFound(t *testing.T) {
	t.Parallel()
	const nothing = "BT\n/F1 9 Tf\n<0000> Tj\nET\n"

	span := func(text, glyphs string) string {
		return "/Span<</ActualText " + textString(text) + " >> BDC\nBT\n/F1 9 Tf\n" + glyphs + " Tj\nET\nEMC\n"
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

	built := filetest.Build(
		t,
		filetest.Pages("", "(a content that is not understood\n"),
		filetest.Font("font", map[int]string{1: "é", 2: "漢"}),
	)
	for wanted, readable := range map[string]bool{"é漢": true, "": true, "é漢ß": false} {
		found, err := read(t, built.Data).Inspect(t.Context(), []rune(wanted), nil)
		if (err == nil) != readable || found.Missing != nil {
			t.Errorf("%q: %v, %v", wanted, found, err)
		}
	}
}

func TestPlacesOfAnchors(t *testing.T) {
	t.Parallel()
	built := filetest.Build(
		t,
		"-- catalog --\n<</Type /Catalog\n/Pages @pages\n/Dests <</plain [@page-2 /XYZ 0 190.5 0]\n"+
			"/caf#25C3#25A9 [@page-1 /XYZ 5 -3 0]\n/a#20b [@page-1 /XYZ 0 0 0]\n"+
			"/100#25 [@page-1 /XYZ 0 1 0]\n/elsewhere [@content-1 /XYZ 0 1 0]\n/nowhere [null /XYZ 0 1 0]>>>>\n",
		filetest.Pages("", "", ""),
	)
	want := map[string]Place{"plain": {2, 190.5}, "café": {1, -3}, "a b": {1, 0}, "100%": {1, 1}}

	got, err := read(t, built.Data).Places()
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}

	pages, err := read(t, built.Data).Anchors()
	if diff := cmp.Diff(map[string]int{"plain": 2, "café": 1, "a b": 1, "100%": 1}, pages); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}

	if got, err := read(t, filetest.Build(t, filetest.Pages("", "")).Data).Places(); err != nil || len(got) != 0 {
		t.Errorf("without destinations: %v, %v", got, err)
	}
}

func TestSizesOfPagesInTheirOrder(t *testing.T) {
	t.Parallel()
	built := filetest.Build(
		t,
		"-- pages --\n<</Type /Pages\n/Count 3\n/Kids [@b @more]>>\n-- a --\n<</Type /Page\n"+
			"/MediaBox [0 0 595.91998 842]>>\n-- b --\n<</Type /Page\n/MediaBox [0 0 200 .5]>>\n"+
			"-- more --\n<</Type /Pages\n/Count 2\n/Kids [@c @a]>>\n-- c --\n<</Type /Page\n/MediaBox [0 0 1 2]>>\n",
	)

	got, err := read(t, built.Data).Sizes()
	if diff := cmp.Diff([][2]float64{{200, .5}, {1, 2}, {595.91998, 842}}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestTextsOfFontsAreRead(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		lines string
		want  textMap
	}{
		"one by one": {"2 beginbfchar\n<0001> <0061>\n<0002> <00660069>\n" +
			"endbfchar\n", textMap{1: "a", 2: "fi"}},
		"a range": {"1 beginbfrange\n<0003> <0005> <0078>\n" +
			"endbfrange\n", textMap{3: "x", 4: "y", 5: "z"}},
		"codes of one byte":       {"<41> <0061>\n", textMap{0x41: "a"}},
		"a pair of surrogates":    {"<0001> <D83DDE00>\n", textMap{1: "😀"}},
		"none":                    {"<0001> <0000>\n", textMap{1: ""}},
		"a range that ends early": {"<0005> <0003> <0078>\n", textMap{}},
		"no hexadecimal digits": {"<00GG> <0061>\n<0001> 0061\n<0002> <0061> <0062> <0063>\n<> <0061>\n" +
			"<000001> <0061>\n", textMap{1: ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			built := filetest.Build(
				t,
				filetest.Pages("", ""),
				"-- f --\n<</Type /Font\n/ToUnicode @m>>\n-- m --\n<<>> stream\n<00> <01>\nendcodespacerange\n"+c.lines,
			)
			if diff := cmp.Diff(c.want, read(t, built.Data).textMap(built.Number(t, "f"))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}

	for name, font := range map[string]string{"no map": "<</Type /Font>>", "a map that is no stream": "<</Type " +
		"/Font\n/ToUnicode @pages>>", "no dictionary": "[1]"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			built := filetest.Build(t, filetest.Pages("", ""), "-- f --\n"+font+"\n")
			if m := read(t, built.Data).textMap(built.Number(t, "f")); len(m) > 0 {
				t.Errorf("read as %v", m)
			}
		})
	}
}

func TestHostileWidthsCountAsNone(t *testing.T) {
	t.Parallel()

	for name, entries := range map[string]string{
		"a range that ends before it begins": "[5 3 500]", "a code past the last": "[70000 [500]]", "a negative " +
			"code": "[-1 [500]]", "a range without a width": "[1 65535]",
		"an array without an end": "[1 [500]", "no array": "(500)", "a word": "[1 [wide]]", "more widths than " +
			"codes": "[0 [" + strings.Repeat("1 ", maxCode+2) + "]]",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			built := filetest.Build(
				t,
				filetest.Pages("", ""),
				"-- f --\n<</Type /Font\n/DescendantFonts [<</W "+entries+">>]>>\n",
			)
			for _, code := range []int{0, 1, 5, maxCode} {
				if w := read(t, built.Data).readWidths(built.Number(t, "f")).of(code); w != 0 {
					t.Errorf("the width of %d is %v", code, w)
				}
			}
		})
	}
}
