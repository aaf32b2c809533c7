package markdown

import (
	"strings"

	"presswork/internal/fault"
	"presswork/internal/markdown/block"
	"presswork/internal/markdown/cite"
	"presswork/internal/markdown/ext/bookindex"
	"presswork/internal/markdown/ext/direction"
	"presswork/internal/markdown/numbering"
)

// Document is rendered Markdown.
type Document struct {
	// HTML is the content of a body element. It loads nothing and refers to other resources by links only.
	HTML string
	// Blocks are the same HTML as blocks.
	Blocks []block.Block
	// Letters reports which letters need fonts or settings of their own.
	Letters direction.Letters
	// WidestFormula is the width of the widest formula in em, 0 without formulas.
	WidestFormula float64
	// Title is the text of the first level-1 heading, "" without one.
	Title string
	// Headings are the outline, in order.
	Headings []Heading
	// TOC reports whether the source has a place for the table of contents: Blocks has one of the kind Place with
	// the class ListPlace("").
	TOC bool
	// Captions are the numbered figures, tables and listings, in order.
	Captions []Caption
	// Index has the entries of the index, in the order of the text. A block with the class
	// bookindex.PlaceClass is its place.
	Index []bookindex.Entry
	// Counts are the numbers of elements of each kind, those of Options.Counts included.
	Counts map[Kind]int
	// Sections are the numbers of the last headings, those of Options.Sections included.
	Sections Sections
	// Labels are the elements that references can lead to, those of Options.Labels included.
	Labels map[string]Label
	// Unresolved reports whether a reference names no label of this document or of Options.Labels.
	Unresolved bool
	// Cited are the citations of this document, for CitedBefore and CitedAfter of the other documents.
	Cited []cite.Citation
	// HasRefs reports whether the source has a place for the bibliography.
	HasRefs bool
	// Warnings are sorted by line. There are at most 100.
	Warnings []fault.Warning
	// Lang is the language of the text: Options.Lang, or the result of Options.Language.
	Lang string
	// Upright reports whether some letters belong to scripts without italics, such as Chinese.
	Upright bool
	// Slides describe the slides if Options.Slides is set. SlideHTML returns their content.
	Slides []Slide
	// Parts is the size of the document for the browser, as MaxParts counts it.
	Parts int
	// TimedOut reports whether the time for formulas ended before all were rendered. The others stay LaTeX source;
	// a later attempt may render them.
	TimedOut bool
}

// SlideHTML returns the HTML of each element of Slides. For a document without slides it returns the whole HTML.
func (d *Document) SlideHTML() []string { return strings.Split(d.HTML, slideMark) }

// Heading is one entry of the outline.
type Heading struct {
	// Level is 1 to 6.
	Level int
	// Number is 1.2.3 if headings are numbered, else "".
	Number string
	// Text does not include the number.
	Text string
	// ID is the anchor, unique in the document.
	ID string
	// Line is the line of the file, from 1.
	Line int
}

// Sections are the numbers of the last headings of a document, for a document that continues them.
type Sections = numbering.Sections

// titleOf returns the text of the first level-1 heading, "" without one.
func titleOf(headings []Heading) string {
	for _, h := range headings {
		if h.Level == 1 {
			return h.Text
		}
	}

	return ""
}
