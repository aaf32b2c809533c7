// Package numeral writes numbers as letters and as Roman numerals.
package numeral

import "strings"

// Letters returns a number in small letters: "a" for 1, "z" for 26, "aa" for 27, and "" for 0.
func Letters(n int) string {
	var b []byte
	for ; n > 0; n = (n - 1) / 26 {
		b = append([]byte{byte('a' + (n-1)%26)}, b...)
	}

	return string(b)
}

// Roman returns a number as a Roman numeral of small letters, "" for 0. Its length grows with n: callers limit n.
func Roman(n int) string {
	var b strings.Builder

	for _, d := range []struct {
		value int
		text  string
	}{
		{1000, "m"},
		{900, "cm"},
		{500, "d"},
		{400, "cd"},
		{100, "c"},
		{90, "xc"},
		{50, "l"},
		{40, "xl"},
		{10, "x"},
		{9, "ix"},
		{5, "v"},
		{4, "iv"},
		{1, "i"},
	} {
		for ; n >= d.value; n -= d.value {
			b.WriteString(d.text)
		}
	}

	return b.String()
}
