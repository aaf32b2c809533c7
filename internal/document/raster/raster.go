// Package raster draws the pages of a PDF as pictures. pdf.js does it in a browser page that is discarded afterwards.
package raster

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"presswork/internal/fault"
)

// The browser page runs pdf.js 6.5.438 of npm, bundled by scripts/pdfjs.sh, and the function that draws one page.
var (
	//go:embed pdfjs/pdfjs.js.gz
	libraryGz []byte
	//go:embed raster.js
	rasterJS string
)

// library unpacks pdf.js on first use. It takes 1.7 MB of memory from then on.
var library = sync.OnceValues(func() (string, error) {
	z, err := gzip.NewReader(bytes.NewReader(libraryGz))
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(z)

	return string(b), err
})

const (
	// MaxPages is the largest number of pages that Pages draws.
	MaxPages = 500
	// maxPixels is the largest number of pixels of one picture.
	maxPixels = 100_000_000
	// perRun is the number of pages that one browser page draws. Each browser page parses the PDF again, but between two
	// of them other documents can use the tab.
	perRun = 25
	// pointsPerInch converts the unit of a PDF, the point.
	pointsPerInch = 72
)

// Script runs JavaScript in a browser page, as chromium.Browser.Script does: first the library, then each expression,
// whose values it returns as JSON.
type Script func(ctx context.Context, library string, expressions ...string) ([]json.RawMessage, error)

// Pages draws the first count pages of a PDF and returns them as PNGs. The resolution is in pixels per inch; area is
// that of the largest page, in square inches. Errors: ContentTooComplex beyond MaxPages or 100 million pixels, those of
// script.
func Pages(ctx context.Context, script Script, pdf []byte, count, resolution int,
	area float64,
) (pictures [][]byte, err error) {
	if count > MaxPages {
		return nil, fault.Errorf(fault.ContentTooComplex,
			"the document has %d pages; at most %d become pictures, choose some with page_ranges", count, MaxPages)
	}

	if area*float64(resolution)*float64(resolution) > maxPixels {
		return nil, fault.Errorf(fault.ContentTooComplex,
			"pictures of these pages would have more than %d million pixels; choose a lower resolution",
			maxPixels/1_000_000)
	}

	code, err := library()
	if err != nil {
		return nil, err
	}
	// The "0" at the end is the value of the script, so that the browser does not return the PDF.
	code += "\n;globalThis.source=\"" + base64.StdEncoding.EncodeToString(pdf) + "\";0"

	for first := 1; first <= count; first += perRun {
		var expressions []string

		for page := first; page < first+perRun && page <= count; page++ {
			job, err := json.Marshal(map[string]any{"page": page, "scale": float64(resolution) / pointsPerInch})
			if err != nil {
				return nil, err
			}
			expressions = append(expressions, "("+rasterJS+")("+string(job)+")")
		}

		values, err := script(ctx, code, expressions...)
		if err != nil {
			return nil, err
		}

		for _, value := range values {
			var drawn struct {
				PNG []byte `json:"png"`
			}
			if err := json.Unmarshal(value, &drawn); err != nil {
				return nil, fmt.Errorf("raster: page %d: %w", len(pictures)+1, err)
			}

			if len(drawn.PNG) == 0 {
				return nil, fmt.Errorf("raster: page %d has no picture: %.60s", len(pictures)+1, value)
			}
			pictures = append(pictures, drawn.PNG)
		}
	}

	return pictures, nil
}
