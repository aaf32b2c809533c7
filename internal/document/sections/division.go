package sections

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"presswork/internal/markdown/block"
	"presswork/internal/pdffile"
)

const (
	// leastSection is the size of HTML, in bytes, that is worth a print of its own:
	// some 75 pages of short sections.
	leastSection = 128 << 10
	// usualSection is the size of a section of a document that must be divided although it has no forced page
	// breaks. The cost of a page grows with the number of pages before it.
	usualSection = 512 << 10
	// leastChapter is that of chapters on the right, on average, that are worth a print each.
	leastChapter = 8 << 10
	// longContents is the size in bytes of HTML from which contents get a section of their own, about four pages.
	// That section is printed again when the places of all headings are known.
	longContents = 32 << 10
	// fewPages are so few, in page ranges, that layout passes of all the others take less time
	// than one print.
	fewPages = 100
)

// division is a document that is cut into sections between blocks. A document that can be printed at once is only
// cut at forced page breaks, so that the result is the same. A document with too many parts is also cut before
// headings, which then begin a page.
type division struct {
	Plan
	printer Printer
	blocks  []piece
	// notes are the footnotes that stand at the foot of pages.
	notes []piece
	// ranges are the pages asked for, nil for all. With whole, they show what takes all
	// pages to be known.
	ranges [][2]int
	whole  bool
	// starts are the blocks that sections begin with, one alone where layout passes tell
	// the others.
	starts   []int
	sections []*section
	// exists are the anchors, linked those that something links to; noteOf is which
	// note has an anchor.
	exists, linked map[string]bool
	noteOf         map[string]int

	// finding is held while the end of the next section is found, by a layout pass.
	finding sync.Mutex
	// failed is set by an error of the document: printing it in one piece would fail as well.
	failed atomic.Bool
}

// piece is a block or a note, and what it holds.
type piece struct {
	Block
	// ids are the anchors in it, links those that it links to.
	ids, links []string
}

// section is some of the blocks on their way into the whole.
type section struct {
	from   int // of the division's blocks
	blocks []piece
	notes  []int // of the division's
	// opens reports that it begins with a heading that keeps the space above it. Only the
	// first element and those after a page break have none.
	opens bool
	// follows reports that it begins with a paragraph that comes after another one, for
	// the rules about that.
	follows bool
	// at is the page that it begins on. White reports that a white page is before it, left
	// that it was printed to begin on a left page.
	at          int
	white, left bool
	// first is the number of its first place for a text, held are the texts in them.
	first int
	held  []string
	// ids and links are those of the blocks and the notes.
	ids, links map[string]bool

	// wanted is how many pages it has in the whole, 0 where it decides that.
	wanted int
	// untagged reports that it was printed without tags, because it will be again.
	untagged bool
	file     *pdffile.File
	// ranges are those of its pages that are printed, "" for all.
	ranges string
	// style and asked are, in a layout pass, a style element and links to the blocks whose
	// places are wanted.
	style, asked string
	places       map[string]int // pages of the anchors, from 1
	pages        int
}

// divide decides where to cut a document into sections. It returns nil if that is not worth it.
func divide(p Plan) *division {
	if !p.Must && p.Size < 2*leastSection {
		return nil
	}
	d := &division{Plan: p}
	d.take()

	if ranges := p.Sheet.PageRanges; ranges != "" {
		d.whole = p.Contents || p.CountsPages

		d.Sheet.PageRanges = ""
		if asked := d.ask(ranges); !p.Must && asked > fewPages {
			return nil
		}
	}
	d.link()
	d.starts = starts(d.blocks, p.Must)

	size := 0
	for _, b := range d.blocks {
		size += len(b.HTML)
	}

	large := func(b piece) bool { return len(b.HTML) > usualSection && !b.Contents }
	switch {
	case !p.Must && slices.ContainsFunc(d.blocks, func(b piece) bool { return b.Leaf }) &&
		len(d.starts)*leastChapter > size:
		return nil
	case len(d.starts) > 1 && !(p.Must && slices.ContainsFunc(d.blocks, large)):
		return d // else a block may be as much as a document that is printed at once
	case !p.Must && size >= leastLaidOut && !p.Footnotes && !p.Turns &&
		!slices.ContainsFunc(d.blocks, func(b piece) bool { return b.Unsound }):
		// With notes at the foot of pages a layout pass takes as long as the print. Where
		// there are turned pages, Chromium may shrink all that is printed with them.
		return d
	}

	return nil
}

// ask takes the pages that are asked for, and returns how many they are.
func (d *division) ask(ranges string) (pages int) {
	for text := range strings.SplitSeq(ranges, ",") {
		first, last, isRange := strings.Cut(text, "-")
		if !isRange {
			last = first
		}
		from, _ := strconv.Atoi(first) // the options have been checked
		to, _ := strconv.Atoi(last)
		d.ranges = append(d.ranges, [2]int{from, to})
		pages += to - from + 1
	}

	return pages
}

// take takes the blocks, and with notes at the foot of pages the footnotes out of them. Each
// note keeps its number: the parts of a merged document count their own.
func (d *division) take() {
	for _, b := range d.Blocks {
		if !d.Footnotes || len(b.Notes) == 0 {
			d.blocks = append(d.blocks, newPiece(b))
			continue
		}

		for i, note := range b.Notes {
			at := len("<li")
			number := strconv.Itoa(i + 1)
			d.notes = append(d.notes, newPiece(Block{HTML: note[:at] + ` value="` + number + `"` + note[at:] + "\n"}))
		}
	}
	d.Blocks = nil
}

func newPiece(b Block) piece {
	ids, links := block.Anchors(b.HTML)
	return piece{b, ids, links}
}

// add makes a section of the blocks after those of the last one.
func (d *division) add(from, to int) *section {
	s := newSection(d.blocks, from, to)
	if from > 0 {
		last := d.sections[len(d.sections)-1]
		s.first = last.first + len(last.held)
		// Where it is not known, the print shows it.
		s.left = d.Mirrored && last.left != (last.wanted%2 == 1)
	}
	d.linkSection(s)
	d.sections = append(d.sections, s)

	return s
}

// newSection is a section of some blocks.
func newSection(blocks []piece, from, to int) *section {
	s := &section{from: from, blocks: blocks[from:to]}
	if from > 0 {
		first, before := blocks[from], blocks[from-1]
		s.opens = first.Chapter && !before.Breaks
		s.follows = first.Paragraph && before.Paragraph
	}

	places := 0
	for _, b := range s.blocks {
		places += len(b.Numbers)
	}
	s.held = make([]string, places)

	return s
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

// outdated updates the sections for the given pages of anchors. It returns the sections whose print differs from
// that.
func (d *division) outdated(pages map[string]int) (todo []*section) {
	var texts []string
	if d.Numbers != nil {
		texts = d.Numbers(pages)
	}

	for _, s := range d.sections {
		held, left := s.held, d.Mirrored && s.at%2 == 0
		if d.Numbers != nil {
			held = texts[s.first:][:len(s.held)]
		}

		var asked bool
		if s.ranges, asked = d.asked(s.at, s.pages); !asked {
			continue
		}

		if s.untagged || s.left != left || !slices.Equal(s.held, held) {
			s.held, s.left, s.untagged = held, left, false
			todo = append(todo, s)
		}
	}

	return todo
}

// asked returns the requested page ranges within pages pages of the document, which begin at page first. The
// numbers are relative to first; "" means all. some is false when none of these pages is requested.
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

// reached reports that nothing after the sections matters.
func (d *division) reached() bool {
	pages := 0

	for _, s := range d.sections {
		if s.wanted == 0 {
			return false // not known yet
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
		if s.white = s.blocks[0].Leaf && total%2 == 1; s.white {
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
