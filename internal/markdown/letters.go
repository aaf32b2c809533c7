package markdown

import "strings"

// Letters says which letters, among those of a text, need care.
type Letters struct {
	// SoftHyphens reports soft hyphens, Arabic letters whose form depends on their place in
	// the word, RightToLeft characters that are read from right to left.
	SoftHyphens, Arabic, RightToLeft bool
}

func lettersIn(text string) (l Letters) {
	for _, r := range text {
		if r < 0xad {
			continue
		}
		l.SoftHyphens = l.SoftHyphens || r == '\u00ad'
		l.Arabic = l.Arabic || r >= 0x600 && r <= 0x8ff
		l.RightToLeft = l.RightToLeft || IsRTL(r)
	}

	return l
}

// With are the letters of two texts together.
func (l Letters) With(o Letters) Letters {
	return Letters{l.SoftHyphens || o.SoftHyphens, l.Arabic || o.Arabic, l.RightToLeft || o.RightToLeft}
}

// Elements is about how many elements the document has.
func (d *Document) Elements() int { return strings.Count(d.HTML, "<") / 2 }

// IsRightToLeft reports whether some of a text is read from right to left.
func IsRightToLeft(text string) bool { return strings.ContainsFunc(text, IsRTL) }
