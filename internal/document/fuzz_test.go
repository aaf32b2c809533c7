package document

import (
	"bytes"
	"testing"

	"presswork/internal/document/preflight"
	"presswork/internal/fault"
	"presswork/internal/imagetype"
	"presswork/internal/pdffile"
	"presswork/internal/pdffile/filetest"
	"presswork/internal/pdffile/inspect"
	"presswork/themes"
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

func FuzzSheetCost(f *testing.F) {
	for _, css := range []string{
		`p{background:url("data:image/svg+xml,<svg><use href='%23a'/></svg>")}`, `p:has(a) ~ b{}`, `/*`, `a{b:u\72l(data:image/png;base64,AA==)}`, `@font-face{src:url(data:font/woff2,x)}`,
	} {
		f.Add(css)
	}
	f.Fuzz(func(t *testing.T, css string) {
		if err := checkSheet(css, 1000, ""); err != nil {
			if err.Code != fault.ContentTooComplex {
				t.Errorf("%q: %v", css, err)
			}

			return
		}
		// What passes holds no image beyond the bounds, also after the filter.
		clean, _ := themes.FilterCSS(css)
		for _, uri := range themes.DataURLs(clean) {
			data, err := imagetype.ReadDataURI(uri)
			if err != nil {
				continue
			}

			if img, err := imagetype.Inspect(data); err == nil && img.Pixels() > imagetype.MaxPixels {
				t.Errorf("%q: %v", css, img)
			}
		}
	})
}
