package document

import (
	"context"
	"fmt"
	"slices"
	"time"

	"presswork"
	"presswork/internal/chromium/printable"
	"presswork/internal/document/sheet"
	"presswork/internal/fault"
	"presswork/themes"
)

// Preview composes the sample document in a theme. Its Key depends only on the release and the theme, so every
// node gets the same result. Errors: ThemeNotFound, the cause of ctx.
func (c *Converter) Preview(ctx context.Context, theme string) (Composed, error) {
	plain := Converter{
		themes: c.themes, log: c.log, markdown: c.markdown,
		now: func() time.Time { return time.Date(2026, time.March, 21, 0, 0, 0, 0, time.UTC) },
	}
	composed, err := plain.compose(ctx, sampleIn(theme))

	// Only a sample with diagrams needs the browser. It keeps the key of the page without them, which depends on no
	// browser.
	undrawn := func(w fault.Warning) bool { return w.Code == fault.DiagramFailed }
	if err != nil || c.diagrams == nil || !slices.ContainsFunc(composed.Warnings, undrawn) {
		return composed, err
	}
	key := composed.Key
	plain.diagrams = c.diagrams
	composed, err = plain.compose(ctx, sampleIn(theme))
	composed.Key = key

	return composed, err
}

// PreviewSheet returns the first page of text of the sample, for a picture. Errors: those of Preview.
func (c *Converter) PreviewSheet(ctx context.Context, theme string) (printable.Page, error) {
	return c.FirstSheet(ctx, sampleIn(theme))
}

// sampleIn returns the sample document in a theme.
func sampleIn(theme string) Document {
	return Document{Content: themes.Sample(), Theme: theme, Filename: "sample.md"}
}

// FirstSheet composes a document for a picture of its first page of text, as the browser shows it on the screen.
// It omits cover and contents, and the margins are part of the page. Errors: those of Compose.
func (c *Converter) FirstSheet(ctx context.Context, d Document) (printable.Page, error) {
	d.Options.Cover, d.Options.TOC, d.Options.Strict = new(false), new(presswork.Depth), new(false)

	d.Output = presswork.PDF

	composed, err := c.Compose(ctx, d)
	if err != nil {
		return printable.Page{}, err
	}
	page, at, paper := composed.Page, composed.layout.head, composed.plan.(pdfPlan).onSheet()
	page.HTML = page.HTML[:at] + "<style>" + paper.pictureCSS() + "</style>\n" + page.HTML[at:]

	return page, nil
}

// pictureCSS replaces the effect of @page in a picture. The text runs in columns as large as the page's area, and
// only the first is visible. It therefore breaks where the printed page does.
func (p paper) pictureCSS() string {
	s := p.sheet

	return fmt.Sprintf(
		`html{margin:0;overflow:hidden;background:%s}
body{margin:0;max-width:none;padding:0;position:absolute;top:%gmm;left:%gmm;width:%gmm;height:%gmm`+
			`;columns:1;column-gap:%gmm;column-fill:auto}
.page-break{break-after:column}`,
		p.background,
		sheet.Round(s.Top),
		sheet.Round(s.Left),
		sheet.Round(s.TextWidth()),
		sheet.Round(s.TextHeight()),
		sheet.Round(s.Left+s.Right),
	)
}
