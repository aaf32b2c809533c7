package source

import (
	"bytes"

	"presswork/internal/fault"
)

// TooComplex returns the error for a document that takes too much work: ContentTooComplex, with
// the parameter "content".
func TooComplex(format string, args ...any) error {
	return fault.Errorf(fault.ContentTooComplex, format, args...).WithParam("content")
}

// NormalizeNewlines returns a text whose lines end with \n only. Rewriters and the parser then agree about offsets and
// lines. A text without \r is returned as it is, not copied.
func NormalizeNewlines(text []byte) []byte {
	if bytes.IndexByte(text, '\r') < 0 {
		return text
	}
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))

	return bytes.ReplaceAll(text, []byte("\r"), []byte("\n"))
}
