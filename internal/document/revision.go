package document

import (
	"context"
	"math"
	"strings"

	"presswork/internal/document/arrange"
	"presswork/internal/document/contents"
	"presswork/internal/document/sections"
	"presswork/internal/document/typeset"
	"presswork/internal/markdown"
	"presswork/internal/pdffile"
)

// revision holds the content of a page that depends on its print: page numbers, chapter titles in header and footer,
// and blank pages before chapters. The page has places for them: a style element and elements with the attribute
// data-fill. From the pages of all anchors in a layout pass, texts makes the content for the next print.
type revision struct {
	// chapters are all chapters; nil if neither header nor footer names them.
	chapters []markdown.Heading
	// sections are those that running heads name, and tops the chapters among them. opening is true if chapters begin
	// on new pages.
	sections []markdown.Heading
	tops     map[string]bool
	opening  bool
	// leaves are blank pages that may be needed. shown has the ids of those in the last print that was read, and
	// blank has their page numbers.
	leaves []typeset.Leaf
	shown  map[string]bool
	blank  map[int]bool
	// contents are the entries of the table of contents, of the lists and of the index, in the order of the page.
	contents []contents.PageOf
}

// revision returns nil when the page does not depend on its print.
func (p page) revision() *revision {
	if !p.fillsStyle() && len(p.text.Pages) == 0 {
		return nil
	}

	r := &revision{contents: p.text.Pages, leaves: p.text.Leaves, opening: p.book.start != ""}
	if namesChapter(p.options) {
		r.chapters = p.chapters
	}

	if p.hasRunningHeads() {
		r.sections, r.tops = sectionsOf(p.headings)
	}

	return r
}

// fillsStyle reports whether the page has a style element whose rules depend on its print: pages with chapters have
// one.
func (p page) fillsStyle() bool { return len(p.chapters) > 0 }

// texts reads a print of all pages. It returns the texts of the page's elements with a data-fill attribute, in
// document order. The first is the rules of the style element, if the page has one. Errors: those of package pdffile.
func (r *revision) texts(printed []byte) ([]string, error) {
	f, err := pdffile.Read(printed)
	if err != nil {
		return nil, err
	}

	total, err := f.Pages()
	if err != nil {
		return nil, err
	}

	pages, err := f.Anchors()
	if err != nil {
		return nil, err
	}
	var texts []string

	css, pages, total := r.placeLeaves(pages, total)
	for _, style := range r.running(pages, total, r.blank) {
		css += style.CSS()
	}

	if css != "" {
		texts = append(texts, css)
	}

	return append(texts, r.numbers(pages)...), nil
}

// running returns the counter styles that write the names of chapters and sections in the header and footer of each
// page. Chromium has no other content in margin boxes that depends on the page.
func (r *revision) running(pages map[string]int, total int, blank map[int]bool) (styles []sections.CounterStyle) {
	if len(r.chapters) > 0 {
		styles = append(
			styles,
			sections.CounterStyle{Name: chapterStyle, Texts: runningTitles(r.chapters, pages, total)},
		)
	}

	if len(r.sections) > 0 {
		styles = append(styles, sections.CounterStyle{Name: runningStyle, Texts: r.runningHeads(pages, total, blank)})
	}

	return styles
}

// numbers returns the page numbers of the entries.
func (r *revision) numbers(pages map[string]int) []string { return contents.Numbers(r.contents, pages) }

// maxRunningTitle is the most characters of a chapter's title in a header or footer.
const maxRunningTitle = 90

// chapterStyle is the counter style that turns a page's number into the title of the chapter on it.
const chapterStyle = "presswork-chapter"

// chaptersOf returns the headings that begin a chapter: those of the highest level in use. If the first heading is the
// only one of level 1, it is the title, and chapters have the next level in use.
func chaptersOf(headings []markdown.Heading) []markdown.Heading {
	body := headings
	if contents.Titled(headings) && len(headings) > 1 {
		body = headings[1:]
	}

	top := 7 // below the lowest level, 6
	for _, h := range body {
		top = min(top, h.Level)
	}
	var chapters []markdown.Heading

	for _, h := range body {
		if h.Level == top {
			chapters = append(chapters, h)
		}
	}

	return chapters
}

// runningTitles returns the title for each page: that of the first chapter on it, otherwise of the chapter that
// continues.
func runningTitles(chapters []markdown.Heading, pages map[string]int, total int) []string {
	begun := make([][]markdown.Heading, total+1)
	for _, c := range chapters {
		if page := pages[c.ID]; page > 0 && page <= total {
			begun[page] = append(begun[page], c)
		}
	}
	titles := make([]string, total)

	running := ""
	for i, begun := range begun[1:] {
		if titles[i] = running; len(begun) > 0 {
			titles[i], running = runningTitle(begun[0]), runningTitle(begun[len(begun)-1])
		}
	}

	return titles
}

// runningTitle returns the title of a heading for page headers, cut to maxRunningTitle characters.
func runningTitle(h markdown.Heading) string {
	title := []rune(contents.Label(h))
	if len(title) > maxRunningTitle {
		return strings.TrimSpace(string(title[:maxRunningTitle-1])) + "…"
	}

	return string(title)
}

// footnotes reports whether the document has notes that are printed at the foot of pages.
func (p page) footnotes() bool {
	return p.text != nil && p.options.Footnotes != "end" && p.text.Footnotes
}

// arrangement returns the script that arranges the page before it is printed. Pages without footnotes, pictures and
// page breaks in columns have none.
func (p page) arrangement() string {
	notes := p.footnotes()

	if !notes && !p.text.Arranged && !(p.columns && p.text.Breaks()) {
		return ""
	}
	const pixels = 96 / 25.4 // to the millimetre
	s := p.sheet
	beside, above, below := s.Strips()
	cssPixels := func(mm float64) float64 { return mm * pixels / s.Scale }
	// Chromium lays pages out in 64ths of a pixel, on an area of whole pixels.
	area := func(mm float64) float64 { return math.Ceil(math.Floor(cssPixels(mm)*64) / 64) }

	between := 0.0
	if p.columns {
		between = typeset.ColumnGap * pixels
	}

	return arrange.Call(arrange.Settings{
		Width:    area(s.TextWidth() + 2*beside),
		Height:   area(s.TextHeight() + above + below),
		Top:      cssPixels(above),
		Bottom:   cssPixels(below),
		Between:  between,
		Gap:      cssPixels(s.Left + s.Right),
		Smallest: arrange.SmallestPicture,
		Notes:    notes,
	})
}

// misplacedNotes returns the notes of a print that arrange.Misplaced finds, or none if the print cannot be read.
func misplacedNotes(printed []byte) []string {
	f, err := pdffile.Read(printed)
	if err != nil {
		return nil
	}

	pages, err := f.Anchors()
	if err != nil {
		return nil
	}

	return arrange.Misplaced(pages)
}

// keepAtEnd places misplaced notes at the end of the document in the next print. Pages broke elsewhere than the script
// had expected. After three prints with misplaced notes, it places all notes there.
func (p *printing) keepAtEnd(ctx context.Context, notes []string) {
	const maxPrints = 3
	if p.notesMoved++; p.notesMoved > maxPrints {
		p.log.WarnContext(ctx, "all footnotes moved to the end of the document: unexpected page breaks")
		p.Page.Prepare, p.footnotes = "", false

		return
	}
	p.log.WarnContext(ctx, "some footnotes moved to the end of the document: unexpected page breaks",
		"notes", len(notes))
	p.Page.Prepare = arrange.KeepAtEnd(p.Page.Prepare, notes)
}
