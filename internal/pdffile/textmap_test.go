package pdffile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/pdffile/filetest"
)

func TestTextMapReadsToUnicode(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		lines string
		want  TextMap
	}{
		"one by one":              {"2 beginbfchar\n<0001> <0061>\n<0002> <00660069>\nendbfchar\n", TextMap{1: "a", 2: "fi"}},
		"a range":                 {"1 beginbfrange\n<0003> <0005> <0078>\nendbfrange\n", TextMap{3: "x", 4: "y", 5: "z"}},
		"codes of one byte":       {"<41> <0061>\n", TextMap{0x41: "a"}},
		"a pair of surrogates":    {"<0001> <D83DDE00>\n", TextMap{1: "😀"}},
		"none":                    {"<0001> <0000>\n", TextMap{1: ""}},
		"a range that ends early": {"<0005> <0003> <0078>\n", TextMap{}},
		"no hexadecimal digits":   {"<00GG> <0061>\n<0001> 0061\n<0002> <0061> <0062> <0063>\n<> <0061>\n<000001> <0061>\n", TextMap{1: ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			built := filetest.Build(t, filetest.Pages("", ""),
				"-- f --\n<</Type /Font\n/ToUnicode @m>>\n-- m --\n<<>> stream\n<00> <01>\nendcodespacerange\n"+c.lines)
			if diff := cmp.Diff(c.want, read(t, built.Data).TextMap(built.Number(t, "f"))); diff != "" {
				t.Errorf("TextMap (-want +got):\n%s", diff)
			}
		})
	}

	for name, font := range map[string]string{"no map": "<</Type /Font>>", "a map that is no stream": "<</Type /Font\n/ToUnicode @pages>>", "no dictionary": "[1]"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			built := filetest.Build(t, filetest.Pages("", ""), "-- f --\n"+font+"\n")
			if m := read(t, built.Data).TextMap(built.Number(t, "f")); len(m) > 0 {
				t.Errorf("TextMap = %v, want none", m)
			}
		})
	}
}

func TestInvalidWidthsAreIgnored(t *testing.T) {
	t.Parallel()

	for name, entries := range map[string]string{
		"a range that ends before it begins": "[5 3 500]",
		"a code past the last":               "[70000 [500]]",
		"a negative code":                    "[-1 [500]]",
		"a range without a width":            "[1 65535]",
		"an array without an end":            "[1 [500]",
		"no array":                           "(500)",
		"a word":                             "[1 [wide]]",
		"more widths than codes":             "[0 [" + strings.Repeat("1 ", maxCode+2) + "]]",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			built := filetest.Build(t, filetest.Pages("", ""),
				"-- f --\n<</Type /Font\n/DescendantFonts [<</W "+entries+">>]>>\n")
			for _, code := range []int{0, 1, 5, maxCode} {
				t.Run(fmt.Sprintf("code %d", code), func(t *testing.T) {
					if w := read(t, built.Data).ReadWidths(built.Number(t, "f")).Of(code); w != 0 {
						t.Errorf("the width is %v, want 0", w)
					}
				})
			}
		})
	}
}

func TestReadWidthsReturnsTheWidthOfEachCode(t *testing.T) {
	t.Parallel()
	f := filetest.Write([]string{
		"<</Producer (Skia/PDF m156)>>", "<</Type /Catalog\n/Pages 3 0 R>>", "<</Type /Pages\n/Count 0\n/Kids []>>",
		"<</Type /Font\n/Subtype /Type0\n/DescendantFonts [5 0 R]>>",
		"<</Type /Font\n/DW 500\n/W [2 [656.25 0] 463 465 561.5 700 [1000]]>>",
	})

	file, err := Read(f)
	if err != nil {
		t.Fatal(err)
	}

	w := file.ReadWidths(4)

	for code, want := range map[int]float64{0: 500, 2: 656.25, 3: 0, 4: 500, 462: 500, 463: 561.5, 465: 561.5, 466: 500, 700: 1000, 701: 500, maxCode: 500} {
		t.Run(fmt.Sprintf("code %d", code), func(t *testing.T) {
			if got := w.Of(code); got != want {
				t.Errorf("the width is %v, want %v", got, want)
			}
		})
	}
}
