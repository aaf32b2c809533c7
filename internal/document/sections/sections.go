package sections

import (
	"context"
	"log/slog"

	"presswork/internal/chromium/printable"
)

// Plan is a document that may be printed in sections.
type Plan struct {
	// Head is the page before the end tag of its head element.
	Head Head
	// Body is the start tag of the body, Cover the cover with its end, "" for none.
	Body, Cover string
	Blocks      []Block
	// Size is that of the whole page, in bytes.
	Size int
	// Must reports that the document is too much to print at once.
	Must bool
	// Anchors are those of the headings whose pages must be known.
	Anchors []string
	Sheet   printable.Sheet
	// Prepare is the Page's.
	Prepare string
	// Mirrored means that left and right pages have different margins. Footnotes means that notes are at the foot
	// of pages, and Turns that some pages are turned.
	Mirrored, Footnotes, Turns bool
	// Top is where Chromium says that the text of a page begins, in points above the foot.
	Top float64
	// Banners returns the rules of header and footer. number and total are values of the content property for the
	// number of a page and of all pages. NoBanners has the rules without header and footer.
	Banners   func(number, total string) string
	NoBanners string
	// Number and Total are those values where all pages are printed at once. CountsPages
	// reports that some page shows how many there are, Contents that there are places for
	// page numbers.
	Number, Total         string
	CountsPages, Contents bool
	// Numbers are the texts of the places for page numbers, given the pages of the
	// anchors. Nil: there are none.
	Numbers func(pages map[string]int) []string
	// Running are the texts of all pages that header and footer show by counter styles.
	// Blank are the white pages. Nil: there are none.
	Running func(pages map[string]int, total int, blank map[int]bool) []CounterStyle
}

// Head is the beginning of a page.
type Head struct {
	// Facing are the rules of left and right pages, OtherFacing those of a print that begins
	// on a left page.
	Before, Facing, OtherFacing, Banners, After string
}

// CounterStyle is a counter style with a text for each page.
type CounterStyle struct {
	Name  string
	Texts []string
}

// Block is a topmost element of a page.
type Block struct {
	HTML string
	// Numbers are the offsets in HTML of the places for page numbers.
	Numbers []int
	// Notes are the footnotes that it holds, li elements.
	Notes []string
	// NameEnd is where its start tag takes another attribute.
	NameEnd int
	// Heading is its level if it is one, else 0.
	Heading int
	// Kinds of the block: a paragraph, a list of entries with page numbers, an a element, or a possible white page
	// before a chapter.
	Paragraph, Contents, Anchor, Leaf bool
	// PageBreak reports that it does nothing but end the page, Breaks that a page ends with
	// it, Chapter that one begins.
	PageBreak, Breaks, Chapter bool
	// MayBegin reports that it looks the same at the head of a section as at the head of a page. Neither it nor
	// its content has space above it there.
	MayBegin bool
	// Pictures reports that it is a paragraph of images, Arranged that it holds images or
	// diagrams.
	Pictures, Arranged bool
	// Unsound reports that tags in it are missing or too many.
	Unsound bool
}

// Printer prints the sections.
type Printer struct {
	// Print prints a page.
	Print func(ctx context.Context, page printable.Page) ([]byte, error)
	// Idle reports how many more pages could be printed at once.
	Idle func() int
	Log  *slog.Logger
}
