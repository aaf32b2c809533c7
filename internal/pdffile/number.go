package pdffile

import (
	"bytes"
	"strconv"
)

// Decimal reads a PDF number such as "-12.5". ok is false for anything else. It has a fast path, because a page
// has thousands of numbers and most are short.
func Decimal(value []byte) (n float64, ok bool) {
	digits, negative := bytes.CutPrefix(value, []byte("-"))

	const most = 15 // digits that a float64 holds exactly
	switch {
	case len(digits) == 0:
		return 0, false
	case len(digits) > most:
		if bytes.ContainsFunc(digits, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }) {
			return 0, false // ParseFloat accepts forms that PDF does not allow, such as 0x1p10
		}
		n, err := strconv.ParseFloat(string(value), 64)

		return n, err == nil
	}
	// whole is the value of the digits without the point. scale is ten to the power of the decimal places; it stays 0
	// until a point is read.
	whole, scale := 0, 0.0

	for _, c := range digits {
		switch {
		case c == '.' && scale == 0:
			scale = 1
		case c >= '0' && c <= '9':
			whole, scale = whole*10+int(c-'0'), scale*10
		default:
			return 0, false
		}
	}

	n = float64(whole) / max(scale, 1)
	if negative {
		n = -n
	}

	return n, true
}

// Numbers reads exactly want operands as numbers. want is at most six. The error wraps ErrObject.
func Numbers(operands [][]byte, want int) (values [6]float64, err error) {
	if len(operands) != want || want > len(values) {
		return values, ErrObject
	}

	for i, o := range operands {
		var ok bool
		if values[i], ok = Decimal(o); !ok {
			return values, ErrObject
		}
	}

	return values, nil
}
