package parse

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strconv"

	"presswork/internal/pdffile"
)

// Limits of what the lexer accepts.
const (
	// maxNesting limits the nesting of arrays and dictionaries. It equals the limit of package pdffile.
	maxNesting = 50
	// maxNumber is the highest object number. Files with 100 000 pages stay below it.
	maxNumber = 2_000_000
)

var (
	errSyntax = errors.New("an object is malformed")
	errNested = errors.New("an object is nested too deeply")
)

// lexer reads the values of a PDF file (ISO 32000-2, 7.2 and 7.3) and writes them in the form that package pdffile
// expects.
type lexer struct {
	in []byte
	at int
	// decrypt decrypts the strings of an object. It is nil for files without encryption.
	decrypt func([]byte) []byte
}

// isSpace reports whether c is white space of PDF.
func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

// isDelimiter reports whether c ends a token of PDF.
func isDelimiter(c byte) bool {
	switch c {
	case '(', ')', '<', '>', '[', ']', '{', '}', '/', '%':
		return true
	}

	return false
}

// skip moves past white space and comments.
func (l *lexer) skip() {
	for l.at < len(l.in) {
		switch c := l.in[l.at]; {
		case isSpace(c):
			l.at++
		case c == '%':
			for l.at < len(l.in) && l.in[l.at] != '\n' && l.in[l.at] != '\r' {
				l.at++
			}
		default:
			return
		}
	}
}

// token returns the characters before the next space or delimiter. It is empty at a delimiter and at the end.
func (l *lexer) token() []byte {
	start := l.at
	for l.at < len(l.in) && !isSpace(l.in[l.at]) && !isDelimiter(l.in[l.at]) {
		l.at++
	}

	return l.in[start:l.at]
}

// keyword skips white space and reports whether word follows. It moves past the word if so.
func (l *lexer) keyword(word string) bool {
	l.skip()

	if !bytes.HasPrefix(l.in[l.at:], []byte(word)) {
		return false
	}
	l.at += len(word)

	return true
}

// integer reads a whole number that is not negative. Otherwise it moves only past the white space before it.
func (l *lexer) integer() (n int, ok bool) {
	l.skip()
	start := l.at

	n, err := strconv.Atoi(string(l.token()))
	if err != nil || n < 0 {
		l.at = start
		return 0, false
	}

	return n, true
}

// value appends the next value to out in the form of package pdffile. depth is the number of arrays and dictionaries
// around it. After an error the position is undefined, but not before the start.
func (l *lexer) value(out []byte, depth int) ([]byte, error) {
	if depth > maxNesting {
		return nil, errNested
	}
	l.skip()

	if l.at >= len(l.in) {
		return nil, errSyntax
	}

	switch rest := l.in[l.at:]; {
	case bytes.HasPrefix(rest, []byte("<<")):
		return l.dict(out, depth)
	case rest[0] == '[':
		return l.array(out, depth)
	case rest[0] == '(', rest[0] == '<':
		text, err := l.text()
		if err != nil {
			return nil, err
		}

		if l.decrypt != nil {
			text = l.decrypt(text)
		}

		return appendString(out, text), nil
	case rest[0] == '/':
		l.at++
		return appendName(append(out, '/'), l.token()), nil
	}

	return l.scalar(out)
}

// scalar appends a number, a reference or a keyword.
func (l *lexer) scalar(out []byte) ([]byte, error) {
	word := l.token()
	if len(word) == 0 {
		return nil, errSyntax
	}

	switch string(word) {
	case "true", "false", "null":
		return append(out, word...), nil
	}

	// A token that is no keyword must be a number.
	if c := word[0]; (c < '0' || c > '9') && c != '+' && c != '-' && c != '.' {
		return nil, errSyntax
	}

	// "12 0 R" is a reference. Two numbers without R are two values, so the second is read again.
	if number, err := strconv.Atoi(string(word)); err == nil && number >= 0 {
		after := l.at

		_, isGeneration := l.integer()
		if l.skip(); isGeneration && string(l.token()) == "R" {
			if number > maxNumber { // a reference to a missing object stands for null
				return append(out, "null"...), nil
			}

			return append(out, pdffile.RefTo(number)...), nil
		}
		l.at = after
	}

	if word = bytes.TrimPrefix(word, []byte("+")); len(word) > 0 {
		if _, ok := pdffile.Decimal(word); ok {
			return append(out, word...), nil
		}
	}

	return append(out, '0'), nil // as other readers treat malformed numbers
}

// dict appends a dictionary without entries that are null, which stand for missing ones.
func (l *lexer) dict(out []byte, depth int) ([]byte, error) {
	l.at += len("<<")
	out = append(out, "<<"...)
	first := true

	for {
		if l.keyword(">>") {
			return append(out, ">>"...), nil
		}

		if l.at >= len(l.in) || l.in[l.at] != '/' {
			return nil, errSyntax
		}

		before := len(out)
		if !first {
			out = append(out, '\n')
		}
		l.at++
		out = append(appendName(append(out, '/'), l.token()), ' ')
		value := len(out)

		var err error
		if out, err = l.value(out, depth+1); err != nil {
			return nil, err
		}

		if string(out[value:]) == "null" || value-before < len("/k ") {
			out = out[:before]
			continue
		}
		first = false
	}
}

// array appends an array, with one space between its values.
func (l *lexer) array(out []byte, depth int) ([]byte, error) {
	l.at++
	out = append(out, '[')

	for first := true; ; first = false {
		if l.keyword("]") {
			return append(out, ']'), nil
		}

		if !first {
			out = append(out, ' ')
		}

		var err error
		if out, err = l.value(out, depth+1); err != nil {
			return nil, err
		}
	}
}

// text reads a literal or hexadecimal string and returns its bytes.
func (l *lexer) text() ([]byte, error) {
	if l.in[l.at] == '<' {
		end := bytes.IndexByte(l.in[l.at:], '>')
		if end < 0 {
			l.at = len(l.in) // so that the caller spends what the search has cost
			return nil, errSyntax
		}

		digits := bytes.Map(func(r rune) rune {
			if r < 128 && isSpace(byte(r)) {
				return -1
			}

			return r
		}, l.in[l.at+1:l.at+end])
		if len(digits)%2 == 1 {
			digits = append(digits, '0')
		}
		l.at += end + 1
		text := make([]byte, hex.DecodedLen(len(digits)))
		n, _ := hex.Decode(text, digits) // stops at an invalid digit

		return text[:n], nil
	}

	n := pdffile.StringLength(l.in[l.at:])
	if n == 0 {
		l.at = len(l.in) // so that the caller spends what the search has cost
		return nil, errSyntax
	}
	literal := l.in[l.at : l.at+n]
	l.at += n

	if bytes.IndexByte(literal, '\\') < 0 && bytes.IndexByte(literal, '\r') < 0 {
		return bytes.Clone(literal[1 : n-1]), nil
	}

	return unescape(literal[1 : n-1]), nil
}

// unescape decodes the inner part of a literal string (ISO 32000-2, 7.3.4.2).
func unescape(in []byte) []byte {
	out := make([]byte, 0, len(in))

	for i := 0; i < len(in); i++ {
		c := in[i]
		if c == '\r' { // every line end stands for a line feed
			if i+1 < len(in) && in[i+1] == '\n' {
				i++
			}
			out = append(out, '\n')
			continue
		}

		if c != '\\' || i+1 == len(in) {
			out = append(out, c)
			continue
		}
		i++

		switch c = in[i]; {
		case c == '\n':
		case c == '\r':
			if i+1 < len(in) && in[i+1] == '\n' {
				i++
			}
		case c >= '0' && c <= '7':
			code := 0

			end := min(i+3, len(in))
			for ; i < end && in[i] >= '0' && in[i] <= '7'; i++ {
				code = code<<3 | int(in[i]-'0')
			}
			i--
			out = append(out, byte(code))
		default:
			if at := bytes.IndexByte([]byte("nrtbf"), c); at >= 0 {
				c = "\n\r\t\b\f"[at]
			}
			out = append(out, c)
		}
	}

	return out
}

// appendString writes a string. It uses parentheses for plain ASCII, and hexadecimal digits for anything else.
func appendString(out, text []byte) []byte {
	for _, c := range text {
		if c < ' ' || c > '~' || c == '(' || c == ')' || c == '\\' {
			out = append(out, '<')
			out = hex.AppendEncode(out, text)

			return append(out, '>')
		}
	}

	return append(append(append(out, '('), text...), ')')
}

// appendName writes a name without its slash. It undoes unneeded escapes, so that equal names have equal bytes.
func appendName(out, name []byte) []byte {
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c == '#' && i+2 < len(name) {
			if code, err := strconv.ParseUint(string(name[i+1:i+3]), 16, 8); err == nil {
				c = byte(code)
				i += 2
			}
		}

		if c <= ' ' || c > '~' || c == '#' || isDelimiter(c) {
			out = append(append(out, '#'), hex.EncodeToString([]byte{c})...)
			continue
		}
		out = append(out, c)
	}

	return out
}
