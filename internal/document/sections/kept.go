package sections

import (
	"bytes"
	"iter"

	"github.com/klauspost/compress/s2"

	"presswork/internal/pdffile"
)

// kept is the compressed print of a section. Chromium does not compress tags: the prints of 10 MB of Markdown take
// 230 MB, and 90 MB compressed. They wait until the last section is printed.
type kept []byte

// keep compresses a print.
func keep(print []byte) kept {
	return bytes.Clone(s2.Encode(nil, print)) // Encode returns a slice with the capacity of the print
}

// file reads the print.
func (k kept) file() (*pdffile.File, error) {
	print, err := s2.Decode(nil, k)
	if err != nil {
		return nil, err
	}

	return pdffile.Read(print)
}

// files reads prints one after the other.
func files(prints []kept) iter.Seq2[*pdffile.File, error] {
	return func(yield func(*pdffile.File, error) bool) {
		for i, k := range prints {
			prints[i] = nil // free the memory

			if f, err := k.file(); !yield(f, err) {
				return
			}
		}
	}
}
