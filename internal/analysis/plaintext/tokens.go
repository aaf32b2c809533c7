package plaintext

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Words returns the lower-case words of a text, without numbers.
func Words(text string) []string {
	return slices.DeleteFunc(
		AppendTokens(nil, text),
		func(t string) bool { return t == "" || t[0] >= '0' && t[0] <= '9' },
	)
}

// AppendTokens splits text into lower-case words and numbers. In scripts without spaces, each character with its
// marks is a token. "Don't" and "follow-up" are two tokens each.
func AppendTokens(tokens []string, text string) []string {
	text = strings.ToLower(text)
	from := -1
	glyph := false // the current token is a character of a script without spaces

	for i, c := range text {
		switch {
		case Unspaced(c) && !unicode.IsMark(c):
			if from >= 0 {
				tokens = append(tokens, text[from:i])
			}
			from, glyph = i, true
		case c < utf8.RuneSelf && IsAlnum(byte(c)), c >= utf8.RuneSelf && (unicode.IsLetter(c) || unicode.IsDigit(c)):
			if glyph {
				tokens, from, glyph = append(tokens, text[from:i]), i, false
			} else if from < 0 {
				from = i
			}
		case from >= 0 && c >= utf8.RuneSelf && (unicode.IsMark(c) || joiner(c)):
		case from >= 0:
			tokens = append(tokens, text[from:i])
			from, glyph = -1, false
		}
	}

	if from >= 0 {
		tokens = append(tokens, text[from:])
	}

	return tokens
}

// joiner reports whether c is a zero-width (non-)joiner, which belongs to the word around it.
func joiner(c rune) bool { return c == 0x200c || c == 0x200d }

// IsAlnum reports whether c is an ASCII letter or digit.
func IsAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// firstUnspaced is the lowest code point of a script without spaces, the start of Thai.
const firstUnspaced = 0x0e00

// Unspaced reports whether r belongs to a script written without spaces between words.
func Unspaced(r rune) bool {
	return r >= firstUnspaced && (r == SoundMark ||
		unicode.In(
			r,
			unicode.Han,
			unicode.Hiragana,
			unicode.Katakana,
			unicode.Thai,
			unicode.Lao,
			unicode.Khmer,
			unicode.Myanmar,
		))
}

// SoundMark lengthens a vowel in Katakana and Hiragana. Unicode assigns it to neither script.
const SoundMark = 'ー'
