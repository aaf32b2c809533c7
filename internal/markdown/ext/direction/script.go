package direction

import (
	"unicode"
	"unicode/utf8"
)

// letters counts the letters of a text by their direction.
type letters struct {
	rtl, ltr int
	// upright counts the letters of scripts without italics.
	upright int
	// first is the direction of the first letter, "" without letters.
	first string
}

// add counts the letters of a text.
func (l *letters) add(text []byte) {
	for _, r := range string(text) {
		switch {
		case r < 'A' || !unicode.IsLetter(r):
			continue
		case isRTL(r):
			l.rtl++
			if l.first == "" {
				l.first = "rtl"
			}
		default:
			l.ltr++
			if l.first == "" {
				l.first = "ltr"
			}
		}

		if isUpright(r) {
			l.upright++
		}
	}
}

// join adds the counts of the text that follows.
func (l *letters) join(other letters) {
	l.rtl, l.ltr, l.upright = l.rtl+other.rtl, l.ltr+other.ltr, l.upright+other.upright
	if l.first == "" {
		l.first = other.first
	}
}

// direction returns the direction of the text, "" if its first letter and most of its letters differ in direction. A
// foreign name at the start of a sentence, or a foreign quotation, then does not change the direction of the block.
func (l letters) direction() string {
	switch {
	case l.first == "rtl" && l.rtl > l.ltr:
		return "rtl"
	case l.first == "ltr" && l.ltr > l.rtl:
		return "ltr"
	}

	return ""
}

// isUpright reports whether a letter is of a script without italics. Latin, Greek, Cyrillic and
// the scripts near them have italics.
func isUpright(r rune) bool {
	switch {
	case r < 0x590,
		r >= 0x10a0 && r < 0x1100,
		r >= 0x13a0 && r < 0x1400,
		r >= 0x1c80 && r < 0x2e00,
		r >= 0xa640 && r < 0xa800,
		r >= 0xab30 && r < 0xab70,
		r >= 0xfb00 && r < 0xfb1d,
		r >= 0xff21 && r < 0xff5b:
		return false
	}

	return unicode.IsLetter(r)
}

// HasUpright reports whether a text has letters of scripts without italics. It decodes only characters whose first byte
// is 0xD6 or higher, which most texts do not have. It skips 0xE2, which begins no such letter but dashes and quotes.
func HasUpright(text []byte) bool {
	for i, b := range text {
		if b >= 0xd6 && b != 0xe2 {
			if r, _ := utf8.DecodeRune(text[i:]); isUpright(r) {
				return true
			}
		}
	}

	return false
}
