package numeral_test

import (
	"strconv"
	"testing"

	"presswork/internal/markdown/numeral"
)

func TestNumbersAreWritten(t *testing.T) {
	t.Parallel()

	for n, want := range map[int]struct{ letters, roman string }{
		0:    {"", ""},
		1:    {"a", "i"},
		4:    {"d", "iv"},
		26:   {"z", "xxvi"},
		27:   {"aa", "xxvii"},
		702:  {"zz", "dccii"},
		703:  {"aaa", "dcciii"},
		1994: {"bxr", "mcmxciv"},
	} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			if got := numeral.Letters(n); got != want.letters {
				t.Errorf("the letters are %q, want %q", got, want.letters)
			}

			if got := numeral.Roman(n); got != want.roman {
				t.Errorf("the Roman numeral is %q, want %q", got, want.roman)
			}
		})
	}
}
