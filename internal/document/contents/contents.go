// Package contents writes the table of contents, the lists of figures, tables and listings, and the index of a
// document. Each is a Piece of HTML with places for page numbers. After a layout pass, Numbers returns the text of each
// place.
package contents

import (
	"strings"

	"golang.org/x/text/language"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/markdown"
	"presswork/internal/markdown/block"
)

// DefaultDepth is the deepest heading level in the contents of a document that names no depth.
const DefaultDepth = 3

// Headings picks the headings of the table of contents, down to the level depth. Without
// depth, it takes DefaultDepth if the source has a [[toc]], and otherwise returns none. It
// leaves out the document's title if there are other headings.
func Headings(d markdown.Document, depth *presswork.Depth) []markdown.Heading {
	deepest := 0

	switch {
	case depth != nil:
		deepest = int(*depth)
	case HasPlace(d.Blocks, markdown.ListPlace("")):
		deepest = DefaultDepth
	}

	listed := func(headings []markdown.Heading) []markdown.Heading {
		var entries []markdown.Heading

		for _, h := range headings {
			if h.Level <= deepest {
				entries = append(entries, h)
			}
		}

		return entries
	}
	if Titled(d.Headings) {
		if entries := listed(d.Headings[1:]); len(entries) > 0 {
			return entries
		}
	}

	return listed(d.Headings)
}

// Form says how the table of contents is written.
type Form struct {
	// OwnPage is true if a page ends after it, Paper if its entries have page numbers.
	OwnPage, Paper bool
	// Parts divides long contents into several pieces, for a document that is printed in sections.
	Parts bool
}

// partEntries is the number of entries after which the contents may continue in another piece. That is about 30
// pages. Chromium searches each page for each anchor, so its time grows with the square of this number.
const partEntries = 1000

// List writes the table of contents. entries must not be empty. blocks are the blocks of the document, from which
// formulas and emphasis in the headings come. lang is the language of the document.
func List(entries []markdown.Heading, blocks []block.Block, lang string, form Form) (pieces []Piece) {
	var w writer

	title, headings := Title(lang), headingsByID(blocks)
	class := "toc"

	if form.OwnPage {
		class += " toc-own-page"
	}
	begin := func() {
		w.out.Open("nav", "class", class, "role", "doc-toc", "aria-label", title).Raw("\n")
	}
	begin()
	w.out.Line("p", title, "class", "toc-title")

	var open []int // the levels of the lists that are open
	for _, h := range entries {
		if form.Parts && len(w.piece.Pages) >= partEntries && h.Level <= open[0] {
			w.end(open)
			pieces = append(pieces, w.done())
			w, open = writer{}, nil
			begin()
		}

		for len(open) > 1 && h.Level < open[len(open)-1] && h.Level <= open[len(open)-2] {
			w.out.Raw("</li>\n</ul>\n")
			open = open[:len(open)-1]
		}

		switch {
		case len(open) == 0 || h.Level > open[len(open)-1]:
			w.out.Raw("<ul>\n")
			open = append(open, h.Level)
		default:
			w.out.Raw("</li>\n")
			open[len(open)-1] = h.Level
		}

		w.entry(h.ID, h.Number, entryText(h, headings), form.Paper)
	}
	w.end(open)
	w.piece.OwnPage = form.OwnPage

	return append(pieces, w.done())
}

// end closes the open lists and the contents.
func (w *writer) end(open []int) {
	w.out.Raw(strings.Repeat("</li>\n</ul>\n", len(open)) + "</nav>\n")
}

// Titled reports whether the first heading is the document's title: the only one of level 1.
func Titled(headings []markdown.Heading) bool {
	if len(headings) == 0 || headings[0].Level != 1 {
		return false
	}

	for _, h := range headings[1:] {
		if h.Level == 1 {
			return false
		}
	}

	return true
}

// Label returns a heading as the document prints it, with its number.
func Label(h markdown.Heading) string {
	if h.Number != "" {
		return h.Number + " " + h.Text
	}

	return h.Text
}

// Title returns "Contents" in a language (BCP 47), or in English if the language is unknown.
func Title(lang string) string {
	titles := map[string]string{
		"ar":      "المحتويات",
		"bg":      "Съдържание",
		"ca":      "Índex",
		"cs":      "Obsah",
		"da":      "Indhold",
		"de":      "Inhalt",
		"el":      "Περιεχόμενα",
		"es":      "Índice",
		"et":      "Sisukord",
		"fa":      "فهرست مطالب",
		"fi":      "Sisällys",
		"fr":      "Table des matières",
		"he":      "תוכן העניינים",
		"hi":      "विषय-सूची",
		"hr":      "Sadržaj",
		"hu":      "Tartalom",
		"id":      "Daftar Isi",
		"it":      "Indice",
		"ja":      "目次",
		"ko":      "차례",
		"lt":      "Turinys",
		"lv":      "Saturs",
		"nb":      "Innhold",
		"nl":      "Inhoud",
		"nn":      "Innhald",
		"no":      "Innhold",
		"pl":      "Spis treści",
		"pt":      "Índice",
		"ro":      "Cuprins",
		"ru":      "Содержание",
		"sk":      "Obsah",
		"sl":      "Kazalo",
		"sr":      "Садржај",
		"sv":      "Innehåll",
		"th":      "สารบัญ",
		"tr":      "İçindekiler",
		"uk":      "Зміст",
		"ur":      "فہرست",
		"vi":      "Mục lục",
		"zh":      "目录",
		"zh-Hant": "目錄",
	}

	tag, err := language.Parse(lang)
	if err != nil {
		return "Contents"
	}

	base, _ := tag.Base()
	if script, _ := tag.Script(); base.String() == "zh" && script.String() == "Hant" {
		return titles["zh-Hant"]
	}

	if title, known := titles[base.String()]; known {
		return title
	}

	return "Contents"
}

// maxEntries bounds the contents. Chromium takes a millisecond for each entry, in two prints.
const maxEntries = 20_000

// Check returns the error ContentTooComplex if the contents have more entries than the browser
// can print in time.
func Check(entries []markdown.Heading) error {
	if n := len(entries); n > maxEntries {
		return fault.Errorf(fault.ContentTooComplex, "the contents have %d entries; at most %d are allowed: "+
			"list fewer levels with the option toc, turn it off, or split the document", n, maxEntries).
			WithParam("options.toc")
	}

	return nil
}
