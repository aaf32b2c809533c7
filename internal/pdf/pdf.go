// Package pdf turns a Markdown document into a printed PDF: compose builds the
// themed page, the Printer prints it, the packer makes the file small and
// tells in it what it is.
package pdf

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"presswork"
	"presswork/internal/markdown"
	"presswork/themes"
)

// Options wire a Converter.
type Options struct {
	// Printer prints. Mandatory for Print; Compose needs its Version only.
	Printer Printer
	// Themes is the catalogue. Mandatory.
	Themes *themes.Catalogue
	// Fetch gets a remote image, through the address rules. Nil: remote images
	// are left out with a warning.
	Fetch func(ctx context.Context, url string) (data []byte, contentType string, err error)
	// Now is the clock behind {date}. Default time.Now.
	Now func() time.Time
	// Log is where PDFs of unexpected form are reported. Default: discard.
	Log *slog.Logger
}

// Converter turns documents into PDFs. It is safe for concurrent use.
type Converter struct {
	printer  Printer
	themes   *themes.Catalogue
	fetch    func(ctx context.Context, url string) ([]byte, string, error)
	now      func() time.Time
	log      *slog.Logger
	markdown *markdown.Renderer
}

// New wires a Converter.
func New(o Options) *Converter {
	c := &Converter{printer: o.Printer, themes: o.Themes, fetch: o.Fetch, now: o.Now,
		log: cmp.Or(o.Log, slog.New(slog.DiscardHandler)), markdown: markdown.New()}
	if c.now == nil {
		c.now = time.Now
	}
	return c
}

// Document is what a caller hands in.
type Document struct {
	// Content is Markdown, front matter included.
	Content []byte
	// Theme is a theme's name; "" is the front matter's, else themes.Default.
	Theme string
	// Options win over the front matter's.
	Options presswork.Options
	// Filename gives the title when nothing else does.
	Filename string
	// Asset opens an image that came with the document, by the path
	// in its Markdown. It is called from several goroutines. Nil: none came.
	Asset func(name string) ([]byte, error)
}

// Composed is a document ready to print.
type Composed struct {
	Page presswork.Page
	// Meta goes into the PDF's Info dictionary.
	Meta Meta
	// Theme is the name of the theme in force.
	Theme    string
	Warnings []presswork.Warning
	// Key names the result: equal keys, equal pages. It covers the HTML, the
	// sheet, the metadata and the versions of browser and packer.
	Key string
}

// Meta is what a PDF says about itself.
type Meta struct {
	Title, Author, Subject string
	Keywords               []string
}

// Result is a printed document.
type Result struct {
	PDF   []byte
	Pages int
	// Warnings are those of Composed and those found while printing.
	Warnings []presswork.Warning
}

// Print prints a composed document and packs the PDF. Errors: the Printer's.
func (c *Converter) Print(ctx context.Context, d Composed) (Result, error) {
	printed, err := c.printer.Print(ctx, d.Page)
	if err != nil {
		return Result{}, err
	}
	packed, pages, err := pack(printed, d.Meta)
	if err != nil {
		// A PDF that is not as this engine writes them is still a PDF: it goes
		// out as the browser made it.
		c.log.WarnContext(ctx, "the PDF could not be packed", "error", err, "bytes", len(printed))
		return Result{PDF: printed, Pages: pages, Warnings: d.Warnings}, nil
	}
	return Result{PDF: packed, Pages: pages, Warnings: d.Warnings}, nil
}
