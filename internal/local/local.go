// Package local is the converter of the command line. It reads and writes files with the engine of the workers,
// but without their queue.
//
// [Plan] decides where the results of the inputs go. A [Converter] reads an [Input] with its images and includes
// and chooses a theme if that is requested. It then composes and prints the document, and writes the result. [Await]
// waits for a change of the files that were read, which an [Output] lists as its Sources.
package local

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"presswork"
	"presswork/internal/analysis/recommend"
	"presswork/internal/chromium"
	"presswork/internal/chromium/printable"
	"presswork/internal/document"
	"presswork/internal/fault"
	"presswork/internal/markdown/diagram"
	"presswork/themes"
)

// Std means standard input for an input and standard output for an output.
const Std = "-"

// Options configures a Converter.
type Options struct {
	// ThemesDir is the folder of custom themes. Default: none.
	ThemesDir string
	// Allow lists further folders from which a document may show images. Default: only its own folder.
	Allow []string
	// Roots are the only folders, with all below them, from which files are read and to which results are written.
	// Relative paths start at the first. Default: every folder, and paths start at the working directory.
	Roots []string
	// Output is the format of the results. HTML needs a browser only for diagrams. Default: presswork.PDF.
	Output presswork.Output
	// Jobs is the number of documents that are printed at a time. Default 1.
	Jobs int
	// Timeout bounds one document. Default 120 s.
	Timeout time.Duration
	// Browser is the program that prints. Default: the first one found.
	Browser string
	// Fetch downloads a remote image and enforces the address rules. Nil: remote images are omitted with a
	// warning.
	Fetch func(ctx context.Context, url string) (data []byte, contentType string, err error)
	// Epoch, if not zero, replaces the clock, so that the same document gives the same bytes. Default: the current
	// time.
	Epoch time.Time
	// Stdin and Stdout are used for Std. Default: os.Stdin and os.Stdout.
	Stdin  io.Reader
	Stdout io.Writer
	// Recommender chooses the theme for themes.Auto. Default: one without a cache.
	Recommender *recommend.Recommender
	// Preference is for documents whose theme is chosen.
	Preference recommend.Preference
	// Progress is called for each step of each input, from several goroutines. Default: no call.
	Progress func(input string, stage presswork.Stage)
	// Page is called with the page of each input, as HTML for a browser, before the page is printed. Default: no
	// call.
	Page func(input, html string)
	// Log gets messages other than warnings about a document. Default: discard.
	Log *slog.Logger
}

// Converter converts files. It is safe for concurrent use between Start and Close, except for Reload.
type Converter struct {
	o         Options
	browser   *chromium.Browser // nil for HTML until a diagram is drawn
	launch    sync.Mutex        // guards browser for HTML
	diagrams  *diagram.Renderer
	allowed   []allowedDir // of Options.Allow
	roots     []allowedDir // of Options.Roots
	catalogue *themes.Catalogue
	engine    *document.Converter
}

// New returns a Converter. It starts nothing.
func New(o Options) *Converter {
	o.Jobs = max(o.Jobs, 1)
	o.Output = cmp.Or(o.Output, presswork.PDF)
	o.Timeout = cmp.Or(o.Timeout, 120*time.Second)
	o.Stdin = cmp.Or[io.Reader](o.Stdin, os.Stdin)
	o.Stdout = cmp.Or[io.Writer](o.Stdout, os.Stdout)

	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Recommender == nil {
		o.Recommender = recommend.New(recommend.Options{Log: o.Log})
	}

	if o.Progress == nil {
		o.Progress = func(string, presswork.Stage) {}
	}

	c := &Converter{o: o}
	if o.Output != presswork.HTML {
		c.browser = newBrowser(o)
	}
	c.diagrams = diagram.New(diagram.Options{Script: c.script, Log: o.Log})

	return c
}

// Start launches the browser and reads the themes at the same time. Errors: chromium.ErrNotFound, InvalidOption
// for a folder of Allow or Roots that cannot be opened, those of chromium.Browser.
func (c *Converter) Start(ctx context.Context) error {
	for _, dir := range c.o.Allow {
		a, err := openDir(dir)
		if err != nil {
			return errors.Join(fault.Errorf(fault.InvalidOption, "--allow %s: %s", dir, reason(err)), c.closeDirs())
		}
		c.allowed = append(c.allowed, a)
	}

	if err := c.openRoots(); err != nil {
		return errors.Join(err, c.closeDirs())
	}

	if c.browser != nil {
		// This check reports a missing browser once instead of for each document.
		if _, err := chromium.Find(c.o.Browser); err != nil {
			return errors.Join(err, c.closeDirs())
		}

		if err := c.browser.Start(ctx); err != nil {
			return errors.Join(err, c.closeDirs())
		}
	}
	c.Reload()

	return nil
}

// Reload reads the themes again. No conversion may run at the same time.
func (c *Converter) Reload() {
	catalogue := themes.Open(themes.Options{Dir: c.o.ThemesDir, Log: c.o.Log})

	o := document.Options{Themes: catalogue, Fetch: c.o.Fetch, Epoch: c.o.Epoch, Diagrams: c.diagrams, Log: c.o.Log}
	if c.o.Output != presswork.HTML {
		o.Printer, o.Idle = printer{c.browser}, c.browser.Idle
		o.Picture, o.Script = c.picture, c.script
	}
	c.catalogue, c.engine = catalogue, document.New(o)
}

// CheckTheme returns an error unless the name is that of a theme or themes.Auto. Errors: ThemeNotFound.
func (c *Converter) CheckTheme(name string) error {
	_, _, err := c.catalogue.Resolve(name, "")
	return err
}

// Close ends the browser. No conversion may run at the same time. A second call does nothing. Errors: those of
// closing folders and of ending the browser.
func (c *Converter) Close() error {
	err := c.closeDirs()
	if c.browser != nil {
		err = errors.Join(err, c.browser.Kill())
	}

	return err
}

// closeDirs closes the folders from which files may be read.
func (c *Converter) closeDirs() error {
	var errs []error
	for _, a := range slices.Concat(c.allowed, c.roots) {
		errs = append(errs, a.root.Close())
	}
	c.allowed, c.roots = nil, nil

	return errors.Join(errs...)
}

// printer is the browser without its version, which only caches need: asking for it would make Compose wait for
// the launch.
type printer struct{ browser *chromium.Browser }

// Print implements document.Printer.
func (p printer) Print(ctx context.Context, page printable.Page) ([]byte, error) {
	return p.browser.Print(ctx, page)
}

// PrintRevised implements document.Printer.
func (p printer) PrintRevised(
	ctx context.Context, page printable.Page, revise func(printed []byte) ([]string, error),
) ([]byte, error) {
	return p.browser.PrintRevised(ctx, page, revise)
}

// Version returns no version: there is no cache to key by it.
func (p printer) Version() string { return "" }
