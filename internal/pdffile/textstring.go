package pdffile

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// TextString returns s as a PDF text string: ASCII in parentheses, anything else as UTF-16 in hexadecimal.
func TextString(s string) string {
	ascii := true

	for _, r := range s {
		if r < ' ' || r > '~' {
			ascii = false
		}
	}

	if ascii {
		return "(" + strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(s) + ")"
	}
	var b strings.Builder
	b.WriteString("<FEFF")

	for _, u := range utf16.Encode([]rune(s)) {
		fmt.Fprintf(&b, "%04X", u)
	}
	b.WriteString(">")

	return b.String()
}

// MaxText is the maximum length of a text in the metadata, in characters.
const MaxText = 1000

// OneLine prepares s for the metadata. It joins the words with single spaces, replaces control characters and
// invalid UTF-8, and cuts the result after MaxText characters.
func OneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}

		return r
	}, strings.ToValidUTF8(s, "\ufffd"))

	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > MaxText {
		s = string(r[:MaxText])
	}

	return s
}

// DecodeText decodes a PDF text string (ISO 32000-2, 7.9.2.2). A byte order mark tells UTF-16 and UTF-8. Other strings
// are in PDFDocEncoding, except those that programs have wrongly written as UTF-8 without a mark.
func DecodeText(value []byte) string {
	raw := StringBytes(value)

	rest, wide := bytes.CutPrefix(raw, []byte("\xfe\xff"))
	if !wide {
		raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
		if utf8.Valid(raw) {
			return string(raw)
		}

		return decodeDocEncoding(raw)
	}

	units := make([]uint16, 0, len(rest)/2)
	for ; len(rest) > 1; rest = rest[2:] {
		units = append(units, uint16(rest[0])<<8|uint16(rest[1]))
	}

	return string(utf16.Decode(units))
}

// decodeDocEncoding decodes PDFDocEncoding (ISO 32000-2, annex D.2): Latin-1 with other characters from 0x80 to 0xA0.
// It leaves control characters as they are.
func decodeDocEncoding(raw []byte) string {
	const first = 0x80
	special := []rune("•†‡…—–ƒ⁄‹›−‰„“”‘’‚™ﬁﬂŁŒŠŸŽıłœšž\ufffd€")
	var b strings.Builder

	for _, c := range raw {
		r := rune(c)
		if c >= first && int(c) < first+len(special) {
			r = special[c-first]
		}
		b.WriteRune(r)
	}

	return b.String()
}

// UTF16 encodes a text as big-endian UTF-16 without a byte order mark.
func UTF16(text string) (b []byte) {
	for _, unit := range utf16.Encode([]rune(text)) {
		b = append(b, byte(unit>>8), byte(unit))
	}

	return b
}
