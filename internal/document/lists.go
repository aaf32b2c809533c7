package document

import (
	"html"
	"net/url"

	"presswork"
	"presswork/internal/document/markup"
	"presswork/internal/markdown"
	"presswork/internal/markdown/block"
)

// listKinds are the kinds that have a list, in the order in which the lists stand.
func listKinds() []markdown.Kind {
	return []markdown.Kind{markdown.Figure, markdown.Table, markdown.Listing}
}

// listed reports whether the options ask for the list of a kind.
func listed(o presswork.Options, kind markdown.Kind) bool {
	return isTrue(map[markdown.Kind]*bool{markdown.Figure: o.LOF, markdown.Table: o.LOT, markdown.Listing: o.LOL}[kind])
}

// numberedKinds are those of which all elements with a caption are numbered.
func numberedKinds(o presswork.Options) []markdown.Kind {
	var kinds []markdown.Kind

	for _, kind := range listKinds() {
		if o.Numbering != "" || listed(o, kind) {
			kinds = append(kinds, kind)
		}
	}

	return kinds
}

// listsOf are the lists of figures, tables and listings: those that have a place in the
// document, and those that only the options ask for, which stand before the text.
func listsOf(d markdown.Document, o presswork.Options, lang string, paper bool) (placed pieces, before []made) {
	placed = pieces{}

	for _, kind := range listKinds() {
		list := listOf(d.Captions, kind, lang, paper)
		if class := markdown.ListPlace(kind); hasPlace(d.Blocks, class) {
			placed[class] = list
		} else if listed(o, kind) {
			before = append(before, list...)
		}
	}

	return placed, before
}

// hasPlace reports whether blocks hold a place for made pieces.
func hasPlace(blocks []block.Block, class string) bool {
	found := false
	block.Walk(blocks, func(b *block.Block) { found = found || b.Kind == block.Place && b.Classes[0] == class })

	return found
}

// listOf is the list of a kind, none without entries. It looks like the table of contents.
func listOf(captions []markdown.Caption, kind markdown.Kind, lang string, paper bool) []made {
	var w contentsWriter

	title := markdown.ListTitle(kind, lang)
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

	return []made{w.made()}
}

// contentsWriter writes entries that end with the number of a page.
type contentsWriter struct {
	out markup.Writer
	m   made
}

// entry begins the item of an entry. On paper it has a box of fixed width, into which the page
// number is filled after the first print, so that it moves nothing. The text is HTML.
func (w *contentsWriter) entry(id, number, text string, paper bool) {
	w.out.Open("li").Open("a", "href", "#"+url.PathEscape(id))

	if number != "" {
		w.out.Element("span", number, "class", "toc-number")
	}
	w.out.Raw(`<span class="toc-text">` + text + `</span>`)

	if paper {
		w.out.Raw(`<span class="toc-leader"></span><span class="toc-page" data-fill>`)
		w.number(pageOf{anchor: id})
		w.out.Raw("</span>")
	}
	w.out.Raw("</a>")
}

// number notes that the number of a page is to be filled in here.
func (w *contentsWriter) number(of pageOf) {
	w.m.numbers = append(w.m.numbers, w.out.Len())
	w.m.pages = append(w.m.pages, of)
}

func (w *contentsWriter) made() made {
	w.m.html = w.out.String()
	return w.m
}

// pageOf is an element that the page number of an anchor goes into.
type pageOf struct {
	anchor string
	// indexed reports whether it is a place in the index, begins whether it is the
	// first of an entry.
	indexed, begins bool
}
