package analysis

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// normalise makes text of the bytes of a document: UTF-8 without byte order
// mark, letters composed (NFC), lines ended by "\n". Binary data becomes "".
func normalise(markdown []byte) string {
	head := markdown[:min(len(markdown), 64<<10)]
	if strange := strangeBytes(head); strange > 0 && strange*50 > len(head) {
		return ""
	}
	s := strings.TrimPrefix(string(markdown), "\ufeff")
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	if strings.IndexByte(s, '\r') >= 0 {
		s = strings.ReplaceAll(s, "\r\n", "\n")
		s = strings.ReplaceAll(s, "\r", "\n")
	}
	return norm.NFC.String(s)
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
