package local

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"time"

	"presswork/internal/chromium"
	"presswork/internal/document"
	"presswork/internal/export"
	"presswork/internal/guard"
	"presswork/internal/input"
	"presswork/themes"
)

// WebPage is a page to export: exactly one of PDF and Screenshot.
type WebPage struct {
	URL        string
	PDF        *export.PDFOptions
	Screenshot *export.ScreenshotOptions
	// Output is a file, or Std.
	Output string
}

// NewWebPage returns a page for options of the API, a JSON object. picture is png, jpeg or webp, or "" for a PDF.
// cookies are names with their values. Errors: those of input.DecodeJSON.
func NewWebPage(
	url, output, picture string, options []byte, headers map[string]string, cookies [][2]string,
) (WebPage, error) {
	sent := make([]export.Cookie, 0, len(cookies))
	for _, c := range cookies {
		sent = append(sent, export.Cookie{Name: c[0], Value: c[1]})
	}
	page := WebPage{URL: url, Output: output}

	if picture != "" {
		page.Screenshot = &export.ScreenshotOptions{}
		err := input.DecodeJSON(options, page.Screenshot, "")
		// The flags override the same fields of options.
		page.Screenshot.Type, page.Screenshot.ExtraHTTPHeaders, page.Screenshot.Cookies = picture, headers, sent

		return page, err
	}

	page.PDF = &export.PDFOptions{}
	err := input.DecodeJSON(options, page.PDF, "")
	page.PDF.ExtraHTTPHeaders, page.PDF.Cookies = headers, sent

	return page, err
}

// ExportOptions configures Export.
type ExportOptions struct {
	// Policy decides which addresses the page may reach. Mandatory.
	Policy *guard.Policy
	// ThemesDir is the folder of custom themes. Default: none.
	ThemesDir string
	// Browser is the program that shows the page. Default: the first one found.
	Browser string
	// Stdout replaces standard output for Std. Default: os.Stdout.
	Stdout io.Writer
	// Log gets messages other than errors. Default: discard.
	Log *slog.Logger
}

// Export makes a PDF or a picture of one web page. When it fails, an earlier file at the output stays. Errors:
// chromium.ErrNotFound, those of chromium.Exporter, ThemeNotFound, StoreFull or StoreUnavailable for an output
// that cannot be written.
func Export(ctx context.Context, page WebPage, o ExportOptions) (out Output, err error) {
	began := time.Now()

	data, pages, err := Visit(ctx, page, o)
	if err != nil {
		return out, err
	}

	writer := Converter{o: Options{Stdout: cmp.Or[io.Writer](o.Stdout, os.Stdout)}}
	if err := writer.WriteResult(ctx, page.Output, data); err != nil {
		return out, err
	}

	return Output{Input: page.URL, Path: page.Output, Pages: pages, Bytes: len(data), Elapsed: time.Since(began)}, nil
}

// Visit is Export without writing the result. pages is 0 for a picture. Errors: chromium.ErrNotFound, those of
// chromium.Exporter, ThemeNotFound.
func Visit(ctx context.Context, page WebPage, o ExportOptions) (data []byte, pages int, err error) {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if _, err := chromium.Find(o.Browser); err != nil {
		return nil, 0, err
	}

	visit, err := visitOf(page, o)
	if err != nil {
		return nil, 0, err
	}

	exporter := chromium.NewExporter(chromium.ExporterOptions{
		Browser: chromium.Options{Path: o.Browser, Tabs: 1, Log: o.Log}, Policy: o.Policy,
	})
	if err := exporter.Start(ctx); err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, exporter.Kill()) }()

	return exportPage(ctx, exporter, visit, page, o.Log)
}

// visitOf returns the page to visit, with the stylesheet of its theme.
func visitOf(page WebPage, o ExportOptions) (chromium.Visit, error) {
	visit := chromium.Visit{URL: page.URL}
	name := ""

	switch {
	case page.PDF != nil:
		name = page.PDF.Theme
	case page.Screenshot != nil:
		name = page.Screenshot.Theme
	}

	if name == "" {
		return visit, nil
	}
	catalogue := themes.Open(themes.Options{Dir: o.ThemesDir, Log: o.Log})
	theme, err := catalogue.Get(name)
	visit.ThemeCSS = theme.Tokens()

	return visit, err
}

// exportPage takes the picture, or prints and packs the PDF. pages is 0 for a picture.
func exportPage(
	ctx context.Context, e *chromium.Exporter, visit chromium.Visit, page WebPage, log *slog.Logger,
) (data []byte, pages int, err error) {
	if page.Screenshot != nil {
		picture, err := e.Screenshot(ctx, visit, *page.Screenshot)
		return picture.Data, 0, err
	}

	printed, err := e.PDF(ctx, visit, *page.PDF)
	if err != nil {
		return nil, 0, err
	}
	packed, err := document.New(document.Options{Log: log}).Pack(ctx, printed.Data, printed.Title, page.PDF.PDFA)

	return packed.PDF, packed.Pages, err
}
