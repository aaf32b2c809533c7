package document

import (
	"bytes"
	"testing"

	"presswork/internal/document/preflight"
	"presswork/internal/pdffile"
	"presswork/internal/pdffile/filetest"
	"presswork/internal/pdffile/inspect"
)

// What is looked through after a print comes from the browser; a page that broke
// out of its renderer would write it.
func FuzzInspectPrint(f *testing.F) {
	f.Add(filetest.Small(0))
	f.Add(filetest.Write(filetest.Tagged()))
	f.Add(bytes.Replace(filetest.Small(0), []byte("/Kids [4 0 R"), []byte("/Kids [3 0 R"), 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		paper := sheet{width: 210, height: 297, left: 20, right: 20, top: 20, bottom: 20, scale: 1}
		p := preflight.Check{Area: func(page int, width, height float64) *inspect.Area {
			return paper.textArea(page, width, height, false)
		}}
		_, _ = p.Inspect(
			t.Context(),
			"aß漢",
			func() (*pdffile.File, error) { return pdffile.Read(data) },
		) // it must not panic, nor take long
	})
}
