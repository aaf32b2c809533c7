package direction

import "strings"

// Letters reports which letters of a text need special treatment in a PDF.
type Letters struct {
	// SoftHyphens reports whether there are soft hyphens.
	SoftHyphens bool
	// Arabic reports whether there are Arabic letters, whose form depends on their place in the word.
	Arabic bool
	// RightToLeft reports whether there are characters that are read from right to left.
	RightToLeft bool
}

// LettersIn returns the letters of a text.
func LettersIn(text string) (l Letters) {
	for _, r := range text {
		if r < 0xad {
			continue
		}
		l.SoftHyphens = l.SoftHyphens || r == '\u00ad'
		l.Arabic = l.Arabic || r >= 0x600 && r <= 0x8ff
		l.RightToLeft = l.RightToLeft || isRTL(r)
	}

	return l
}

// With returns the Letters of two texts together.
func (l Letters) With(o Letters) Letters {
	return Letters{l.SoftHyphens || o.SoftHyphens, l.Arabic || o.Arabic, l.RightToLeft || o.RightToLeft}
}

// HasRTL reports whether a text has characters that are read from right to left.
func HasRTL(text string) bool { return strings.ContainsFunc(text, isRTL) }

// isRTL reports whether a character is of a script written from right to left, or changes the
// direction of the text after it.
func isRTL(r rune) bool {
	return r >= 0x590 && r < 0x900 || r >= 0xfb1d && r < 0xfe00 || r >= 0xfe70 && r < 0xff00 ||
		r >= 0x10800 && r < 0x11000 ||
		r >= 0x1e800 && r < 0x1f000 ||
		r == 0x200f ||
		r >= 0x202a && r <= 0x202e ||
		r >= 0x2066 && r <= 0x2069
}
