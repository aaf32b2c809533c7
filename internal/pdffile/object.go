package pdffile

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
)

// Dict is a PDF dictionary whose values stay as they were written. It keeps the order of its entries, so that
// equal input gives equal output.
type Dict []Field

// Field is an entry of a Dict.
type Field struct {
	Key   string // without the slash
	Value []byte
}

// ErrObject is in the chain of errors for objects that are not in Skia's form.
var ErrObject = errors.New("an object is not written as expected")

// ReadDict reads the dictionary at the start of an object. rest is what follows the dictionary: nothing, or the content
// of a stream with its keywords. The values refer to object. Errors: ErrObject.
func ReadDict(object []byte) (d Dict, rest []byte, err error) {
	body, ok := bytes.CutPrefix(object, []byte("<<"))
	if !ok {
		return nil, nil, ErrObject
	}

	for {
		body = bytes.TrimLeft(body, "\n ")
		if rest, ok := bytes.CutPrefix(body, []byte(">>")); ok {
			return d, rest, nil
		}

		var key, value []byte
		if key, body, err = cutValue(body); err != nil {
			return nil, nil, err
		}

		if len(key) < 2 || key[0] != '/' {
			return nil, nil, ErrObject
		}

		if value, body, err = cutValue(body); err != nil {
			return nil, nil, err
		}
		d = append(d, Field{string(key[1:]), value})
	}
}

// Get returns a value as it was written, or nil if there is none.
func (d Dict) Get(key string) []byte {
	for _, f := range d {
		if f.Key == key {
			return f.Value
		}
	}

	return nil
}

// Set replaces a value, or adds it at the end. A copy of the dictionary may share its entries with d, so it may change
// as well; use slices.Clone to prevent that.
func (d *Dict) Set(key, value string) {
	for i, f := range *d {
		if f.Key == key {
			(*d)[i].Value = []byte(value)
			return
		}
	}
	*d = append(*d, Field{key, []byte(value)})
}

// Remove deletes an entry, if there is one. As with Set, a copy of the dictionary may change as well.
func (d *Dict) Remove(key string) {
	for i, f := range *d {
		if f.Key == key {
			*d = append((*d)[:i], (*d)[i+1:]...)
			return
		}
	}
}

// Bytes returns the dictionary in Skia's form: a line feed between the entries.
func (d Dict) Bytes() []byte {
	b := []byte("<<")

	for i, f := range d {
		if i > 0 {
			b = append(b, '\n')
		}
		b = append(append(append(append(b, '/'), f.Key...), ' '), f.Value...)
	}

	return append(b, ">>"...)
}

// ReadArray returns the values of an array. It treats a value that is not an array as an array of one. The values
// refer to value. Errors: ErrObject.
func ReadArray(value []byte) (values [][]byte, err error) {
	inner, ok := bytes.CutPrefix(value, []byte("["))
	if !ok {
		return [][]byte{value}, nil
	}

	if inner, ok = bytes.CutSuffix(inner, []byte("]")); !ok {
		return nil, ErrObject
	}

	for {
		if inner = bytes.TrimLeft(inner, "\n "); len(inner) == 0 {
			return values, nil
		}

		var v []byte
		if v, inner, err = cutValue(inner); err != nil {
			return nil, err
		}
		values = append(values, v)
	}
}

// Reference returns the object number of a reference such as "12 0 R". The object need not exist; see File.Object.
func Reference(value []byte) (number int, ok bool) {
	digits, ok := bytes.CutSuffix(value, []byte(" 0 R"))
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(string(digits))

	return n, err == nil && n >= 0
}

// RefTo returns the reference to an object, such as "12 0 R".
func RefTo(number int) string { return strconv.Itoa(number) + " 0 R" }

// cutValue splits the first value off b: a name, number, reference, string, array, dictionary or keyword.
func cutValue(b []byte) (value, rest []byte, err error) {
	b = bytes.TrimLeft(b, "\n ")

	n, err := valueLength(b)
	if err != nil {
		return nil, nil, err
	}

	return b[:n], b[n:], nil
}

// maxNesting limits the nesting of arrays and dictionaries in one value. Skia nests them five deep.
const maxNesting = 50

// valueLength returns the length in bytes of the value at the start of b. It counts brackets instead of recursing. At
// the top level, a reference such as "12 0 R" is one value of three tokens. Within brackets its tokens are skipped one
// by one.
func valueLength(b []byte) (int, error) {
	depth := 0

	for i := 0; i < len(b); {
		step := 1

		switch c := b[i]; {
		case c == '\n' || c == ' ':
			i++
			continue
		case c == '(':
			step = StringLength(b[i:])
		case c == '[' || bytes.HasPrefix(b[i:], []byte("<<")):
			if depth++; c == '<' {
				step = 2
			}
		case c == ']' || bytes.HasPrefix(b[i:], []byte(">>")):
			if depth--; c == '>' {
				step = 2
			}
		case c == '<':
			step = bytes.IndexByte(b[i:], '>') + 1
		case c == '/':
			step = 1 + TokenLength(b[i+1:])
		default:
			if step = TokenLength(b[i:]); depth == 0 {
				step = referenceLength(b[i:], step)
			}
		}

		if i += step; step <= 0 || depth < 0 || depth > maxNesting {
			return 0, ErrObject
		}

		if depth == 0 {
			return i, nil
		}
	}

	return 0, fmt.Errorf("%w: a value has no end", ErrObject)
}

// TokenLength returns the number of bytes before the first space or delimiter. It is 0 at a delimiter. Skia writes no
// other white space than line feeds and spaces.
func TokenLength(b []byte) int {
	for i, c := range b {
		switch c {
		case '\n', ' ', '(', ')', '<', '>', '[', ']', '/':
			return i
		}
	}

	return len(b)
}

// referenceLength returns the length of a reference such as "12 0 R". n is the length of the number at its start,
// and the result if no reference follows.
func referenceLength(b []byte, n int) int {
	for _, c := range b[:n] {
		if c < '0' || c > '9' {
			return n
		}
	}

	if bytes.HasPrefix(b[n:], []byte(" 0 R")) && TokenLength(b[n+3:]) == 1 {
		return n + len(" 0 R")
	}

	return n
}

// StringLength returns the length of the literal string at the start of b, including its parentheses. It returns 0
// if the string has no end.
func StringLength(b []byte) int {
	depth := 0

	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}

	return 0
}

// StringBytes decodes a literal or hexadecimal string (ISO 32000-1, 7.3.4). The result is empty for any other value.
// DecodeText also decodes the characters.
func StringBytes(value []byte) []byte {
	if len(value) < 2 {
		return nil
	}

	inner := value[1 : len(value)-1]
	switch {
	case value[0] == '<':
		out := make([]byte, hex.DecodedLen(len(inner)))
		n, _ := hex.Decode(out, inner)

		return out[:n]
	case value[0] != '(':
		return nil
	}
	var out []byte

	for i := 0; i < len(inner); i++ {
		c := inner[i]
		if c != '\\' || i+1 == len(inner) {
			out = append(out, c)
			continue
		}

		i++
		if escaped := bytes.IndexByte([]byte("nrtbf"), inner[i]); escaped >= 0 {
			out = append(out, "\n\r\t\b\f"[escaped])
			continue
		}

		// An escape has at most three octal digits.
		digits := 0
		for digits < 3 && i+digits < len(inner) && inner[i+digits] >= '0' && inner[i+digits] <= '7' {
			digits++
		}

		if digits == 0 {
			out = append(out, inner[i])
			continue
		}
		code, _ := strconv.ParseUint(string(inner[i:i+digits]), 8, 16) // octal digits
		out = append(out, byte(code))
		i += digits - 1
	}

	return out
}

// Renumber returns a copy of the object with to applied to the object numbers of its references. Text that looks like a
// reference stays, and so does the content of a stream. An object without references is returned itself.
func Renumber(object []byte, to func(int) int) []byte {
	if !bytes.Contains(object, []byte(" 0 R")) {
		return object
	}

	head, rest := object, []byte(nil)
	if IsStream(object) {
		at := bytes.Index(object, []byte(" stream\n"))
		head, rest = object[:at], object[at:]
	}
	out := make([]byte, 0, len(object)+len(object)/8)
	copied := 0

	for at := 0; at < len(head); {
		c := head[at]
		switch {
		case c == '(':
			at += max(StringLength(head[at:]), 1)
		case c >= '0' && c <= '9':
			n := TokenLength(head[at:])
			if whole := referenceLength(head[at:], n); whole > n {
				number, _ := strconv.Atoi(string(head[at : at+n])) // digits
				out = strconv.AppendInt(append(out, head[copied:at]...), int64(to(number)), 10)
				copied = at + n
				n = whole
			}
			at += n
		case c == '/':
			at += 1 + TokenLength(head[at+1:])
		default:
			at++
		}
	}

	return append(append(out, head[copied:]...), rest...)
}
