package themes

import (
	"strings"
	"unicode/utf8"
)

// cssKind is the kind of a CSS token (CSS Syntax 3, section 4). It distinguishes only what this package needs.
type cssKind int

const (
	cssOther    cssKind = iota // delimiters, punctuation, numbers
	cssSpace                   // white space and comments
	cssIdent                   // an identifier
	cssFunction                // an identifier and its "("
	cssAt                      // an at-keyword
	cssString                  // a string with its quotation marks
	cssURL                     // url(…) without quotation marks, up to its ")"
	cssBad                     // a malformed string or url, or an HTML comment mark
)

// cssToken is one token. raw is its text in the stylesheet. value is the name, the string or the address with its
// escapes resolved, "" for other kinds.
type cssToken struct {
	kind       cssKind
	raw, value string
}

// cssScanner splits a stylesheet into tokens as browsers do, including escapes and malformed input. This matters for
// security: the value of a cssURL must be exactly the address that a browser would load.
type cssScanner struct {
	text string
	at   int // the offset of the next token
}

// newCSSScanner returns a scanner for a stylesheet, after the preprocessing of CSS Syntax 3, section 3.3.
func newCSSScanner(css string) *cssScanner {
	css = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\f", "\n", "\x00", "\ufffd").
		Replace(strings.ToValidUTF8(css, "\ufffd"))

	return &cssScanner{text: css}
}

// next returns the next token. ok is false at the end.
func (s *cssScanner) next() (t cssToken, ok bool) {
	if s.at >= len(s.text) {
		return cssToken{}, false
	}
	start := s.at
	t = s.scan()
	t.raw = s.text[start:s.at]

	return t, true
}

// scan reads one token by the rules of CSS Syntax 3. A comment counts as white space. It does not set raw.
func (s *cssScanner) scan() cssToken {
	rest := s.text[s.at:]

	c := rest[0]
	switch {
	case strings.HasPrefix(rest, "/*"):
		if end := strings.Index(rest[2:], "*/"); end >= 0 {
			s.at += end + 4
		} else {
			s.at = len(s.text)
		}

		return cssToken{kind: cssSpace}
	case c == ' ' || c == '\n' || c == '\t':
		s.at += len(rest) - len(strings.TrimLeft(rest, " \n\t"))
		return cssToken{kind: cssSpace}
	case c == '"' || c == '\'':
		return s.scanString(c)
	case strings.HasPrefix(rest, "<!--"):
		s.at += 4
		return cssToken{kind: cssBad}
	case strings.HasPrefix(rest, "-->"):
		s.at += 3
		return cssToken{kind: cssBad}
	case c == '@' && startsIdent(rest[1:]):
		s.at++
		return cssToken{kind: cssAt, value: s.scanName()}
	// A number may begin with a sign or a point.
	case c >= '0' && c <= '9' || (c == '.' || c == '+' || c == '-') && startsNumber(rest):
		s.scanNumber()
		return cssToken{}
	case startsIdent(rest):
		return s.scanIdent()
	case c == '#' && len(rest) > 1 && (isNameByte(rest[1]) || isEscape(rest[1:])):
		s.at++
		s.scanName()

		return cssToken{}
	}
	_, size := utf8.DecodeRuneInString(rest)
	s.at += size

	return cssToken{}
}

// scanIdent reads an identifier, the start of a function, or a url() without quotation marks.
func (s *cssScanner) scanIdent() cssToken {
	name := s.scanName()
	if !strings.HasPrefix(s.text[s.at:], "(") {
		return cssToken{kind: cssIdent, value: name}
	}
	s.at++

	if !strings.EqualFold(name, "url") {
		return cssToken{kind: cssFunction, value: name}
	}

	inside := strings.TrimLeft(s.text[s.at:], " \n\t")
	if strings.HasPrefix(inside, `"`) || strings.HasPrefix(inside, "'") {
		return cssToken{kind: cssFunction, value: name}
	}
	s.at = len(s.text) - len(inside)

	return s.scanURL()
}

// scanURL reads the address of a url() without quotation marks, and its ")".
func (s *cssScanner) scanURL() cssToken {
	var value strings.Builder

	for s.at < len(s.text) {
		c := s.text[s.at]
		switch {
		case c == ')':
			s.at++
			return cssToken{kind: cssURL, value: value.String()}
		case c == ' ' || c == '\n' || c == '\t':
			s.at += len(s.text[s.at:]) - len(strings.TrimLeft(s.text[s.at:], " \n\t"))
			if s.at < len(s.text) && s.text[s.at] != ')' {
				return s.scanBadURL()
			}
		// These characters are not allowed without quotation marks.
		case c == '"' || c == '\'' || c == '(' || c < ' ' || c == 0x7f:
			return s.scanBadURL()
		case c == '\\':
			if !isEscape(s.text[s.at:]) {
				return s.scanBadURL()
			}
			value.WriteRune(s.scanEscape())
		default:
			value.WriteByte(c)
			s.at++
		}
	}

	return cssToken{kind: cssURL, value: value.String()}
}

// scanBadURL reads the rest of a malformed url(), as browsers do: up to the next ")" that is not escaped.
func (s *cssScanner) scanBadURL() cssToken {
	for s.at < len(s.text) {
		if s.text[s.at] == ')' {
			s.at++
			break
		}

		if isEscape(s.text[s.at:]) {
			s.scanEscape()
			continue
		}
		s.at++
	}

	return cssToken{kind: cssBad}
}

// scanString reads a string. A line break in it makes it malformed.
func (s *cssScanner) scanString(quote byte) cssToken {
	var value strings.Builder

	s.at++
	for s.at < len(s.text) {
		c := s.text[s.at]
		switch {
		case c == quote:
			s.at++
			return cssToken{kind: cssString, value: value.String()}
		case c == '\n':
			return cssToken{kind: cssBad}
		case c == '\\' && s.at+1 == len(s.text):
			s.at++
		case c == '\\' && s.text[s.at+1] == '\n':
			s.at += 2
		case c == '\\':
			value.WriteRune(s.scanEscape())
		default:
			value.WriteByte(c)
			s.at++
		}
	}

	return cssToken{kind: cssString, value: value.String()}
}

// scanName reads name characters and escapes. It returns the name with its escapes resolved.
func (s *cssScanner) scanName() string {
	start := s.at
	for s.at < len(s.text) && isNameByte(s.text[s.at]) {
		s.at++
	}

	if !isEscape(s.text[s.at:]) {
		return s.text[start:s.at]
	}
	var name strings.Builder
	name.WriteString(s.text[start:s.at])

	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case isNameByte(c):
			name.WriteByte(c)
			s.at++
		case isEscape(s.text[s.at:]):
			name.WriteRune(s.scanEscape())
		default:
			return name.String()
		}
	}

	return name.String()
}

// scanEscape reads a backslash and the character or the one to six hexadecimal digits after it. It returns the
// character.
func (s *cssScanner) scanEscape() rune {
	s.at++

	n, digits := rune(0), 0
	for digits < 6 && s.at < len(s.text) {
		d := strings.IndexByte("0123456789abcdef", s.text[s.at]|0x20)
		if d < 0 || s.text[s.at] < '0' {
			break
		}
		n, digits = n*16+rune(d), digits+1
		s.at++
	}

	if digits > 0 {
		if s.at < len(s.text) && strings.IndexByte(" \n\t", s.text[s.at]) >= 0 {
			s.at++
		}

		if n == 0 || n > utf8.MaxRune || n >= 0xd800 && n < 0xe000 {
			return utf8.RuneError
		}

		return n
	}
	r, size := utf8.DecodeRuneInString(s.text[s.at:])
	s.at += size

	return r
}

// scanNumber reads a number and its unit, which may contain escapes.
func (s *cssScanner) scanNumber() {
	digits := func() {
		for s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' {
			s.at++
		}
	}

	if c := s.text[s.at]; c == '+' || c == '-' {
		s.at++
	}
	digits()

	if rest := s.text[s.at:]; len(rest) > 1 && rest[0] == '.' && rest[1] >= '0' && rest[1] <= '9' {
		s.at++
		digits()
	}

	if rest := s.text[s.at:]; len(rest) > 1 && rest[0]|0x20 == 'e' {
		sign := 1
		if rest[1] == '+' || rest[1] == '-' {
			sign = 2
		}

		if len(rest) > sign && rest[sign] >= '0' && rest[sign] <= '9' {
			s.at += sign
			digits()

			return
		}
	}

	if startsIdent(s.text[s.at:]) {
		s.scanName()
	}
}

// isNameByte reports whether a byte may be part of a name. Bytes of characters beyond ASCII may.
func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c >= 0x80
}

// isEscape reports whether s begins with an escape: a backslash, but not before a line end.
func isEscape(s string) bool { return len(s) > 1 && s[0] == '\\' && s[1] != '\n' }

// startsIdent reports whether s begins with an identifier: "would start an ident sequence" of CSS Syntax 3.
func startsIdent(s string) bool {
	if s == "" {
		return false
	}

	if s[0] == '-' {
		// An identifier may begin with a hyphen, but no digit may follow it.
		return len(s) > 1 && (s[1] == '-' || isNameByte(s[1]) && (s[1] < '0' || s[1] > '9') || isEscape(s[1:]))
	}

	return isNameByte(s[0]) && (s[0] < '0' || s[0] > '9') || isEscape(s)
}

// startsNumber reports whether s, which is not empty, begins with a number.
func startsNumber(s string) bool {
	if s[0] == '+' || s[0] == '-' {
		s = s[1:]
	}
	s = strings.TrimPrefix(s, ".")

	return s != "" && s[0] >= '0' && s[0] <= '9'
}
