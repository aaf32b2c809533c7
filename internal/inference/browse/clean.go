package browse

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean returns text of a page as valid UTF-8 with visible characters, line feeds and spaces. It removes
// characters that can hide or reverse text: control and bidirectional characters (https://trojansource.codes), and
// tags and variation selectors that spell invisible messages. It replaces the brackets of our own marks, so that
// no page can write a link or a citation.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r >= ' ' && r < 0x7f:
			return r
		case r == '\t' || r == 0xa0:
			return ' '
		case r == '\u2028' || r == '\u2029' || r == '\r' || r == 0x85:
			return '\n'
		case r == '【':
			return '〖'
		case r == '】':
			return '〗'
		case invisible(r):
			return -1
		}

		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// invisible reports whether a character is invisible by itself. The joiners of Persian, of Indic scripts and of
// emoji, and the selectors of emoji, stay.
func invisible(r rune) bool {
	switch {
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r) ||
		r == '\u200c' || r == '\u200d' || r == '\ufe0e' || r == '\ufe0f':
		return false
	// These characters are letters that have no ink.
	case r == '\u115f' || r == '\u1160' || r == '\u3164' || r == '\uffa0' || r == '\u034f':
		return true
	}

	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Variation_Selector)
}

// inline returns a text as one line of at most n characters.
func inline(s string, n int) string {
	// A character has at most four bytes. A factor of 16 leaves room for white space and invisible characters.
	if len(s) > 16*n {
		s = s[:16*n]
	}

	s = strings.Join(strings.Fields(clean(s)), " ")
	if utf8.RuneCountInString(s) <= n {
		return s
	}

	return strings.TrimRight(string([]rune(s)[:n-1]), " ") + "…"
}

// label returns inline text for the inside of a mark 【…†text†…】.
func label(s string, n int) string {
	return strings.ReplaceAll(inline(s, n), "†", "‡")
}

// wrap divides text into lines of at most width characters, at spaces if possible.
func wrap(text string, width int) []string {
	var lines []string

	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(line, " ")
		for {
			cut, rest := cutLine(line, width)
			lines = append(lines, cut)

			if line = rest; line == "" {
				break
			}
		}
	}

	return lines
}

// cutLine splits off the first line of at most width characters. rest has no spaces at its start.
func cutLine(line string, width int) (cut, rest string) {
	if len(line) <= width {
		return line, ""
	}
	chars, end := 0, 0 // end of the last word that fits
	hasText := false

	for i, r := range line {
		if chars == width {
			if r == ' ' || end == 0 {
				end = i
			}

			return strings.TrimRight(line[:end], " "), strings.TrimLeft(line[end:], " ")
		}

		if r != ' ' {
			hasText = true
		} else if hasText { // a line does not end in its own indentation
			end = i
		}
		chars++
	}

	return line, ""
}
