package sections

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"presswork/internal/markdown/block"
)

const (
	// leastSection is the size of HTML, in bytes, that is worth a print of its own: about 75 pages of short sections.
	leastSection = 128 << 10
	// usualSection is the size of a section of a document that must be divided although it has no forced page
	// breaks. The cost of a page grows with the number of pages before it.
	usualSection = 256 << 10
	// largestBlock is the size of HTML up to which a block is printed in one piece.
	largestBlock = 512 << 10
	// leastChapter is the mean size of chapters that begin on the right from which each is worth a print.
	leastChapter = 8 << 10
	// longContents is the size in bytes of HTML from which contents get sections of their own, about four pages.
	// Those sections are printed again when the places of all headings are known.
	longContents = 32 << 10
	// fewPages is the number of requested pages up to which layout passes of all other pages take less time than one
	// print of the document.
	fewPages = 100
)

// division is a document that is cut into sections between blocks. A document that can be printed at once is only
// cut at forced page breaks, so that the result is the same. A document with too many parts is also cut before
// headings, which then begin a page.
type division struct {
	Plan
	printer Printer
	blocks  []piece
	// notes are the footnotes of a document that sets them at the foot of pages. Otherwise it is nil.
	notes []piece
	// ranges are the requested pages, first and last; nil means all.
	ranges [][2]int
	// whole is true if the requested pages show something that depends on all pages, such as their number.
	whole bool
	// starts are the indexes of the blocks that begin sections. If it has only one, layout passes find the others.
	starts   []int
	sections []*section
	// exists holds all anchors, linked those that something links to. noteOf is the index of the note that has an
	// anchor.
	exists, linked map[string]bool
	noteOf         map[string]int

	// finding is held while a layout pass finds the end of the next section: each section begins where the last one
	// ends.
	finding sync.Mutex
	// failed is set by an error of the document: printing it in one piece would fail as well.
	failed atomic.Bool
}

// piece is a block or a note with the anchors and links in its HTML.
type piece struct {
	Block
	// ids are its anchors; links are the anchors that it links to.
	ids, links []string
}

// section is a run of blocks that is printed by itself.
type section struct {
	from   int // index of its first block in division.blocks
	blocks []piece
	notes  []int // indexes of its notes in division.notes
	// opens is true if it begins with a heading that keeps the space above it. Without opens the heading loses that
	// space, as the first element of a document and those after a page break do.
	opens bool
	// follows is true if it begins with a paragraph that comes after another paragraph. Some styles indent those.
	follows bool
	// at is the page that it begins on, from 1. blankBefore is true if a blank page precedes it. left is true if it was
	// printed to begin on a left page.
	at                int
	blankBefore, left bool
	// held are the page numbers and index entries in its last print, which are known only after printing. first is the
	// index of the first of them in the document.
	first int
	held  []string
	// ids and links are those of its blocks and notes.
	ids, links map[string]bool

	// wanted is its number of pages by the layout pass. It is 0 without one.
	wanted int
	// untagged is true if its print has no tags and no visible text, because another print follows.
	untagged bool
	// printed is its last print, nil without one; sizes are the widths and heights of its pages in points.
	printed *kept
	sizes   [][2]float64
	// ranges are the pages of it that are printed; "" means all.
	ranges string
	// placeLinks are links, as HTML, to the blocks whose places a layout pass reports.
	placeLinks string
	places     map[string]int // page of each anchor, from 1 within the section
	pages      int            // number of pages of the last print of all of it
}

// divide decides where to cut a document into sections. It returns nil if that is not worth it.
func divide(p Plan) *division {
	if !p.Must && p.Size < 2*leastSection {
		return nil
	}
	d := &division{Plan: p}
	d.readBlocks()

	if ranges := p.Sheet.PageRanges; ranges != "" {
		d.whole = p.Contents || p.CountsPages

		d.Sheet.PageRanges = ""
		if requested := d.setRanges(ranges); !p.Must && requested > fewPages {
			return nil
		}
	}
	d.link()
	d.starts = starts(d.blocks, p.Must)

	size := 0
	for _, b := range d.blocks {
		size += len(b.HTML)
	}

	large := func(b piece) bool { return len(b.HTML) > largestBlock && !b.Contents }
	switch {
	case !p.Must && slices.ContainsFunc(d.blocks, func(b piece) bool { return b.Leaf }) &&
		len(d.starts)*leastChapter > size:
		return nil
	case len(d.starts) > 1 && !(p.Must && slices.ContainsFunc(d.blocks, large)):
		return d // otherwise a single block may be as large as a document that is printed at once
	case !p.Must && size >= leastLaidOut && !p.Footnotes && !p.Turns &&
		!slices.ContainsFunc(d.blocks, func(b piece) bool { return b.Unsound }):
		// With notes at the foot of pages a layout pass takes as long as the print. Where
		// there are turned pages, Chromium may shrink all that is printed with them.
		return d
	}

	return nil
}

// setRanges sets d.ranges to the requested pages and returns their number. ranges is a valid option page_ranges.
func (d *division) setRanges(ranges string) (pages int) {
	for text := range strings.SplitSeq(ranges, ",") {
		first, last, isRange := strings.Cut(text, "-")
		if !isRange {
			last = first
		}
		from, _ := strconv.Atoi(first)
		to, _ := strconv.Atoi(last)
		d.ranges = append(d.ranges, [2]int{from, to})
		pages += to - from + 1
	}

	return pages
}

// readBlocks fills blocks with the blocks of the plan. If notes stand at the foot of pages, it fills notes with the
// lists of notes. Each note keeps its number, because the parts of a merged document count their own.
func (d *division) readBlocks() {
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

// newPiece returns a block with its anchors and links.
func newPiece(b Block) piece {
	ids, links := block.Anchors(b.HTML)
	return piece{b, ids, links}
}

// add appends a section of the blocks from from up to to.
func (d *division) add(from, to int) *section {
	s := newSection(d.blocks, from, to)
	if from > 0 {
		last := d.sections[len(d.sections)-1]
		s.first = last.first + len(last.held)
		// It is a guess for sections without a layout pass. outdated corrects it after the print.
		s.left = d.Mirrored && last.left != (last.wanted%2 == 1)
	}
	d.linkSection(s)
	d.sections = append(d.sections, s)

	return s
}

// newSection returns a section of the blocks from from up to to.
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

// link fills exists, linked and noteOf.
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

// linkSection fills the ids, links and notes of a section. A note is in each section that refers to it, also through
// another note.
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

		var requested bool
		if s.ranges, requested = d.requestedWithin(s.at, s.pages); !requested {
			continue
		}

		if s.untagged || s.left != left || !slices.Equal(s.held, held) {
			s.held, s.left, s.untagged = held, left, false
			todo = append(todo, s)
		}
	}

	return todo
}

// requestedWithin returns the requested page ranges within some pages of the document: from page first, as many as
// pages. In ranges, page first is 1; "" means all. some is false if none of these pages is requested.
func (d *division) requestedWithin(first, pages int) (ranges string, some bool) {
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

// reached reports whether no page after the sections so far is requested or needed.
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

// pagesInWhole returns the page of each anchor in the whole document, from 1, and the number of pages. It sets where
// each section begins and which blank pages precede sections.
func (d *division) pagesInWhole() (pages map[string]int, total int) {
	pages = map[string]int{}

	for _, s := range d.sections {
		if s.blankBefore = s.blocks[0].Leaf && total%2 == 1; s.blankBefore {
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
