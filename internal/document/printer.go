package document

import (
	"context"

	"presswork/internal/chromium/printable"
)

// Printer turns a finished page into PDF bytes. chromium.Browser is the one in
// production; it knows this package only by these methods.
type Printer interface {
	// Print returns the PDF. Errors: RenderTimeout when ctx's deadline passed,
	// RenderFailed when this page cannot be printed, BrowserUnavailable when
	// the browser broke and another try may heal it, ctx's own cause otherwise.
	Print(ctx context.Context, page printable.Page) ([]byte, error)
	// PrintRevised prints a page whose text depends on its own print: it hands
	// a first print, untagged and of all pages, to revise, sets the texts of
	// the page's elements with a data-fill attribute to those returned, in
	// document order, and prints again until revise returns the same texts or
	// it gives up. Errors: Print's and revise's.
	PrintRevised(
		ctx context.Context,
		page printable.Page,
		revise func(printed []byte) (texts []string, err error),
	) ([]byte, error)
	// Version names the engine and its version; it is part of the render
	// cache's key.
	Version() string
}
