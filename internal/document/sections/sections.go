package sections

import (
	"context"
	"log/slog"

	"presswork/internal/chromium/printable"
)

// Plan describes a document that may be printed in sections.
type Plan struct {
	// Head is the HTML before the end tag of the head element.
	Head Head
	// Body is the start tag of the body. Cover is the HTML of the cover, or "" without one.
	Body, Cover string
	Blocks      []Block
	// Size is the size of the HTML page in bytes.
	Size int
	// Must is true if the document is too large to print at once.
	Must bool
	// Anchors are the anchors of the headings whose pages must be known.
	Anchors []string
	Sheet   printable.Sheet
	// Prepare becomes printable.Page.Prepare of sections with images or diagrams.
	Prepare string
	// Mirrored is true if left and right pages have different margins. Footnotes is true if notes are at the foot of
	// pages, Turns if some pages are turned.
	Mirrored, Footnotes, Turns bool
	// Top is the height of the first line of a page in points above its foot, as Chromium writes it for anchors.
	Top float64
	// Banners returns the rules of header and footer. number and total are values of the content property for the
	// number of a page and of all pages. NoBanners has the rules without header and footer.
	Banners   func(number, total string) string
	NoBanners string
	// Number and Total are the values of number and total for a print of all pages. CountsPages is true if some page
	// shows the number of pages, Contents if the document shows page numbers of anchors.
	Number, Total         string
	CountsPages, Contents bool
	// Numbers returns the texts for all offsets in Block.Numbers, by the pages of the anchors. It is nil if no block
	// has such offsets.
	Numbers func(pages map[string]int) []string
	// Running returns the counter styles that headers and footers use, with a text for each page. blank has the blank
	// pages. It is nil if headers and footers have no such text.
	Running func(pages map[string]int, total int, blank map[int]bool) []CounterStyle
}

// Head is the HTML of a page up to the end of its head element, in parts.
type Head struct {
	// Facing has the rules of left and right pages. OtherFacing replaces it in prints that begin on a left page.
	Before, Facing, OtherFacing, Banners, After string
}

// CounterStyle is a counter style with a text for each page.
type CounterStyle struct {
	Name  string
	Texts []string
}

// Block is a top-level element of the page.
type Block struct {
	HTML string
	// Numbers are the offsets in HTML at which page numbers are inserted.
	Numbers []int
	// Notes are its footnotes, as li elements.
	Notes []string
	// NameEnd is the offset in HTML at which the start tag takes another attribute.
	NameEnd int
	// Heading is the level of a heading, or 0.
	Heading int
	// Kinds of the block: a paragraph, a list of entries with page numbers, an a element, or a possible
	// blank page before a chapter.
	Paragraph, Contents, Anchor, Leaf bool
	// PageBreak is true if it only ends the page, Breaks if a page ends after it, Chapter if a page begins with it.
	PageBreak, Breaks, Chapter bool
	// MayBegin is true if it looks the same at the head of a section as at the head of a page. Neither it nor its
	// content has space above it there.
	MayBegin bool
	// Pictures is true if it is a paragraph of images, Arranged if it contains images or diagrams.
	Pictures, Arranged bool
	// Unsound is true if its start and end tags do not match.
	Unsound bool
}

// Printer prints the sections.
type Printer struct {
	// Print prints a page.
	Print func(ctx context.Context, page printable.Page) ([]byte, error)
	// Idle returns how many more pages can be printed at once.
	Idle func() int
	Log  *slog.Logger
}
