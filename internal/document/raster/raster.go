// Package raster makes pictures of the pages of PDFs: pdf.js runs in a page of its
// own that the browser forgets afterwards.
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

// pdf.js 6.5.438 as npm has it, bundled by scripts/pdfjs.sh, and what we have it
// do.
var (
	//go:embed pdfjs/pdfjs.js.gz
	libraryGz []byte
	//go:embed raster.js
	rasterJS string
)

// library is unpacked when it is first needed: 1.7 MB.
var library = sync.OnceValues(func() (string, error) {
	z, err := gzip.NewReader(bytes.NewReader(libraryGz))
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(z)

	return string(b), err
})

const (
	// MaxPages is how many pages of a document become pictures.
	MaxPages = 500
	// maxPixels bounds one picture.
	maxPixels = 100_000_000
	// perRun is the number of pages that are drawn in one browser page, which parses the PDF each time. Another
	// document may need its tab in between.
	perRun = 25
	// pointsPerInch is the unit of a PDF.
	pointsPerInch = 72
)

// Script is chromium.Browser.Script.
type Script func(ctx context.Context, library string, expressions ...string) ([]json.RawMessage, error)

// Pages draws the pages of a PDF, so many of them, as PNGs at a resolution in
// pixels to the inch. The largest has so many square inches. Errors:
// ContentTooComplex, those of Script.
func Pages(
	ctx context.Context,
	script Script,
	pdf []byte,
	count, resolution int,
	area float64,
) (pictures [][]byte, err error) {
	if count > MaxPages {
		return nil, fault.Errorf(
			fault.ContentTooComplex,
			"the document has %d pages; at most %d become pictures, choose some with page_ranges",
			count,
			MaxPages,
		)
	}

	if area*float64(resolution)*float64(resolution) > maxPixels {
		return nil, fault.Errorf(
			fault.ContentTooComplex,
			"pictures of these pages would have more than %d million pixels; choose a lower resolution",
			maxPixels/1_000_000,
		)
	}

	code, err := library()
	if err != nil {
		return nil, err
	}
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
			if err := json.Unmarshal(value, &drawn); err != nil || len(drawn.PNG) == 0 {
				return nil, fmt.Errorf("raster: a page came back as %.60s (%w)", value, err)
			}
			pictures = append(pictures, drawn.PNG)
		}
	}

	return pictures, nil
}
