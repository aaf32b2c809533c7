package pdf

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"presswork"
	"presswork/internal/markdown"
	"presswork/internal/pdf/file"
)

const (
	// leastSection is the size of HTML, in bytes, that is worth a print of its own:
	// some 75 pages of short sections.
	leastSection = 128 << 10
	// usualSection is that of a document that must be divided where no page ends in
	// any case. What a page takes grows with the number of pages before it.
	usualSection = 512 << 10
	// leastChapter is that of chapters on the right, on average, that are worth a print each.
	leastChapter = 8 << 10
	// longContents is the size of HTML of contents that are worth a section of their own,
	// as their section is printed again when the places of all headings are known: some
	// four pages.
	longContents = 32 << 10
	// fewPages are so few, in page ranges, that drafts of all the others take less time
	// than one print.
	fewPages = 100
	// maxDivided bounds what a document in sections is made of, in parts as
	// markdown.MaxParts counts them. 8000 pages of short sections have 620 000.
	maxDivided = 1_000_000
)

// division is a document cut into sections, between blocks. A document that can be
// printed at once is only cut where a page ends in any case, so nothing shows it.
// One of more parts than that is cut before headings, too: these begin a page.
type division struct {
	// head is the page up to its stylesheets' end, body the start tag of the body.
	head, body, cover string
	prepare           string
	sheet             presswork.Sheet
	// mirrored reports that left pages have other margins than right ones.
	mirrored bool
	blocks   []block
	// notes are the footnotes that stand at the foot of pages.
	notes []block
	// headings are those whose pages must be known.
	headings []markdown.Heading
	// ranges are the pages asked for, nil for all. With whole, they show what takes all
	// pages to be known.
	ranges [][2]int
	whole  bool
	// starts are the blocks that sections begin with, one alone where drafts tell the
	// others.
	starts   []int
	sections []*section
	// exists are the anchors, linked those that something links to; noteOf is which
	// note has an anchor.
	exists, linked map[string]bool
	noteOf         map[string]int

	// finding is held while the end of the next section is found, by a draft.
	finding sync.Mutex
	top     float64 // Composed's
}

// section is some of the blocks on their way into the whole.
type section struct {
	from   int // of the division's blocks
	blocks []block
	notes  []int // of the division's
	// opens reports that it begins with a heading that keeps the space above it: only
	// what is behind a break has none, or the first of all elements.
	opens bool
	// follows reports that it begins with a paragraph that comes after another one, for
	// the rules about that.
	follows bool
	// at is the page that it begins on, white reports that a white one is before it, and
	// left that it was printed to begin on a left one.
	at          int
	white, left bool
	// first is the number of its first place for a text, held are the texts in them.
	first int
	held  []string
	// ids and links are those of the blocks and the notes.
	ids, links map[string]bool

	// wanted is how many pages it has in the whole, 0 where it decides that.
	wanted int
	// draft reports that it was printed without tags, because it will be again.
	draft bool
	file  *file.File
	// ranges are those of its pages that are printed, "" for all.
	ranges string
	places map[string]int // pages of the anchors, from 1
	pages  int
}

// divisible reports whether a document could be printed in sections: no rule may
// count its pages or blocks, or a page be without header or footer.
func (c *Converter) divisible(o presswork.Options, p page) bool {
	return c.idle != nil && ownSheets(o, p.theme) &&
		!strings.Contains(p.body, `no-header`) && !strings.Contains(p.body, `no-footer`)
}

func tooMuchAtOnce(parts int, why string) *presswork.Error {
	return presswork.Errorf(presswork.ContentTooComplex, "the document is too much to print at once: it has %d parts; at most %d are allowed where %s",
		parts, markdown.MaxParts, why)
}

// placeForText is how an element ends that a text is filled into.
const placeForText = " data-fill></"

// divide tells where to cut a document into sections; nil if that is not worth it.
func divide(composed Composed) *division {
	must := composed.parts > markdown.MaxParts
	if !must && len(composed.Page.HTML) < 2*leastSection {
		return nil
	}
	p := composed.Page
	d := &division{sheet: p.Sheet, mirrored: composed.mirrored, prepare: p.Prepare, top: composed.top}
	var rest string
	d.head, rest, _ = strings.Cut(p.HTML, "</head>\n")
	d.body, rest, _ = strings.Cut(rest, "\n")
	before, rest, _ := strings.Cut(rest, "<main>\n")
	d.cover, _, _ = strings.Cut(before, "<nav hidden>")
	d.blocks = cutBlocks(strings.TrimSuffix(rest, "</main>\n</body>\n</html>\n"))
	if r := composed.revision; r != nil && len(r.leaves) > 0 {
		for i, b := range d.blocks {
			d.blocks[i].leaf = strings.HasPrefix(b.html, `<div class="leaf" id="`) && slices.ContainsFunc(r.leaves, func(l leaf) bool { return l.id == b.ids[0] })
		}
	}
	if composed.footnotes {
		d.takeNotes()
	}
	if r := composed.revision; r != nil {
		d.headings = slices.Concat(r.chapters, r.sections)
	}
	if p.Sheet.PageRanges != "" {
		d.whole = composed.revision != nil && len(composed.revision.contents) > 0 || strings.Contains(composed.banners(thisPage, allPages), allPages)
		d.sheet.PageRanges = ""
		asked := 0
		for text := range strings.SplitSeq(p.Sheet.PageRanges, ",") {
			first, last, isRange := strings.Cut(text, "-")
			if !isRange {
				last = first
			}
			from, _ := strconv.Atoi(first) // sheetOf has read them
			to, _ := strconv.Atoi(last)
			d.ranges = append(d.ranges, [2]int{from, to})
			asked += to - from + 1
		}
		if !must && asked > fewPages {
			return nil
		}
	}
	d.link()
	d.starts = starts(d.blocks, must)
	switch {
	case !must && slices.ContainsFunc(d.blocks, func(b block) bool { return b.leaf }) && len(d.starts)*leastChapter > len(rest):
		return nil
	case len(d.starts) > 1 && !(must && slices.ContainsFunc(d.blocks, func(b block) bool { return len(b.html) > usualSection && !contents(b) })):
		return d // else a block may be as much as a document that is printed at once
	case !must && len(rest) >= leastDrafted && !composed.footnotes && !strings.Contains(d.body, "turns") &&
		!slices.ContainsFunc(d.blocks, func(b block) bool { return b.unsound }):
		// With notes at the foot of pages a draft takes as long as the print. Where there
		// are turned pages, Chromium may shrink all that is printed with them.
		return d
	}
	return nil
}

// add makes a section of the blocks behind those of the last one.
func (d *division) add(from, to int) *section {
	s := newSection(d.blocks, from, to)
	if from > 0 {
		last := d.sections[len(d.sections)-1]
		s.first = last.first + len(last.held)
		// Where it is not known, the print shows it.
		s.left = d.mirrored && last.left != (last.wanted%2 == 1)
	}
	d.linkSection(s)
	d.sections = append(d.sections, s)
	return s
}

// newSection is a section of some blocks.
func newSection(blocks []block, from, to int) *section {
	s := &section{from: from, blocks: blocks[from:to]}
	if from > 0 {
		first, before := blocks[from], blocks[from-1]
		s.opens = first.chapter && !before.breaks
		s.follows = first.paragraph() && before.paragraph()
	}
	places := 0
	for _, b := range s.blocks {
		places += strings.Count(b.html, placeForText)
	}
	s.held = make([]string, places)
	return s
}

// starts are the blocks that sections begin with.
func starts(blocks []block, must bool) []int {
	starts, sizes := []int{0}, []int{0} // sizes are of all before a block
	for i, b := range blocks {
		sizes = append(sizes, sizes[i]+len(b.html))
		from := starts[len(starts)-1]
		switch {
		case i == 0:
		case endsPage(blocks, i) && (b.leaf || sizes[i]-sizes[from] >= leastSection):
			starts = append(starts, i)
		case must && contents(blocks[i-1]) && !contents(b) && longEnough(blocks[from:i]):
			starts = append(starts, i)
		case must && sizes[i+1]-sizes[from] > usualSection:
			best := i
			for n := i; n > from && sizes[n]-sizes[from] >= usualSection/2; n-- {
				if rank(blocks, n) < rank(blocks, best) {
					best = n
				}
			}
			if best > from {
				starts = append(starts, best)
			}
		}
	}
	return starts
}

// contents reports whether a block is a table of contents, or a list of figures or the like.
func contents(b block) bool { return strings.HasPrefix(b.html, `<nav class="toc`) }

// longEnough reports whether blocks end with contents that are worth a section of their own.
func longEnough(blocks []block) bool {
	size := 0
	for i := len(blocks) - 1; i >= 0 && contents(blocks[i]); i-- {
		size += len(blocks[i].html)
	}
	return size >= longContents
}

// endsPage reports whether a page ends before a block in any case. Next to an empty
// page, and where an anchor without text comes first, it is not told.
func endsPage(blocks []block, i int) bool {
	if blocks[i].leaf || blocks[i].chapter {
		return !blocks[i-1].leaf
	}
	return blocks[i-1].breaks && !blocks[i].breaks && (i == 1 || !blocks[i-2].breaks) && !strings.HasPrefix(blocks[i].html, "<a ")
}

// rank is lower for blocks that rather begin a section.
func rank(blocks []block, i int) int {
	const none = 7
	switch {
	case endsPage(blocks, i):
		return 0
	case blocks[i].heading > 0 && blocks[i-1].heading == 0:
		return blocks[i].heading
	}
	return none
}

// takeNotes takes the footnotes out of the text. Each keeps its number.
func (d *division) takeNotes() {
	d.blocks = slices.DeleteFunc(d.blocks, func(b block) bool {
		_, list, ok := strings.Cut(b.html, "<ol>\n")
		if !ok || !strings.HasPrefix(b.html, `<div class="footnotes"`) {
			return false
		}
		list, _, _ = strings.Cut(list, "</ol>\n</div>")
		for _, note := range cutBlocks(list) {
			number := strconv.Itoa(len(d.notes) + 1)
			note.html = strings.Replace(note.html, "<li", `<li value="`+number+`"`, 1)
			d.notes = append(d.notes, note)
		}
		return true
	})
}

// link notes what is linked to.
func (d *division) link() {
	d.exists, d.linked, d.noteOf = map[string]bool{}, map[string]bool{}, map[string]int{}
	for i, n := range d.notes {
		for _, id := range n.ids {
			d.noteOf[id] = i
		}
	}
	for _, b := range slices.Concat(d.blocks, d.notes) {
		for _, id := range b.ids {
			d.exists[id] = true
		}
		for _, id := range b.links {
			d.linked[id] = true
		}
	}
}

// linkSection notes what is in a section, and what it links to. A note is in each
// section that refers to it.
func (d *division) linkSection(s *section) {
	s.ids, s.links = map[string]bool{}, map[string]bool{}
	taken := map[int]bool{}
	for todo := slices.Clone(s.blocks); len(todo) > 0; todo = todo[1:] {
		for _, id := range todo[0].ids {
			s.ids[id] = true
		}
		for _, id := range todo[0].links {
			s.links[id] = true
			if i, ok := d.noteOf[id]; ok && !taken[i] {
				taken[i] = true
				todo = append(todo, d.notes[i])
				s.notes = append(s.notes, i)
			}
		}
	}
	slices.Sort(s.notes)
}

// outdated makes the sections what they are to be in the whole, where the anchors are on
// such pages, and returns those that were printed otherwise.
func (d *division) outdated(r *revision, pages map[string]int) (todo []*section) {
	var texts []string
	if r != nil {
		texts = r.numbers(pages)
	}
	for _, s := range d.sections {
		held, left := s.held, d.mirrored && s.at%2 == 0
		if r != nil {
			held = texts[s.first:][:len(s.held)]
		}
		var asked bool
		if s.ranges, asked = d.asked(s.at, s.pages); !asked {
			continue
		}
		if s.draft || s.left != left || !slices.Equal(s.held, held) {
			s.held, s.left, s.draft = held, left, false
			todo = append(todo, s)
		}
	}
	return todo
}

// asked are the pages asked for among so many from one on, by their numbers there, ""
// for all of a document, and whether there are any.
func (d *division) asked(first, pages int) (ranges string, some bool) {
	if d.ranges == nil {
		return "", true
	}
	var list []string
	for _, r := range d.ranges {
		if from, to := max(r[0]-first+1, 1), min(r[1]-first+1, pages); from <= to {
			list = append(list, strconv.Itoa(from)+"-"+strconv.Itoa(to))
		}
	}
	return strings.Join(list, ","), len(list) > 0
}

// reached reports that nothing behind the sections matters.
func (d *division) reached() bool {
	pages := 0
	for _, s := range d.sections {
		if s.wanted == 0 {
			return false // nobody knows yet
		}
		pages += s.wanted
	}
	return d.ranges != nil && !d.whole && !slices.ContainsFunc(d.ranges, func(r [2]int) bool { return r[1] > pages })
}

// pagesInWhole are those of the anchors, by the pages of the whole. White pages are put
// between sections.
func (d *division) pagesInWhole() (pages map[string]int, total int) {
	pages = map[string]int{}
	for _, s := range d.sections {
		if s.white = s.blocks[0].leaf && total%2 == 1; s.white {
			total++
		}
		s.at = total + 1
		for id, page := range s.places {
			if _, known := pages[id]; !known { // a note may be in several
				pages[id] = total + page
			}
		}
		total += s.pages
	}
	return pages, total
}
