package document

import (
	"strings"

	"presswork"
	"presswork/internal/analysis/lang"
	"presswork/internal/document/layout"
	"presswork/internal/markdown"
	"presswork/internal/markdown/block"
	"presswork/themes"
)

// bookSetting holds the parts of a book's setting that a document has.
type bookSetting struct {
	// text is true for justified text with a drop cap at the beginning of a chapter.
	text bool
	// pages is true for facing pages: mirrored margins, outer page numbers, running heads.
	pages bool
	// start is where chapters begin: "", page or right.
	start string
}

const (
	// A document that is not declared as a book has facing pages from facingLetters on, about three pages. Its
	// chapters begin on new pages if they have longChapter letters on average: shorter ones would leave too much
	// white. From rightLetters on, about eight pages, they begin on right pages. Shorter documents are rarely
	// bound, and a blank page would surprise their readers.
	facingLetters = 8000
	longChapter   = 5000
	rightLetters  = 20_000
	// proseShare is the least share of a literary text that is in paragraphs. technicalLetters is the least number
	// of its letters for each table and each block of code.
	proseShare       = 0.6
	technicalLetters = 10_000
)

// maybeBook reports whether a document may be set as a book: it is declared as one, or its theme is for books.
func maybeBook(o presswork.Options, theme themes.Theme) bool {
	return o.As == asBook || o.As == "" && theme.Token("--setting") == asBook
}

// asBook is the value of the option as, and of a theme's token --setting.
const asBook = "book"

// bookSettingOf chooses the setting by the options, the theme and the rendered text.
func bookSettingOf(o presswork.Options, theme themes.Theme, body markdown.Document) bookSetting {
	b := bookSetting{start: o.ChapterStart}
	if b.start == "continue" {
		b.start = ""
	}

	if !maybeBook(o, theme) {
		return b
	}
	declared := o.As == asBook

	prose, all, technical := textIn(body)
	if !declared && (float64(prose) < proseShare*float64(all) || technical*technicalLetters > all) {
		return b
	}

	b.text, b.pages = true, declared || all >= facingLetters
	if n := len(chaptersOf(body.Headings)); o.ChapterStart == "" && b.pages && n > 1 && all/n >= longChapter {
		b.start = "page"
		if declared || all >= rightLetters {
			b.start = "right"
		}
	}

	return b
}

// textIn counts the letters in paragraphs, all letters of a document, and its tables and blocks of code.
func textIn(body markdown.Document) (prose, all, technical int) {
	block.Walk(body.Blocks, func(b *block.Block) {
		switch b.Kind {
		case block.Paragraph:
			if b.Closed {
				prose += block.Letters(block.Visible(b.Inner()))
			}
		case block.Table, block.Code:
			technical++
		}
	})

	return prose, block.Letters(block.Visible(body.HTML)), technical
}

// justified returns markdown.Options.Justified for a document that may be a book.
func justified(o presswork.Options, theme themes.Theme) func(string) string {
	if !maybeBook(o, theme) && o.As != layout.Paper {
		return nil
	}

	return lang.Of
}

// chapterIDs returns the ids of headings that begin chapters. It returns none for a document that is not set as a book,
// unless its chapters begin on new pages.
func (b bookSetting) chapterIDs(headings []markdown.Heading) map[string]bool {
	begins := map[string]bool{}

	if b != (bookSetting{}) {
		for _, c := range chaptersOf(headings) {
			begins[c.ID] = true
		}
	}

	return begins
}

// hasRunningHeads reports whether the pages name their chapter and section in the header.
func (p page) hasRunningHeads() bool { return p.book.pages && p.options.HeaderText == nil }

// runningStyle is the counter style that turns a page's number into its running head.
const runningStyle = "presswork-running"

// runningHeads returns the running heads of all pages: page n has element n-1. Left pages name the chapter, right ones
// the first section that begins on the page, or else the current one. First pages of chapters, blank pages, and pages
// before the first chapter have none. pages has the pages of all anchors, from 1.
func (r *revision) runningHeads(pages map[string]int, total int, blank map[int]bool) []string {
	chapter, section := make([]string, total+1), make([]string, total+1)
	opens := make([]bool, total+1)
	current, within, next := "", "", 0 // the chapter and section at the end of the page, and the next heading

	for page := 1; page <= total; page++ {
		begun := false

		for ; next < len(r.sections) && pages[r.sections[next].ID] <= page; next++ {
			h := r.sections[next]
			if pages[h.ID] == 0 {
				continue
			}

			title := runningTitle(h)
			if h.Level == r.sections[0].Level || r.tops[h.ID] {
				opens[page] = opens[page] || pages[h.ID] == page
				current, within = title, title
				continue
			}

			if within = title; !begun { // the first section that begins on the page
				section[page], begun = title, true
			}
		}

		chapter[page] = current
		if section[page] == "" {
			section[page] = within
		}
	}

	for page := 1; page <= total; page++ {
		if page%2 == 1 {
			chapter[page] = section[page]
		}

		if opens[page] && r.opening || blank[page] {
			chapter[page] = ""
		}
	}

	return chapter[1:]
}

// sectionsOf returns the chapters and the headings one level below them. tops has the ids of the chapters.
func sectionsOf(headings []markdown.Heading) (sections []markdown.Heading, tops map[string]bool) {
	tops = map[string]bool{}

	level := 0
	for _, c := range chaptersOf(headings) {
		tops[c.ID], level = true, c.Level
	}

	for _, h := range headings {
		if tops[h.ID] || level > 0 && h.Level == level+1 {
			sections = append(sections, h)
		}
	}

	return sections, tops
}

// placeLeaves decides which blank pages are needed, so that chapters begin on right pages. pages has the pages of all
// anchors in the last print, which may show some blank pages already, and total is its number of pages. placeLeaves
// returns the rules that show the needed pages, and the pages of all anchors and their number with them.
func (r *revision) placeLeaves(pages map[string]int, total int) (css string, placed map[string]int, newTotal int) {
	if len(r.leaves) == 0 {
		return "", pages, total
	}
	shown := map[string]bool{}
	type shift struct{ from, by int }
	var shifts []shift
	held, wanted := 0, 0 // blank pages so far: of the last print, and of the next one
	var b strings.Builder

	r.blank = map[int]bool{}
	for _, l := range r.leaves {
		at := pages[l.Chapter]
		if at == 0 {
			continue
		}

		if r.shown[l.ID] {
			held++
		}

		// The page of the chapter without the blank pages of this print, and with those placed so far. Left pages
		// have even numbers.
		if (at-held+wanted)%2 == 0 {
			wanted++
			shown[l.ID] = true
			r.blank[at-held+wanted-1] = true
			b.WriteString("#" + l.ID + "{display:block}")
		}
		shifts = append(shifts, shift{at, wanted - held})
	}
	r.shown = shown

	placed = make(map[string]int, len(pages))
	for id, page := range pages {
		by := 0

		for _, s := range shifts {
			if s.from > page {
				break
			}
			by = s.by
		}
		placed[id] = page + by
	}

	return b.String(), placed, total + wanted - held
}
