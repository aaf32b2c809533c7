// Package printable defines what a browser prints. The code that composes pages uses
// it without importing the browser.
package printable

// Page is one document that is ready for the browser: complete HTML, which loads
// nothing, and the sheet on which it is printed.
type Page struct {
	HTML  string
	Sheet Sheet
	// Prepare is a trusted JavaScript expression. The browser evaluates it in the page
	// and awaits it before printing; the page's own scripts never run. Default: none.
	Prepare string
}

// Sheet holds the print settings that are not in the HTML. The @page rule of the HTML
// has the size and the margins of the pages.
type Sheet struct {
	// Width and Height, in inches, are used for layout before the @page rule is read.
	// Default: A4.
	Width, Height float64
	// Scale is 0.1 to 2. Default: 1.
	Scale float64
	// PageRanges is a list such as "1-3,5". Default: all pages.
	PageRanges string
	// Tagged writes the structure tree, Outline the bookmarks. Bookmarks need Tagged.
	Tagged, Outline bool
}
