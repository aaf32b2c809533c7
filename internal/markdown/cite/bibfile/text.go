package bibfile

import (
	"strings"
	"unicode"

	"presswork/internal/lazyregexp"
)

// markup matches the tags that the variables of an Item may have.
var markup = lazyregexp.New(
	`(?i)</?(?:i|b|em|strong|sup|sub|sc|span)` +
		`(?:\s+(?:class="nocase"|class="nodecor"|style="font-variant:\s*small-caps;?"))?>`,
)

// Tags returns the offsets at which each tag in the text of a variable begins and ends.
func Tags(text string) [][]int { return markup().FindAllStringIndex(text, -1) }

// EachWord returns a text with each word, between spaces, replaced by the result of change. The spaces stay.
func EachWord(text string, change func(word string) string) string {
	var b strings.Builder

	for len(text) > 0 {
		i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsSpace(r) })
		if i < 0 {
			b.WriteString(text)
			break
		}
		b.WriteString(text[:i])
		text = text[i:]

		end := strings.IndexFunc(text, unicode.IsSpace)
		if end < 0 {
			end = len(text)
		}
		b.WriteString(change(text[:end]))
		text = text[end:]
	}

	return b.String()
}

// joinSpaces replaces each run of spaces and line ends by one space. It keeps no-break spaces.
func joinSpaces(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" \n\t\r", c) }), " ")
}
