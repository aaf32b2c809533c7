// Package document turns a Markdown document into a printed PDF. Compose builds the
// themed page, the Printer prints it, and package pdffile packs the print and adds
// what the options ask for.
package document

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"presswork"
	"presswork/internal/chromium/printable"
	"presswork/internal/document/epub"
	"presswork/internal/document/raster"
	"presswork/internal/fault"
	"presswork/internal/markdown"
	"presswork/internal/markdown/diagram"
	"presswork/internal/pdffile"
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

// Composed is a document ready to print, or to be made into another output.
type Composed struct {
	// Output is the Document's.
	Output presswork.Output
	// Page is what is printed; of HTML it is the file itself, of EPUB the cover.
	Page printable.Page
	// Meta goes into the PDF's Info dictionary and XMP.
	Meta pdffile.Meta
	// Finish is what the print is made into.
	Finish pdffile.Finish
	// Theme is the name of the theme in force.
	Theme    string
	Warnings []fault.Warning
	// Key names the result: equal keys, equal pages. It covers the HTML, the
	// sheet, the metadata, the finish and the versions of browser and packer.
	Key string

	// strict makes an error of warnings.
	strict   bool
	revision *revision
	book     *epub.Book
	// slides is how many there are, 0 in other documents; behind those of noted is a
	// page of notes.
	slides     int
	noted      map[int]bool
	preflight  preflight
	layout     layout      // of Page.HTML
	text       *typesetter // nil if it is not divisible
	footnotes  bool        // at the foot of pages
	notesMoved int         // how often some of them did not come to stand there
	background string      // of the pages, a CSS colour
	resolution int         // of pictures of the pages, in pixels to the inch
	// divisible reports that it may be printed in sections; banners are then page.banners.
	divisible bool
	banners   func(number, total string) string
	top       float64 // sheet.textTop
	mirrored  bool    // sheet.mirrored
	parts     int     // as markdown.MaxParts counts them
}

// Result is a printed document.
type Result struct {
	PDF   []byte
	Pages int
	// Warnings are those of Composed and those found while printing.
	Warnings []fault.Warning
}

// Print prints a composed document and packs the PDF. Errors: the Printer's,
// RenderFailed when it cannot be made into what was asked for, StrictFindings
// (with the Warnings).
func (c *Converter) Print(ctx context.Context, d Composed) (Result, error) {
	r, found, err := c.printed(ctx, &d)
	if err != nil {
		return Result{}, err
	}

	r.Warnings = slices.Concat(d.Warnings, found, r.Warnings)
	if d.strict && len(r.Warnings) > 0 {
		return Result{Warnings: r.Warnings}, strictFindings(r.Warnings)
	}

	return r, nil
}

// printed prints a document, in sections if that is worth it, and packs it.
func (c *Converter) printed(ctx context.Context, d *Composed) (r Result, found []fault.Warning, err error) {
	whole, err := c.printSections(ctx, d)
	if err != nil {
		return Result{}, nil, err
	}

	if whole == nil {
		return c.printWhole(ctx, d)
	}
	found = c.check(ctx, d, func() (*pdffile.File, error) { return whole, nil })

	p, err := whole.Pack(d.Meta, d.Finish)
	if err != nil {
		return Result{}, nil, unfinished(d.Finish, err)
	}

	return resultOf(p, d.Finish), found, nil
}

// printWhole prints a document in one piece, and packs it.
func (c *Converter) printWhole(ctx context.Context, d *Composed) (r Result, found []fault.Warning, err error) {
	if d.parts > markdown.MaxParts {
		return Result{}, nil, tooMuchAtOnce(d.parts, "a block, a table perhaps, is larger than 512 KB of HTML")
	}

	printed, err := c.printPage(ctx, d)
	if err != nil {
		return Result{}, nil, err
	}

	if r, err = c.pack(ctx, printed, d.Meta, d.Finish); err != nil {
		return Result{}, nil, err
	}

	found = c.check(ctx, d, func() (*pdffile.File, error) { return pdffile.Read(printed) })
	if d.slides > 0 && r.Pages > d.slides+len(d.noted) && d.Page.Sheet.PageRanges == "" {
		found = append(found, d.crowded(printed, r.Pages)...)
	}

	return r, found, nil
}

// check looks through a print for what went wrong.
func (c *Converter) check(ctx context.Context, d *Composed, read func() (*pdffile.File, error)) []fault.Warning {
	found, err := d.preflight.inspect(ctx, d.Page.HTML, read)
	if err != nil {
		c.log.WarnContext(ctx, "the print could not be checked", "error", err)
	}

	return found
}

// Pack makes the print of a page that was not composed small, gives it its title
// and makes it PDF/A of a level, nil for none. Errors: RenderFailed when it
// cannot be made into that.
func (c *Converter) Pack(
	ctx context.Context,
	printed []byte,
	title string,
	level *presswork.PDFALevel,
) (Result, error) {
	var f pdffile.Finish
	if level != nil {
		f.PDFA = string(*level)
	}

	return c.pack(ctx, printed, pdffile.Meta{Title: title}, f)
}

func (c *Converter) pack(ctx context.Context, printed []byte, m pdffile.Meta, f pdffile.Finish) (Result, error) {
	p, err := pdffile.Pack(printed, m, f)
	switch {
	case err != nil && (f.PDFA != "" || len(f.Sources) > 0 || f.Password != ""): // it is of no use without
		return Result{}, unfinished(f, err)
	case err != nil:
		// A PDF that is not as this engine writes them is still a PDF: it goes
		// out as the browser made it.
		c.log.WarnContext(ctx, "the PDF could not be packed", "error", err, "bytes", len(printed))
		p.Data = printed
		p.Missing = []string{"the PDF is not as expected"}
	}

	return resultOf(p, f), nil
}

func resultOf(p pdffile.Packed, f pdffile.Finish) Result {
	r := Result{PDF: p.Data, Pages: p.Pages}
	if f.PDFUA && len(p.Missing) > 0 {
		r.Warnings = []fault.Warning{incomplete(p.Missing)}
	}

	return r
}

// printPage prints a page, again without the notes at the foot of pages that did not
// come to stand there.
func (c *Converter) printPage(ctx context.Context, d *Composed) ([]byte, error) {
	for {
		printed, err := c.printRevised(ctx, d)
		if err != nil || !d.footnotes {
			return printed, err
		}

		moved := movedNotes(printed)
		if len(moved) == 0 {
			return printed, nil
		}
		c.endNotes(ctx, d, moved)
	}
}

// printRevised prints once, or as often as the page's own numbers need it.
func (c *Converter) printRevised(ctx context.Context, d *Composed) ([]byte, error) {
	if d.revision == nil {
		return c.printer.Print(ctx, d.Page)
	}
	var held, texts []string // of the last two prints
	reads := 0
	revision := *d.revision // what it notes of this print is not another's

	printed, err := c.printer.PrintRevised(ctx, d.Page, func(printed []byte) ([]string, error) {
		reads++
		held = texts

		var err error
		if texts, err = revision.texts(printed); err != nil {
			// Contents without numbers are better than no document.
			c.log.WarnContext(
				ctx,
				"the places of the headings could not be read from the PDF",
				"error",
				err,
				"bytes",
				len(printed),
			)
		}

		return texts, nil
	})
	if err == nil && reads > 1 && !slices.Equal(held, texts) {
		c.log.WarnContext(ctx, "some page numbers in the contents may be wrong: each print moved the headings")
	}

	return printed, err
}
