package markdown

import (
	"bytes"
	"context"
	"unicode/utf8"

	"presswork/internal/fault"
	"presswork/internal/markdown/dialect"
	"presswork/internal/markdown/frontmatter"
	"presswork/internal/markdown/source"
)

// maxUnchecked is the number of special characters between two blank lines above which Check parses the document. Up to
// this number, the work of parsing is far from the budget.
const maxUnchecked = 4000

// Check rejects content that cannot be rendered, so that a request can fail at submission. It takes one pass over
// the bytes. Only a document that looks like a bomb is also parsed, within the budget. Errors: ContentEmpty,
// ContentNotUTF8, ContentTooComplex, and RenderFailed if the parser fails.
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
	_, err := parse(context.Background(), newParser(), body, dialect.Detect(body), labelKeys(body))

	return err
}

// invalidAt returns the offset of the first byte that is not UTF-8.
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

// looksLikeBomb reports whether parsing a document may exceed the budget. A line may then open many containers, a
// paragraph has many special characters, or the document has many divisions.
func looksLikeBomb(src []byte) bool {
	special, divisions := 0, 0

	for line := range bytes.Lines(src) {
		text := bytes.TrimLeft(line, " \t")
		if len(text) <= 1 {
			special = 0
			// Blank lines cost much only within many open containers, and an earlier line has opened those.
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

		if special > maxUnchecked {
			return true
		}
	}

	return false
}

// containersOf returns an upper bound of the containers that the start of a line can open or continue. It counts the
// markers, and one container for two columns of indentation.
func containersOf(line []byte) int {
	n, spaces := 0, 0
	line = bytes.TrimRight(line, "\n")

	for i, c := range line {
		switch {
		// These characters may begin a container: a quote, an item or a definition.
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
	// A line of markers without spaces, such as "-----", is a thematic break or underlines a heading. Quotes need no
	// spaces.
	if spaces == 0 && bytes.IndexByte(line, '>') < 0 {
		return 0
	}

	return n
}
