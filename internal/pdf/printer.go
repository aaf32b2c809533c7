package pdf

import (
	"context"

	"presswork"
)

// Printer turns a finished page into PDF bytes. chromium.Browser is the one in
// production; it knows this package only by this method.
type Printer interface {
	// Print returns the PDF. Errors: RenderTimeout when ctx's deadline passed,
	// RenderFailed when this page cannot be printed, BrowserUnavailable when
	// the browser broke and another try may heal it, ctx's own cause otherwise.
	Print(ctx context.Context, page presswork.Page) ([]byte, error)
	// Version names the engine and its version; it is part of the render
	// cache's key.
	Version() string
}
