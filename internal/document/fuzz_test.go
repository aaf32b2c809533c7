package document

import (
	"bytes"
	"testing"

	"presswork/internal/document/preflight"
	"presswork/internal/document/sheet"
	"presswork/internal/pdffile"
	"presswork/internal/pdffile/filetest"
	"presswork/internal/pdffile/inspect"
)

// The inspected print comes from the browser. A page that broke out of its renderer could write any bytes.
func FuzzInspectPrint(f *testing.F) {
	f.Add(filetest.Small(0))
	f.Add(filetest.Write(filetest.Tagged()))
	f.Add(bytes.Replace(filetest.Small(0), []byte("/Kids [4 0 R"), []byte("/Kids [3 0 R"), 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		paper := sheet.Sheet{Width: 210, Height: 297, Left: 20, Right: 20, Top: 20, Bottom: 20, Scale: 1}
		p := preflight.Check{Area: func(page int, width, height float64) *inspect.Area {
			return textArea(paper, page, width, height, false)
		}}
		_, _ = p.Inspect(
			t.Context(),
			"aß漢",
			func() (*pdffile.File, error) { return pdffile.Read(data) },
		) // must not panic or hang
	})
}
