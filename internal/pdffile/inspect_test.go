package pdffile

import (
	"math"
	"strconv"
	"testing"

	"presswork/internal/pdffile/filetest"
)

func TestWidthsOfGlyphs(t *testing.T) {
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

	w := file.readWidths(4)
	for code, want := range map[int]float64{0: 500, 2: 656.25, 3: 0, 4: 500, 462: 500, 463: 561.5, 465: 561.5, 466: 500, 700: 1000, 701: 500, maxCode: 500} {
		if got := w.of(code); got != want {
			t.Errorf("the width of %d is %v, want %v", code, got, want)
		}
	}
}

func TestDecimal(t *testing.T) {
	t.Parallel()

	for _, text := range []string{"0", "-7", "12.5", ".25", "-.0009765625", "595.91998", "1.", ".0000000000000000001224", "-123456789012345678"} {
		want, _ := strconv.ParseFloat(text, 64) // all of these are numbers
		if got, ok := decimal([]byte(text)); !ok || math.Abs(got-want) > 1e-12*math.Abs(want) {
			t.Errorf("%s is %v, %v", text, got, ok)
		}
	}

	for _, text := range []string{"", "-", "1-", "1.2.3", "1e5", "NaN", "0x10"} {
		if got, ok := decimal([]byte(text)); ok {
			t.Errorf("%q is %v", text, got)
		}
	}
}
