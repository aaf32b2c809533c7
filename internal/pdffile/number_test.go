package pdffile

import (
	"fmt"
	"math"
	"strconv"
	"testing"
)

func TestDecimalParsesPDFNumbersOnly(t *testing.T) {
	t.Parallel()

	for _, text := range []string{"0", "-7", "12.5", ".25", "-.0009765625", "595.91998", "1.", ".0000000000000000001224", "-123456789012345678"} {
		t.Run(text, func(t *testing.T) {
			want, _ := strconv.ParseFloat(text, 64) // every row is a valid number
			if got, ok := Decimal([]byte(text)); !ok || math.Abs(got-want) > 1e-12*math.Abs(want) {
				t.Errorf("Decimal(%s) = %v, %v; want %v", text, got, ok, want)
			}
		})
	}

	for _, text := range []string{"", "-", "1-", "1.2.3", "1e5", "NaN", "0x10"} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			if got, ok := Decimal([]byte(text)); ok {
				t.Errorf("Decimal(%q) = %v, want no number", text, got)
			}
		})
	}
}
