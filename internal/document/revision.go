package document

import (
	"presswork/internal/document/contents"
	"presswork/internal/document/sections"
	"presswork/internal/markdown"
	"presswork/internal/pdffile"
)

// revision holds the content of a page that depends on its print: the numbers in its contents, and chapter titles
// in header and footer.
type revision struct {
	// chapters are those that header or footer name; none when they do not.
	chapters []markdown.Heading
	// sections are those that running heads name, tops the chapters among them, and
	// opening reports that chapters begin on pages of their own.
	sections []markdown.Heading
	tops     map[string]bool
	opening  bool
	// leaves are white pages that may be needed. shown has the ids of those in the last print that was read, and
	// blank has their page numbers.
	leaves []leaf
	shown  map[string]bool
	blank  map[int]bool
	// contents are the entries of the table of contents, of the lists and of the
	// index, in the order of the page.
	contents []contents.PageOf
}

// revision is nil when the page has nothing of the kind.
func (p page) revision() *revision {
	if !p.fillsStyle() && len(p.text.pages) == 0 {
		return nil
	}

	r := &revision{contents: p.text.pages, leaves: p.text.leaves, opening: p.book.start != ""}
	if namesChapter(p.options) {
		r.chapters = p.chapters
	}

	if p.runningHeads() {
		r.sections, r.tops = sectionsOf(p.headings)
	}

	return r
}

// fillsStyle reports whether the page has a style element whose rules are known
// once it has been printed.
func (p page) fillsStyle() bool { return len(p.chapters) > 0 }

// texts reads a print of all pages: what goes into the page's elements with a
// data-fill attribute, in document order.
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

// running are what header and footer show on each page, chapters and sections.
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

// numbers are the page numbers of the entries.
func (r *revision) numbers(pages map[string]int) []string { return contents.Numbers(r.contents, pages) }
