package openai

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// fields calls yield for each field of an object, with its name and the raw
// value. The text must be valid JSON; anything but an object has no fields. It is four times as
// fast as decoding into a map, and a stream has a chunk per token.
func fields(object []byte, yield func(key, value []byte)) {
	s := scanner{object, 0}
	if s.space() != '{' {
		return
	}
	s.at++
	for s.space() == '"' {
		key := s.value()
		s.space()
		s.at++ // the colon
		s.space()
		yield(unquoted(key), s.value())
		if s.space() == ',' {
			s.at++
		}
	}
}

// items calls yield for each item of an array.
func items(array []byte, yield func(value []byte)) {
	s := scanner{array, 0}
	if s.space() != '[' {
		return
	}
	s.at++
	for {
		switch s.space() {
		case ']', 0:
			return
		case ',':
			s.at++
			continue
		}
		yield(s.value())
	}
}

// scanner steps over valid JSON.
type scanner struct {
	b  []byte
	at int
}

// space skips white space and gives the byte after it, 0 at the end.
func (s *scanner) space() byte {
	for ; s.at < len(s.b); s.at++ {
		switch c := s.b[s.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// value takes the value that begins here.
func (s *scanner) value() []byte {
	from := s.at
	depth := 0
	for s.at < len(s.b) {
		switch s.b[s.at] {
		case '"':
			s.quoted()
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			if depth == 0 {
				return s.b[from:s.at]
			}
			depth--
			s.at++
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return s.b[from:s.at]
			}
			s.at++
			continue
		default:
			s.at++
			continue
		}
		if depth == 0 {
			return s.b[from:s.at]
		}
	}
	return s.b[from:s.at]
}

func (s *scanner) quoted() {
	for s.at++; s.at < len(s.b); s.at++ {
		switch s.b[s.at] {
		case '\\':
			s.at++
		case '"':
			s.at++
			return
		}
	}
}

// text decodes a JSON string; anything else is "".
func text(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	for _, c := range value[1 : len(value)-1] {
		if c == '\\' || c >= utf8.RuneSelf {
			var s string
			if json.Unmarshal(value, &s) != nil {
				return ""
			}
			return s
		}
	}
	return string(value[1 : len(value)-1])
}

// unquoted is the name of a field, without a copy where it has no escapes.
func unquoted(key []byte) []byte {
	if bytes.IndexByte(key, '\\') >= 0 || !utf8.Valid(key) {
		return []byte(text(key))
	}
	return key[1 : len(key)-1]
}

// number decodes a JSON number; anything else is 0.
func number(value []byte) float64 {
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil {
		return 0
	}
	return f
}

// count decodes a number of tokens.
func count(value []byte) int { return int(min(max(number(value), 0), 1<<40)) }

// seconds decodes a time; its bound keeps sums of hostile ones finite.
func seconds(value []byte) float64 { return min(max(number(value), 0), 1<<40) }

func null(value []byte) bool { return string(value) == "null" }
