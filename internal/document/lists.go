package document

import (
	"slices"
	"strings"

	"presswork"
	"presswork/internal/document/contents"
	"presswork/internal/markdown"
	"presswork/internal/markdown/block"
	"presswork/internal/markdown/ext/bookindex"
	"presswork/internal/markdown/ext/direction"
)

// listKinds returns the kinds that have a list, in the order of the lists.
func listKinds() []markdown.Kind {
	return []markdown.Kind{markdown.Figure, markdown.Table, markdown.Listing}
}

// listed reports whether the options ask for the list of a kind.
func listed(o presswork.Options, kind markdown.Kind) bool {
	return isTrue(map[markdown.Kind]*bool{markdown.Figure: o.LOF, markdown.Table: o.LOT, markdown.Listing: o.LOL}[kind])
}

// numberedKinds returns the kinds of which all elements with a caption are numbered.
func numberedKinds(o presswork.Options) []markdown.Kind {
	var kinds []markdown.Kind

	for _, kind := range listKinds() {
		if o.Numbering != "" || listed(o, kind) {
			kinds = append(kinds, kind)
		}
	}

	return kinds
}

// listsOf returns the lists of figures, tables and listings. Lists with a place in the document come first. Those
// that only the options request follow and go before the text.
func listsOf(
	d markdown.Document,
	o presswork.Options,
	lang string,
	paper bool,
) (placed contents.Pieces, before []contents.Piece) {
	placed = contents.Pieces{}

	for _, kind := range listKinds() {
		list := contents.Captions(d.Captions, kind, lang, paper)
		if class := markdown.ListPlace(kind); contents.HasPlace(d.Blocks, class) {
			placed[class] = list
		} else if listed(o, kind) {
			before = append(before, list...)
		}
	}

	return placed, before
}

// placeContents inserts the table of contents and, after it, the lists. The contents go where the source has them.
// Otherwise they go after the cover, on pages of their own if they have several entries, and below the title if there
// is no cover. p gets the pieces for the places; lists are those that only the options request.
func placeContents(
	blocks []block.Block,
	entries []markdown.Heading,
	p contents.Pieces,
	lists []contents.Piece,
	lang string,
	cover bool,
	form contents.Form,
) []block.Block {
	const fewEntries = 1 // a page of their own would be almost empty

	here := markdown.ListPlace("")
	list := lists
	first := ""

	if len(entries) > 0 {
		asked := contents.HasPlace(blocks, here)
		form.OwnPage = cover && !asked && len(entries) > fewEntries

		list, first = append(contents.List(entries, blocks, lang, form), lists...), entries[0].ID
		if asked {
			p[here] = list
			return blocks
		}
	}
	p[here] = nil

	if len(list) == 0 {
		return blocks
	}
	const before = "before-text" // no document can name it

	p[before] = list
	if len(blocks) > 0 && !list[0].OwnPage && isTitle(blocks[0]) && (first == "" || blocks[0].ID != first) {
		return underTitle(blocks, place(before))
	}

	return append([]block.Block{place(before)}, blocks...)
}

// place returns a block that a generated piece replaces.
func place(class string) block.Block {
	return block.Block{Kind: block.Place, Classes: []string{class}, Rich: true}
}

// isTitle reports whether a block is a heading of level 1 on lines of its own.
func isTitle(b block.Block) bool {
	return b.Kind == block.Heading && b.Level == 1 && b.Closed && strings.HasPrefix(b.After(), "\n")
}

// underTitle inserts blocks after the title, which is the first block.
func underTitle(blocks []block.Block, more ...block.Block) []block.Block {
	title := blocks[0]
	space := title.After()[len("\n"):]
	title.HTML = title.HTML[:len(title.HTML)-len(space)]

	placed := append([]block.Block{title}, more...)
	if space != "" {
		placed = append(placed, block.Block{HTML: space})
	}

	return append(placed, blocks[1:]...)
}

// refersRightToLeft reports whether some entry refers to a term that is read from right to left.
func refersRightToLeft(entries []bookindex.Entry) bool {
	return slices.ContainsFunc(entries, func(e bookindex.Entry) bool { return direction.HasRTL(e.See) })
}
