package chromium

import (
	"cmp"
	"context"
	"errors"
	"math"
	"time"

	"presswork/internal/chromium/printable"
)

// ScreenshotOptions are the settings of a picture of a page.
type ScreenshotOptions struct {
	// Format is png (default), jpeg or webp.
	Format string
	// Quality is 1 to 100, for jpeg and webp. Default 85.
	Quality int
	// Density is the number of picture pixels for a CSS pixel (1/96 inch), at most 4.
	// Default 1.
	Density float64
}

const (
	cssPixels  = 96 // per inch
	maxDensity = 4
	// captureShare divides PrintTimeout: a loaded page must be drawn within a quarter of it.
	captureShare = 4
)

// errNoFrame is returned when Chromium has lost a frame. The caller retries.
var errNoFrame = errors.New("the browser drew no frame")

// Screenshot returns a picture of the page's first sheet, laid out for print on a paper of
// Sheet.Width by Sheet.Height. It does not apply the @page rule: the document needs margins
// of its own, and there are no margin boxes. Errors: those of Print.
func (b *Browser) Screenshot(ctx context.Context, page printable.Page, o ScreenshotOptions) ([]byte, error) {
	return b.withTab(ctx, page, func(ctx context.Context, t *tab) ([]byte, error) {
		drawing, err := t.inst.openDrawingTab(ctx, page.Sheet, o.Density)
		if err != nil {
			return nil, err
		}
		defer func() { go t.inst.closeTab(drawing) }()

		picture, err := drawing.screenshot(ctx, page, o, b.opt)
		if errors.Is(err, errNoFrame) {
			b.log.WarnContext(ctx, "retiring the browser: it draws no frame")
			t.inst.retire()
		}

		return picture, err
	})
}

// openDrawingTab creates a tab with a window of the sheet's size. The caller closes it with
// closeTab.
func (i *instance) openDrawingTab(ctx context.Context, s printable.Sheet, density float64) (*tab, error) {
	width, height := pixels(s)

	return i.prepareTab(ctx, i.frameControl, map[string]any{
		"width": width, "height": height, "deviceScaleFactor": min(cmp.Or(density, 1), maxDensity), "mobile": false,
	})
}

// pixels returns the size of a sheet in CSS pixels.
func pixels(s printable.Sheet) (width, height float64) {
	width = math.Round(cmp.Or(s.Width, defaultWidth) * cssPixels)
	height = math.Round(cmp.Or(s.Height, defaultHeight) * cssPixels)

	return width, height
}

// screenshot loads page into the tab and takes a picture of at most opt.MaxPDFBytes. Errors:
// errNoFrame.
func (t *tab) screenshot(ctx context.Context, page printable.Page, o ScreenshotOptions, opt Options) ([]byte, error) {
	params := map[string]any{"format": cmp.Or(o.Format, "png")}
	if o.Format == "jpeg" || o.Format == "webp" {
		params["quality"] = cmp.Or(o.Quality, 85)
	}

	if err := t.setContent(ctx, page.HTML); err != nil {
		return nil, err
	}

	answer, err := t.capture(ctx, params, opt.PrintTimeout/captureShare)
	if err == nil {
		// If the page has navigated away, the picture is of another document.
		err = context.Cause(t.life)
	}

	if err != nil {
		return nil, err
	}

	return decodeData(answer, opt.MaxPDFBytes)
}

// capture takes the picture. Under frame control the browser waits for the frames that the
// picture needs, so capture requests frames until the picture is there. Only one tab at a
// time may do so: frames of two tabs make the browser crash.
//
// Chromium can lose a frame and then waits for it forever. So capture returns errNoFrame
// after limit.
func (t *tab) capture(ctx context.Context, params map[string]any, limit time.Duration) ([]byte, error) {
	if t.inst.frameControl {
		t.inst.drawing.Lock()
		defer t.inst.drawing.Unlock()
	}

	ctx, cancel := context.WithTimeoutCause(ctx, limit, errNoFrame)
	defer cancel()

	if t.inst.frameControl {
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
