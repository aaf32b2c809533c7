// Package document converts Markdown documents to PDF, PNG, HTML and EPUB.
//
// A Converter works in two steps. Compose reads the front matter, settles options and theme, renders the Markdown to
// blocks, and writes the HTML of the page. Its result, a Composed, has a key for caches and a plan for the output. Make
// follows that plan. For a PDF it lets the Printer print the page, in sections if the document is long, and package
// pack adds metadata, PDF/A and encryption. For PNG it draws pictures of the PDF's pages; for HTML and EPUB it writes
// files.
//
// A print may depend on itself: the numbers in the contents, running heads and blank pages. A revision fills them in
// after a layout pass. The parts of a page have packages of their own below this one: metadata, typeset, contents,
// cover, sheet, layout, sections, merge and others.
package document

import (
	"cmp"
	"context"
	"log/slog"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"presswork"
	"presswork/internal/chromium/printable"
	"presswork/internal/document/raster"
	"presswork/internal/fault"
	"presswork/internal/markdown"
	"presswork/internal/markdown/diagram"
	"presswork/internal/recent"
	"presswork/themes"
)

// Printer prints finished pages. In production it is chromium.Browser.
type Printer interface {
	// Print returns the PDF of a page. Errors: RenderTimeout after the deadline of ctx; RenderFailed if this page cannot
	// be printed; BrowserUnavailable if a retry may succeed; otherwise the cause of ctx.
	Print(ctx context.Context, page printable.Page) ([]byte, error)
	// PrintRevised prints a page whose text depends on its own print. It passes a first print of all pages,
	// without tags, to revise. It then sets the texts of the elements with a data-fill attribute to the returned
	// texts, in document order. It prints again until revise returns the same texts, or gives up after some
	// prints. Errors: those of Print and revise.
	PrintRevised(ctx context.Context, page printable.Page,
		revise func(printed []byte) (texts []string, err error)) ([]byte, error)
	// Version names the engine and its version, for the keys of cached results.
	Version() string
}

// Options configure a Converter.
type Options struct {
	// Printer prints. Required to print; Compose only needs its Version.
	Printer Printer
	// Themes is the catalogue. Required.
	Themes *themes.Catalogue
	// Fetch downloads a remote image and enforces the address rules. Nil: remote images are
	// omitted with a warning.
	Fetch func(ctx context.Context, url string) (data []byte, contentType string, err error)
	// Diagrams draws diagrams of Mermaid, Graphviz and D2. Nil: their source is printed, with a warning.
	Diagrams *diagram.Renderer
	// Picture returns a PNG of a page of the size of its sheet, for the covers of EPUBs. Nil:
	// EPUBs have no cover.
	Picture func(ctx context.Context, page printable.Page) ([]byte, error)
	// Script runs JavaScript in a browser, for pictures of pages. Nil: the output png is rejected.
	Script raster.Script
	// Idle reports how many more pages the Printer could print at the same time. Nil: documents
	// are printed in one piece.
	Idle func() int
	// Timeout bounds the print of a document in sections; the Printer bounds that of other
	// documents. Default: none.
	Timeout time.Duration
	// FormulaTime bounds the rendering of a document's formulas. After it, the source of the remaining formulas is
	// printed, with a warning. Default: by the size of the document, at most 30 s.
	FormulaTime time.Duration
	// Now is the clock for {date}. Default: time.Now.
	Now func() time.Time
	// Epoch replaces the clock if it is not zero, also for the dates in the PDF
	// (SOURCE_DATE_EPOCH). The same document then always has the same bytes.
	Epoch time.Time
	// Log receives reports about PDFs of unexpected form. Default: discard.
	Log *slog.Logger
}

// Converter converts documents. It is safe for concurrent use.
type Converter struct {
	printer  Printer
	themes   *themes.Catalogue
	fetch    func(ctx context.Context, url string) ([]byte, string, error) // remote pictures
	now      func() time.Time
	idle     func() int    // free tabs
	timeout  time.Duration // of a document in sections
	formulas time.Duration // the time for formulas
	epoch    time.Time     // SOURCE_DATE_EPOCH, or zero
	log      *slog.Logger
	diagrams *diagram.Renderer
	picture  func(ctx context.Context, page printable.Page) ([]byte, error) // of a page, as PNG
	script   raster.Script
	markdown *markdown.Renderer
	composed *recent.Cache[Composed] // recent documents
}

// New returns a Converter.
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

// Document is a Markdown document and how to convert it.
type Document struct {
	// Content is Markdown, with its front matter.
	Content []byte
	// Theme is the name of a theme. Default: the front matter's, then themes.Default.
	Theme string
	// Options take precedence over those of the front matter.
	Options presswork.Options
	// Output is the format of the result. Default: presswork.PDF.
	Output presswork.Output
	// Owner identifies the owner of the document, "" for none. Results are cached per owner, so
	// that response times do not reveal the documents of others.
	Owner string
	// Filename is the name of the document's file. Without its extension it is the title of a document that has no other.
	Filename string
	// Path is the slash-separated path of the document, for links from its Parts.
	Path string
	// Parts are printed after the document. Default: none.
	Parts []Part
	// Asset opens an image that came with the document, by the path in its Markdown. It may be
	// called concurrently. Nil: no files came with it.
	Asset func(name string) ([]byte, error)
	// Include opens a text file that the document includes, by its clean path relative to the
	// document's folder. Nil: nothing is included.
	Include func(name string) ([]byte, error)
	// Folder is the folder of the document in a book, "." for the book's own. Include then opens the
	// files of the book, by their paths in the book. Default: it is in no book.
	Folder string
	// Page returns the relative address for a link to a document that becomes a web page next to this one. It counts
	// only for presswork.HTML. Nil: links to files lose their target.
	Page func(destination string) (address string, ok bool)
	// Place names the place of a line of Content, for warnings about a source whose lines its author does
	// not see, such as a notebook. Default: warnings have the line.
	Place func(line int) string
	// SourceLines writes the line of Content into each block of the page, as the attribute data-line. It has no effect
	// with Parts or Place.
	SourceLines bool
	// Warnings are those of the caller. They come first in the result. With the option strict, they are an error.
	Warnings []fault.Warning

	// external is set to true when the page turns out to depend on other data. Nil: not tracked.
	external *atomic.Bool
}

// Part is a document that is printed after another one, in the same file. It begins on a new
// page. Of its front matter only the title counts: it becomes the heading of a part that has
// none.
type Part struct {
	Content []byte
	// Path is its slash-separated path. Links to it from the document and from other parts lead
	// to its pages. Warnings and errors begin with the last element.
	Path string
	// Asset, Include, Folder and Place are as in Document.
	Asset, Include func(name string) ([]byte, error)
	Folder         string
	Place          func(line int) string
	// Title is the heading of a part that has no other. Default: the title of its front matter.
	Title string
	// BookPart is true if its heading begins a part of a book. The heading then has no number.
	BookPart bool
	// Shift lowers its headings by this number of levels.
	Shift int
	// Appendix begins the appendix: chapters have letters from here on.
	Appendix bool
}

// FromFolder sets the Path, Asset and Include of a document in a folder, and adds its parts from that folder. name is
// the document's path in the folder, and parts are those of its parts. A name of "" stands for a document without a
// file, in the folder itself. open reads a file by its path in the folder. Relative references start at the file that
// holds them, and rooted ones at the folder. Notebooks become Markdown. Errors: those of open and of notebook.Convert.
func (d *Document) FromFolder(name string, parts []string, open func(name string) ([]byte, error)) error {
	d.Path = name
	d.Asset = openFrom(path.Dir(name), open)
	d.Include = d.Asset

	for _, name := range parts {
		content, err := open(name)
		if err != nil {
			return err
		}
		p := Part{Content: content, Path: name, Asset: openFrom(path.Dir(name), open)}
		p.Include = p.Asset
		d.Parts = append(d.Parts, p)
	}

	return d.readNotebooks()
}

// openFrom returns a function that opens files relative to dir.
func openFrom(dir string, open func(string) ([]byte, error)) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		if rooted, ok := strings.CutPrefix(name, "/"); ok {
			return open(rooted)
		}

		return open(path.Join(dir, name))
	}
}

// Text returns the Markdown of the document and its parts.
func (d Document) Text() []byte {
	if len(d.Parts) == 0 {
		return d.Content
	}

	texts := [][]byte{d.Content}
	for _, p := range d.Parts {
		texts = append(texts, []byte("\n\n"), p.Content)
	}

	return slices.Concat(texts...)
}
