package contents

import (
	"html"
	"net/url"

	"presswork/internal/document/markup"
	"presswork/internal/markdown"
	"presswork/internal/markdown/block"
	"presswork/internal/markdown/label"
)

// HasPlace reports whether the blocks contain a place for pieces with this class.
func HasPlace(blocks []block.Block, class string) bool {
	found := false
	block.Walk(blocks, func(b *block.Block) { found = found || b.Kind == block.Place && b.Classes[0] == class })

	return found
}

// Captions returns the list of figures, tables or listings, or nil if there are none. It looks like the table of
// contents. paper is true if entries have page numbers.
func Captions(captions []markdown.Caption, kind markdown.Kind, lang string, paper bool) []Piece {
	var w writer

	title := label.WordsOf(lang).Lists[kind]
	for _, c := range captions {
		if c.Kind != kind {
			continue
		}

		if w.out.Len() == 0 {
			w.out.Open("nav", "class", "toc toc-list", "aria-label", title).Raw("\n")
			w.out.Line("p", title, "class", "toc-title").Raw("<ul>\n")
		}
		w.entry(c.ID, c.Number, html.EscapeString(c.Text), paper)
		w.out.Raw("</li>\n")
	}

	if w.out.Len() == 0 {
		return nil
	}
	w.out.Raw("</ul>\n</nav>\n")

	return []Piece{w.done()}
}

// Piece is a part of a page that this package has written.
type Piece struct {
	HTML string
	// Numbers are the offsets in HTML, in bytes, at which page numbers are inserted. Pages has the anchor for each of
	// them.
	Numbers []int
	Pages   []PageOf
	// OwnPage is true if a page ends after it.
	OwnPage bool
}

// Pieces are the pieces for each place, by its class.
type Pieces map[string][]Piece

// writer writes entries that end with the number of a page.
type writer struct {
	out   markup.Writer
	piece Piece
}

// entry begins the item of an entry; the caller ends it. On paper it has a box of fixed width for the page number, so
// that filling it in after the layout pass moves nothing. text is HTML.
func (w *writer) entry(id, number, text string, paper bool) {
	w.out.Open("li").Open("a", "href", "#"+url.PathEscape(id))

	if number != "" {
		w.out.Element("span", number, "class", "toc-number")
	}
	w.out.Raw(`<span class="toc-text">` + text + `</span>`)

	if paper {
		w.out.Raw(`<span class="toc-leader"></span><span class="toc-page" data-fill>`)
		w.number(PageOf{Anchor: id})
		w.out.Raw("</span>")
	}
	w.out.Raw("</a>")
}

// number records that a page number is inserted at the end of what has been written.
func (w *writer) number(of PageOf) {
	w.piece.Numbers = append(w.piece.Numbers, w.out.Len())
	w.piece.Pages = append(w.piece.Pages, of)
}

// done returns the piece that was written.
func (w *writer) done() Piece {
	w.piece.HTML = w.out.String()
	return w.piece
}
