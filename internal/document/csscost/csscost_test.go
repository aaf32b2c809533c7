package csscost

import (
	"testing"

	"presswork/internal/fault"
	"presswork/internal/imagetype"
	"presswork/themes"
)

// Check fails only because of the cost. A stylesheet that passes has no image beyond the limits, also after the filter.
func FuzzSheetCost(f *testing.F) {
	for _, css := range []string{
		`p{background:url("data:image/svg+xml,<svg><use href='%23a'/></svg>")}`, `p:has(a) ~ b{}`, `/*`, `a{b:u\72l(data:image/png;base64,AA==)}`, `@font-face{src:url(data:font/woff2,x)}`,
	} {
		f.Add(css)
	}
	f.Fuzz(func(t *testing.T, css string) {
		if err := Check(css, 1000, ""); err != nil {
			if err.Code != fault.ContentTooComplex {
				t.Errorf("%q: got %v, want %s", css, err, fault.ContentTooComplex)
			}

			return
		}

		clean, _ := themes.FilterCSS(css)
		for _, uri := range themes.DataURLs(clean) {
			data, err := imagetype.ReadDataURI(uri)
			if err != nil {
				continue
			}

			if img, err := imagetype.Inspect(data); err == nil && img.Pixels() > imagetype.MaxPixels {
				t.Errorf("%q passed with the image %v, want at most %d pixels", css, img, imagetype.MaxPixels)
			}
		}
	})
}
