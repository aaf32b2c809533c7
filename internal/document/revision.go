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
	// chapters are those that the header or footer names, otherwise nil.
	chapters []markdown.Heading
	// sections are those that running heads name, and tops the chapters among them. opening means that chapters
	// begin on new pages.
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

// revision returns nil when the page does not depend on its print.
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

// fillsStyle reports whether the page has a style element whose rules depend on its print.
func (p page) fillsStyle() bool { return len(p.chapters) > 0 }

// texts reads a print of all pages. It returns the texts of the page's elements with a data-fill attribute, in
// document order.
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

// running returns the names of chapters and sections in the header and footer of each page.
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
