package chromium

import (
	"cmp"
	"context"
	"math"

	"presswork/internal/chromium/printable"
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
func (b *Browser) Screenshot(ctx context.Context, page printable.Page, o ScreenshotOptions) ([]byte, error) {
	return b.visit(ctx, page, func(ctx context.Context, t *tab) ([]byte, error) {
		drawing, err := t.inst.openDrawingTab(ctx, page.Sheet, o.Density)
		if err != nil {
			return nil, err
		}
		defer func() { go t.inst.closeTab(drawing) }()

		return drawing.screenshot(ctx, page, o, b.opt.MaxPDFBytes)
	})
}

// openDrawingTab makes a tab whose window is the sheet. It is paired with
// closeTab.
func (i *instance) openDrawingTab(ctx context.Context, s printable.Sheet, density float64) (*tab, error) {
	width, height := pixels(s)

	return i.prepareTab(ctx, i.frameControl, map[string]any{
		"width": width, "height": height, "deviceScaleFactor": min(cmp.Or(density, 1), maxDensity), "mobile": false,
	})
}

// pixels is the size of a sheet in CSS pixels.
func pixels(s printable.Sheet) (width, height float64) {
	return math.Round(
			cmp.Or(s.Width, defaultWidth) * cssPixels,
		), math.Round(
			cmp.Or(s.Height, defaultHeight) * cssPixels,
		)
}

// screenshot takes the picture.
func (t *tab) screenshot(ctx context.Context, page printable.Page, o ScreenshotOptions, limit int64) ([]byte, error) {
	params := map[string]any{"format": cmp.Or(o.Format, "png")}
	if o.Format == "jpeg" || o.Format == "webp" {
		params["quality"] = cmp.Or(o.Quality, 85)
	}

	if err := t.setContent(ctx, page.HTML); err != nil {
		return nil, err
	}

	answer, err := t.capture(ctx, params)
	if err == nil {
		// The answer of a page that had left for elsewhere is not ours.
		err = context.Cause(t.life)
	}

	if err != nil {
		return nil, err
	}

	return decodePDF(answer, limit)
}

// capture draws the window. Under frame control the browser waits for the frames
// that the picture needs; frames of two tabs at a time make it crash.
func (t *tab) capture(ctx context.Context, params map[string]any) ([]byte, error) {
	if t.inst.frameControl {
		t.inst.drawing.Lock()
		defer t.inst.drawing.Unlock()

		captured, idle := make(chan struct{}), make(chan struct{})
		defer func() {
			close(captured)
			<-idle
		}()

		go func() {
			defer close(idle)

			for {
				if _, err := t.call(ctx, "HeadlessExperimental.beginFrame", struct{}{}); err != nil {
					return
				}

				select {
				case <-captured:
					return
				default:
				}
			}
		}()
	}

	return t.call(ctx, "Page.captureScreenshot", params)
}
