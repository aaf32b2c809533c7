package sections

import (
	"bytes"
	"iter"

	"github.com/klauspost/compress/s2"

	"presswork/internal/pdffile"
)

// kept is the print of a section, which waits until the last section is printed. Prints of documents that are too large
// to print at once are compressed meanwhile. Those of 10 MB of Markdown take 230 MB, because Chromium does not compress
// tags, and 90 MB compressed.
type kept struct {
	file   *pdffile.File
	packed []byte // instead of file
}

// keep returns a print that waits. file is what pdffile.Read returns for it.
func (d *division) keep(print []byte, file *pdffile.File) *kept {
	if !d.Must {
		return &kept{file: file}
	}

	return &kept{packed: bytes.Clone(s2.Encode(nil, print))} // Encode returns a slice with the capacity of the print
}

func (k *kept) read() (*pdffile.File, error) {
	if k.file != nil {
		return k.file, nil
	}

	print, err := s2.Decode(nil, k.packed)
	if err != nil {
		return nil, err
	}

	return pdffile.Read(print)
}

// files reads prints one after the other.
func files(prints []*kept) iter.Seq2[*pdffile.File, error] {
	return func(yield func(*pdffile.File, error) bool) {
		for i, k := range prints {
			prints[i] = nil // free the memory

			if f, err := k.read(); !yield(f, err) {
				return
			}
		}
	}
}
