package local

import (
	"context"

	"presswork"
	"presswork/internal/chromium"
	"presswork/internal/chromium/printable"
)

// pixelsPerInch is the resolution of CSS pixels.
const pixelsPerInch = 96

// Picture shows an HTML page of this program in a browser. It returns a PNG with two pixels per CSS pixel in each
// direction. Errors: chromium.ErrNotFound, those of printing, the cause of ctx.
func Picture(ctx context.Context, browser, html string, width, height int) ([]byte, error) {
	if _, err := chromium.Find(browser); err != nil {
		return nil, err
	}

	b := newBrowser(New(Options{Browser: browser, Output: presswork.HTML}).o)
	defer func() { _ = b.Kill() }() // the picture is taken

	if err := b.Start(ctx); err != nil {
		return nil, err
	}
	sheet := printable.Sheet{Width: float64(width) / pixelsPerInch, Height: float64(height) / pixelsPerInch}

	return b.Screenshot(ctx, printable.Page{HTML: html, Sheet: sheet}, chromium.ScreenshotOptions{Density: 2})
}

// picture returns a PNG of a page, as large as its sheet.
func (c *Converter) picture(ctx context.Context, page printable.Page) ([]byte, error) {
	return c.browser.Screenshot(ctx, page, chromium.ScreenshotOptions{})
}
