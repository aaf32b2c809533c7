package analysis

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// normalise makes text of the bytes of a document: UTF-8 without byte order
// mark, letters composed (NFC). Binary data becomes nothing.
func normalise(markdown []byte) []byte {
	head := markdown[:min(len(markdown), 64<<10)]
	if strange := strangeBytes(head); strange > 0 && strange*50 > len(head) {
		return nil
	}

	s := bytes.TrimPrefix(markdown, []byte("\ufeff"))
	if !utf8.Valid(s) {
		s = bytes.ToValidUTF8(s, []byte("\ufffd"))
	}

	return norm.NFC.Bytes(s)
}

// strangeBytes counts what text does not hold: control characters and bytes
// that are no UTF-8.
func strangeBytes(b []byte) (n int) {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == 0 {
			n += 8 // one NUL in 400 bytes is enough to call it binary
		} else if r == utf8.RuneError && size == 1 && len(b) >= utf8.UTFMax || r < ' ' && r != '\t' && r != '\n' && r != '\r' && r != '\f' && r != 0x1b {
			n++
		}
		b = b[size:]
	}

	return n
}
