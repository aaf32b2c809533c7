package sections

import (
	"context"
	"errors"
	"html"
	"math"
	"net/url"
	"slices"
	"strconv"

	"presswork/internal/pdffile"
)

// leastLaidOut is the size of HTML, in bytes, from which layout passes find the sections of a document: about 300
// pages. The passes take half as long as the prints, so with fewer than four sections there is nothing to gain.
const leastLaidOut = 512 << 10

// maxPlaces bounds the blocks whose places a layout pass reports, because Chromium looks for each of them on every
// page.
const maxPlaces = 100

// cutPrefix begins the id, in a layout pass, of a block that may begin a section.
const cutPrefix = "presswork-cut:"

// nextSection returns the next section of a document, or nil at its end. Where the document has no forced page
// breaks, a layout pass finds a page end while other passes print the sections before it. If it finds none, the
// section has the rest of the document. Errors: those of the Printer, and of a document whose first pages all
// begin within a block, such as a long list.
func (d *division) nextSection(ctx context.Context) (*section, error) {
	d.finding.Lock()
	defer d.finding.Unlock()

	from, end := 0, len(d.blocks)
	if n := len(d.sections); n > 0 {
		from = d.sections[n-1].from + len(d.sections[n-1].blocks)
	}

	switch n := len(d.sections) + 1; {
	case from == end || d.reached():
		return nil, nil
	case n < len(d.starts):
		return d.add(from, d.starts[n]), nil
	case len(d.starts) > 1:
		return d.add(from, end), nil
	}

	to, size := from, 0
	for ; to < end && size < leastSection; to++ {
		size += len(d.blocks[to].HTML)
	}

	rest := size
	for _, b := range d.blocks[to:] {
		rest += len(b.HTML)
	}

	if rest < leastSection*3/2 {
		return d.add(from, end), nil // a layout pass would take longer than it saves
	}

	at, pages, places, err := d.lastPageEnd(ctx, from, to)
	if err != nil {
		return nil, err
	}

	if at == 0 && from == 0 {
		return nil, errors.New("no page begins with a block")
	}

	if at == 0 {
		return d.add(from, end), nil
	}
	s := d.add(from, at)

	s.wanted = pages
	if d.ranges != nil { // if none of its pages is requested, it is not printed, and this is all that is known of it
		s.pages, s.places = pages, map[string]int{}
		for id, place := range places {
			if place.Page <= pages {
				s.places[id] = place.Page
			}
		}
	}

	return s, nil
}

// lastPageEnd lays out some blocks, the first of which begins a page. It returns the last block that also begins a
// page and may begin a section, or 0. It also returns the number of pages before that block and the places of
// anchors. The layout has no tags and no visible text, so it takes half the time of the print.
func (d *division) lastPageEnd(ctx context.Context,
	from, to int,
) (at, pages int, places map[string]pdffile.Place, err error) {
	layout := newSection(d.blocks, from, to)
	layout.blocks, layout.untagged = slices.Clone(layout.blocks), true

	var candidates []int // blocks that may begin the next section, the last first
	for n := to - 1; n > from && len(candidates) < maxPlaces; n-- {
		if !d.mayBegin(n) {
			continue
		}
		candidates = append(candidates, n)
		id := cutPrefix + strconv.Itoa(n)
		at := d.blocks[n].NameEnd
		// Of two ids of an element the first counts.
		layout.blocks[n-from].HTML = d.blocks[n].HTML[:at] + ` id="` + id + `"` + d.blocks[n].HTML[at:]
		layout.placeLinks += `<a href="#` + html.EscapeString(url.PathEscape(id)) + `"></a>`
	}

	printed, err := d.print(ctx, d.page(layout))
	if err != nil {
		return 0, 0, nil, err
	}
	var last int

	f, err := pdffile.Read(printed)
	if err == nil {
		last, err = f.Pages()
	}

	if err == nil {
		places, err = f.Places()
	}

	if err != nil {
		return 0, 0, nil, err
	}

	for _, n := range candidates {
		const tolerance = 1 // point
		// The first block of the last page may fit on the page before, together with the following blocks.
		place, ok := places[cutPrefix+strconv.Itoa(n)]
		if ok && place.Page > 1 && place.Page < last && math.Abs(place.Top-d.Top) < tolerance {
			return n, place.Page - 1, places, nil
		}
	}

	return 0, 0, nil, nil
}

// mayBegin reports whether a block looks the same at the head of a section as at the head of a page. That is so
// unless a rule selects it by the block before it; section.follows handles the known rules of this kind.
func (d *division) mayBegin(n int) bool {
	b, before := d.blocks[n], d.blocks[n-1]
	if before.Anchor || !b.MayBegin { // the anchor may be this block's
		return false
	}

	return !b.Paragraph || before.Heading == 0 && !before.Pictures
}
