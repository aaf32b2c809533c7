package markdown

import (
	"bytes"
	"context"
	"unicode/utf8"

	"presswork/internal/fault"
	"presswork/internal/markdown/frontmatter"
	"presswork/internal/markdown/source"
)

// suspicious is how many special characters a stretch without a blank line may
// hold before Check parses the document to be sure. Parsing anything below it
// stays far within the budget.
const suspicious = 4000

// Check refuses content that cannot or must not be rendered, so that it can be
// refused at submission: it is one pass over the bytes unless the document
// looks like a bomb, and then a parse within the budget. Errors: ContentEmpty,
// ContentNotUTF8, ContentTooComplex.
func Check(src []byte) error {
	if bytes.HasPrefix(src, []byte("\xff\xfe")) || bytes.HasPrefix(src, []byte("\xfe\xff")) {
		return fault.Errorf(fault.ContentNotUTF8, "the content is UTF-16; save it as UTF-8").WithParam("content")
	}

	if !utf8.Valid(src) {
		return fault.Errorf(fault.ContentNotUTF8, "the content is not valid UTF-8 (at byte %d)", invalidAt(src)).
			WithParam("content")
	}

	if i := bytes.IndexByte(src, 0); i >= 0 {
		return fault.Errorf(fault.ContentNotUTF8, "the content holds a NUL byte (at byte %d): it is not text", i).
			WithParam("content")
	}

	_, body, ok := frontmatter.Split(src)
	if !ok {
		body = src
	}

	if len(bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff")))) == 0 {
		return fault.Errorf(fault.ContentEmpty, "the content is empty").WithParam("content")
	}

	body = source.NormalizeNewlines(body)
	if !looksLikeBomb(body) {
		return nil
	}
	_, err := parse(context.Background(), newParser(), body, detect(body), labelKeys(body))

	return err
}

func invalidAt(src []byte) int {
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}

	return len(src)
}

// looksLikeBomb reports whether some line opens many containers, or some
// stretch without a blank line holds many special characters, or the document
// defines many things.
func looksLikeBomb(src []byte) bool {
	special, divisions := 0, 0

	for line := range bytes.Lines(src) {
		text := bytes.TrimLeft(line, " \t")
		if len(text) <= 1 {
			special = 0
			// Blank lines are expensive where many containers are open; those
			// show by the lines before them.
			continue
		}

		if containersOf(line) > maxNesting/4 {
			return true
		}

		if bytes.HasPrefix(text, []byte(":::")) {
			if divisions++; divisions > maxNesting {
				return true
			}
		}

		for _, c := range text {
			switch c {
			case '=', '+', '*', '_', '~', '[', ']', '`', '<', '|':
				special++
			}
		}

		if special > suspicious {
			return true
		}
	}

	return false
}

// containersOf counts what could be container markers or indentation at a
// line's start.
func containersOf(line []byte) int {
	n, spaces := 0, 0

	for i, c := range line {
		switch {
		case c == '>' || c == '-' || c == '+' || c == '*' || c == ':':
			n++
		case c == ' ':
			spaces++
		case c == '\t':
			spaces += 4
		case c >= '0' && c <= '9' || c == '.' || c == ')':
		case c == '[' && i+1 < len(line) && line[i+1] == '^':
			n++
		default:
			return n + spaces/2
		}
	}
	// A line of nothing else is a rule, "-----", or a bomb.
	if spaces == 0 && bytes.IndexByte(line, '>') < 0 {
		return 0
	}

	return n
}
