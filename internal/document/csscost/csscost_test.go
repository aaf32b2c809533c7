package csscost

import (
	"testing"

	"presswork/internal/fault"
	"presswork/internal/imagetype"
	"presswork/themes"
)

func FuzzSheetCost(f *testing.F) {
	for _, css := range []string{
		`p{background:url("data:image/svg+xml,<svg><use href='%23a'/></svg>")}`, `p:has(a) ~ b{}`, `/*`, `a{b:u\72l(data:image/png;base64,AA==)}`, `@font-face{src:url(data:font/woff2,x)}`,
	} {
		f.Add(css)
	}
	f.Fuzz(func(t *testing.T, css string) {
		if err := Check(css, 1000, ""); err != nil {
			if err.Code != fault.ContentTooComplex {
				t.Errorf("%q: %v", css, err)
			}

			return
		}
		// A stylesheet that passes has no image beyond the limits, also after the filter.
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
