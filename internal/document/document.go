// Package document turns a Markdown document into a printed PDF. Compose builds the
// themed page, the Printer prints it, and package pdffile packs the print and adds
// what the options ask for.
package document

import (
	"cmp"
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"presswork"
	"presswork/internal/chromium/printable"
	"presswork/internal/document/raster"
	"presswork/internal/markdown"
	"presswork/internal/markdown/diagram"
	"presswork/internal/recent"
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
	// Diagrams draws Mermaid diagrams. Nil: they stay source, with a warning.
	Diagrams *diagram.Renderer
	// Picture shows a page in a browser, as large as its sheet, and returns a PNG:
	// the covers of books. Nil: books have no cover.
	Picture func(ctx context.Context, page printable.Page) ([]byte, error)
	// Script runs JavaScript in a browser, as raster.Script has it: pictures of pages.
	// Nil: the output png is refused.
	Script raster.Script
	// Idle reports how many more pages the Printer could print at once. Nil:
	// documents are printed in one piece.
	Idle func() int
	// Timeout bounds a document that is printed in sections, as the Printer bounds
	// those that are not. Default: the context alone does.
	Timeout time.Duration
	// FormulaTime bounds the rendering of a document's formulas; those that are left then
	// stay source, with a warning. Default: by the size of the document, up to 30 s.
	FormulaTime time.Duration
	// Now is the clock behind {date}. Default time.Now.
	Now func() time.Time
	// Epoch, if not zero, is the time of everything: {date} and the PDF's own
	// dates. The same document then gives the same bytes (SOURCE_DATE_EPOCH).
	Epoch time.Time
	// Log is where PDFs of unexpected form are reported. Default: discard.
	Log *slog.Logger
}

// Converter turns documents into PDFs. It is safe for concurrent use.
type Converter struct {
	printer  Printer
	themes   *themes.Catalogue
	fetch    func(ctx context.Context, url string) ([]byte, string, error)
	now      func() time.Time
	idle     func() int
	timeout  time.Duration
	formulas time.Duration
	epoch    time.Time
	log      *slog.Logger
	diagrams *diagram.Renderer
	picture  func(ctx context.Context, page printable.Page) ([]byte, error)
	script   raster.Script
	markdown *markdown.Renderer
	composed *recent.Cache[Composed]
}

// New wires a Converter.
func New(o Options) *Converter {
	c := &Converter{
		printer:  o.Printer,
		themes:   o.Themes,
		fetch:    o.Fetch,
		diagrams: o.Diagrams,
		picture:  o.Picture,
		script:   o.Script,
		now:      o.Now,
		epoch:    o.Epoch,
		idle:     o.Idle,
		timeout:  o.Timeout,
		formulas: o.FormulaTime,
		log:      cmp.Or(o.Log, slog.New(slog.DiscardHandler)),
		markdown: markdown.New(),
		composed: recent.New[Composed](composedBytes),
	}
	if c.now == nil {
		c.now = time.Now
	}

	if !c.epoch.IsZero() {
		c.now = func() time.Time { return c.epoch }
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
	// Output is what it is made into. Default: presswork.PDF.
	Output presswork.Output
	// Owner is whose document it is, "" for nobody's: nobody shall see by the time it
	// takes that another had the same text composed.
	Owner string
	// Filename gives the title when nothing else does.
	Filename string
	// Path is where the document lies, slash-separated; it matters with Parts.
	Path string
	// Parts are printed after the document. Default: none.
	Parts []Part
	// Asset opens an image that came with the document, by the path
	// in its Markdown. It is called from several goroutines. Nil: none came.
	Asset func(name string) ([]byte, error)
	// Include opens a text file that the document includes, by its clean path below
	// the document's folder. Nil: nothing is included.
	Include func(name string) ([]byte, error)

	// outside is set when the page depends on what comes from elsewhere. Nil: nobody
	// asks.
	outside *atomic.Bool
}
