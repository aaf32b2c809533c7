package plaintext

import (
	"unicode"
	"unicode/utf8"
)

// MaxWords limits the words of a sentence that are scored.
const MaxWords = 300

// TrimWord strips the punctuation around a word: ASCII marks, and typographic
// quotes, dashes and dots.
func TrimWord(s string) string {
	for len(s) > 0 {
		size := 1

		if c := s[0]; c >= utf8.RuneSelf {
			var r rune
			if r, size = utf8.DecodeRuneInString(s); !isTypographic(r) {
				break
			}
		} else if !isASCIIPunct(c) {
			break
		}
		s = s[size:]
	}

	for len(s) > 0 {
		size := 1

		if c := s[len(s)-1]; c >= utf8.RuneSelf {
			var r rune
			if r, size = utf8.DecodeLastRuneInString(s); !isTypographic(r) {
				break
			}
		} else if !isASCIIPunct(c) {
			break
		}
		s = s[:len(s)-size]
	}

	return s
}

func isASCIIPunct(c byte) bool {
	return c >= '!' && c <= '/' || c >= ':' && c <= '@' || c >= '[' && c <= '`' || c >= '{' && c <= '~'
}

// isTypographic reports whether r is one of the punctuation marks beyond ASCII that texts of many languages use.
func isTypographic(r rune) bool {
	switch r {
	case '“', '”', '‘', '’', '„', '…', '—', '–', '«', '»', '¿', '¡':
		return true
	}

	return false
}

// IsNumeral reports whether s consists of ASCII digits.
func IsNumeral(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}

	return s != ""
}

// IsASCII reports whether s contains only ASCII characters.
func IsASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}

	return true
}

// IsUpper reports whether s has an upper-case letter and no lower-case one.
func IsUpper(s string) bool {
	found := false

	for _, r := range s {
		if unicode.IsLower(r) {
			return false
		}
		found = found || unicode.IsUpper(r)
	}

	return found
}

// StartsLower reports whether the first letter is an ASCII lower-case one.
func StartsLower(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 'a' && c <= 'z' {
			return true
		} else if c >= 'A' && c <= 'Z' {
			return false
		}
	}

	return false
}

// IsEmoji reports whether r is a pictograph.
func IsEmoji(r rune) bool { return r >= 0x1F300 && r <= 0x1FAFF || r >= 0x2600 && r <= 0x27BF }
