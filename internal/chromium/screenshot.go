package chromium

import (
	"cmp"
	"context"
	"math"
	"time"

	"presswork"
)

// ScreenshotOptions are the choices about a picture of a page.
type ScreenshotOptions struct {
	// Format is png (default), jpeg or webp.
	Format string
	// Quality is 1 to 100, of jpeg and webp. Default 85.
	Quality int
	// Density is how many pixels a CSS pixel (1/96 inch) gets, at most 4.
	// Default 1.
	Density float64
}

const (
	cssPixels  = 96 // to the inch
	maxDensity = 4
)

// Screenshot returns a picture of the page's first sheet, laid out for print on
// a paper of Sheet.Width by Sheet.Height. Margins, which on paper are those of
// @page, must be the document's own, and there are no margin boxes. Errors:
// those of Print.
func (b *Browser) Screenshot(ctx context.Context, page presswork.Page, o ScreenshotOptions) ([]byte, error) {
	return b.visit(ctx, page, func(ctx context.Context, t *tab) ([]byte, error) {
		return t.screenshot(ctx, page, o, b.opt.MaxPDFBytes)
	})
}

// screenshot takes the picture and leaves the tab as it was.
func (t *tab) screenshot(ctx context.Context, page presswork.Page, o ScreenshotOptions, limit int64) ([]byte, error) {
	t.dirty, t.used = true, time.Now()
	width := math.Round(cmp.Or(page.Sheet.Width, defaultWidth) * cssPixels)
	height := math.Round(cmp.Or(page.Sheet.Height, defaultHeight) * cssPixels)
	params := map[string]any{
		"format": cmp.Or(o.Format, "png"),
		"clip":   map[string]any{"x": 0, "y": 0, "width": width, "height": height, "scale": 1},
	}
	if o.Format == "jpeg" || o.Format == "webp" {
		params["quality"] = cmp.Or(o.Quality, 85)
	}
	var picture []byte
	for _, step := range []struct {
		method string
		params any
	}{
		{"Emulation.setEmulatedMedia", map[string]any{"media": "print"}},
		{"Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height,
			"deviceScaleFactor": min(cmp.Or(o.Density, 1), maxDensity), "mobile": false}},
		{"Page.setDocumentContent", map[string]any{"frameId": t.target, "html": page.HTML}},
		{"Page.captureScreenshot", params},
		{"Emulation.clearDeviceMetricsOverride", nil},
		{"Emulation.setEmulatedMedia", map[string]any{"media": ""}},
	} {
		answer, err := t.call(ctx, step.method, step.params)
		if err != nil {
			return nil, err
		}
		if step.method != "Page.captureScreenshot" {
			continue
		}
		// The answer of a page that had left for elsewhere is not ours.
		if err := context.Cause(t.life); err != nil {
			return nil, err
		}
		if picture, err = decodePDF(answer, limit); err != nil {
			return nil, err
		}
	}
	return picture, nil
}
