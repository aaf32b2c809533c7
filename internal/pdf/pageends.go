package pdf

import (
	"context"
	"errors"
	"fmt"
	"html"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"presswork/internal/pdf/file"
)

// leastDrafted is the size of HTML, in bytes, of a document whose sections are found by
// drafts: some 300 pages. The drafts take half as long as the prints, so with fewer
// sections than four there is nothing to gain.
const leastDrafted = 512 << 10

// mostPlaces bounds the blocks of which a draft tells the place: Chromium looks for each
// on every page.
const mostPlaces = 100

// cutPrefix begins the id, in a draft, of a block that may begin a section.
const cutPrefix = "presswork-cut:"

// errNoPageEnd is that of a document whose first pages all begin within a block, a long
// list perhaps.
var errNoPageEnd = fmt.Errorf("no page begins with a block: %w", errUndivided)

// nextSection makes the next section of a document, nil when there is none left. Where
// no page ends in any case it is a draft of its pages that tells where it does, while
// others print the sections before it; all the rest where it tells of none. Errors: the
// Printer's, errUndivided, errNoPageEnd.
func (c *Converter) nextSection(ctx context.Context, d *division) (*section, error) {
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
		size += len(d.blocks[to].html)
	}
	rest := size
	for _, b := range d.blocks[to:] {
		rest += len(b.html)
	}
	if rest < leastSection*3/2 {
		return d.add(from, end), nil // sooner printed than found out about
	}
	at, pages, places, err := c.lastPageEnd(ctx, d, from, to)
	if err != nil {
		return nil, err
	}
	if at == 0 && from == 0 {
		return nil, errNoPageEnd
	}
	if at == 0 {
		return d.add(from, end), nil
	}
	s := d.add(from, at)
	s.wanted = pages
	if d.ranges != nil { // all that must be known of it if it is not asked for
		s.pages, s.places = pages, map[string]int{}
		for id, place := range places {
			if place.Page <= pages {
				s.places[id] = place.Page
			}
		}
	}
	return s, nil
}

// lastPageEnd prints a draft of some blocks, the first of which begins a page. It returns
// the last block, 0 if there is none, that begins a page, too, and may begin a section,
// how many pages are before that, and the places of anchors. The draft has no tags and shows nothing, so it
// takes half of what the print does.
func (c *Converter) lastPageEnd(ctx context.Context, d *division, from, to int) (at, pages int, places map[string]file.Place, err error) {
	draft := newSection(d.blocks, from, to)
	draft.blocks, draft.draft = slices.Clone(draft.blocks), true
	var links strings.Builder
	var asked []int
	for n := to - 1; n > from && len(asked) < mostPlaces; n-- {
		if !d.mayBegin(n) {
			continue
		}
		asked = append(asked, n)
		id := cutPrefix + strconv.Itoa(n)
		tag := strings.IndexAny(d.blocks[n].html, " >")
		// Of two ids of an element the first counts.
		draft.blocks[n-from].html = d.blocks[n].html[:tag] + ` id="` + id + `"` + d.blocks[n].html[tag:]
		links.WriteString(`<a href="#` + html.EscapeString(url.PathEscape(id)) + `"></a>`)
	}
	page := d.page(draft)
	page.HTML = strings.Replace(page.HTML, "</head>", "<style>main{visibility:hidden}</style></head>", 1)
	page.HTML = strings.Replace(page.HTML, "<nav hidden>", "<nav hidden>"+links.String(), 1)
	printed, err := c.printer.Print(ctx, page)
	if err != nil {
		return 0, 0, nil, err
	}
	var last int
	f, err := file.Read(printed)
	if err == nil {
		last, err = f.Pages()
	}
	if err == nil {
		places, err = f.Places()
	}
	if err != nil {
		return 0, 0, nil, errors.Join(errUndivided, err)
	}
	for _, n := range asked {
		const tolerance = 1 // point
		// What begins the last page may have room on the one before, with what follows.
		place, ok := places[cutPrefix+strconv.Itoa(n)]
		if ok && place.Page > 1 && place.Page < last && math.Abs(place.Top-d.top) < tolerance {
			return n, place.Page - 1, places, nil
		}
	}
	return 0, 0, nil, nil
}

// mayBegin reports whether a block looks the same at the head of a section as at the
// head of a page: neither has it space above it there, nor has anything within it, and
// no rule asks what comes before it but those that section.follows is for.
func (d *division) mayBegin(n int) bool {
	b, before := d.blocks[n], d.blocks[n-1]
	tag, _, _ := strings.Cut(b.html, ">")
	switch {
	case strings.HasPrefix(before.html, "<a "): // an anchor of this one
		return false
	case b.paragraph():
		return !strings.Contains(tag, `="`) && !strings.Contains(tag, "data-pictures") &&
			before.heading == 0 && !strings.HasPrefix(before.html, "<p data-pictures")
	}
	return b.heading > 0 || strings.HasPrefix(tag, "<table") || strings.HasPrefix(tag, "<pre")
}
