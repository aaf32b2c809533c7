package bibfile

import (
	"strings"
	"unicode"
)

// readNames reads a list of names separated by "and". It drops the name "others", which stands for "et al.".
func readNames(list string) (out []Name) {
	for _, text := range splitWords(list, "and") {
		if text = strings.TrimSpace(text); text == "" || strings.EqualFold(text, "others") {
			continue
		}
		out = append(out, readName(text))
	}

	return out
}

// readName reads a name in one of the forms "von Family, Jr, Given", "Given von Family" and "{Institution}". As in
// BibTeX, a particle such as "von" is known by its small first letter. A name without a family name is a Literal.
func readName(text string) Name {
	if strings.HasPrefix(text, "{") && closingBrace(text) == len(text)-1 {
		return Name{Literal: plainTeX(text)}
	}
	parts := splitTop(text, ',')
	var n Name
	var family []string

	switch len(parts) {
	case 1:
		words := splitTop(strings.Join(strings.Fields(text), " "), ' ')

		// The family name begins at a particle between other words, else it is the last word.
		from := len(words) - 1
		for i, w := range words {
			if i > 0 && i < len(words)-1 && startsLower(w) {
				from = i
				break
			}
		}
		n.Given = plainTeX(strings.Join(words[:from], " "))
		family = words[from:]
	default:
		family = splitTop(strings.Join(strings.Fields(parts[0]), " "), ' ')

		n.Given = plainTeX(strings.TrimSpace(parts[len(parts)-1]))
		if len(parts) > 2 {
			n.Suffix = plainTeX(strings.TrimSpace(parts[1]))
		}
	}

	particles := 0
	for particles < len(family)-1 && startsLower(family[particles]) {
		particles++
	}
	n.NonDropping = plainTeX(strings.Join(family[:particles], " "))

	n.Family = plainTeX(strings.Join(family[particles:], " "))
	if n.Family == "" {
		return Name{Literal: plainTeX(text)}
	}

	return n
}

// startsLower reports whether a word begins with a small letter, as particles do. It returns false for a word in braces
// or with a command.
func startsLower(word string) bool {
	for _, r := range word {
		if unicode.IsLetter(r) {
			return unicode.IsLower(r)
		}

		if r == '{' || r == '\\' {
			return false
		}
	}

	return false
}

// closingBrace returns the index of the brace that closes the one at the start of a text, -1 for none.
func closingBrace(text string) int {
	depth := 0

	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}

	return -1
}

// splitTop splits a text at each sign outside of braces.
func splitTop(text string, sign byte) (parts []string) {
	depth, from := 0, 0

	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '{':
			depth++
		case c == '}':
			depth--
		case c == sign && depth == 0:
			parts = append(parts, text[from:i])
			from = i + 1
		}
	}

	return append(parts, text[from:])
}

// splitWords splits a text at each occurrence of a word, in any case, outside of braces.
func splitWords(text, word string) (parts []string) {
	var part []string

	for _, w := range splitTop(strings.Join(strings.Fields(text), " "), ' ') {
		if strings.EqualFold(w, word) {
			parts = append(parts, strings.Join(part, " "))
			part = nil
			continue
		}
		part = append(part, w)
	}

	return append(parts, strings.Join(part, " "))
}
