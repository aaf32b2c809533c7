// Package typeset writes the blocks of a document for paper. It sets tables, code and diagrams in sizes that fit, turns
// pages, and marks the paragraphs that a page break may divide.
//
// Write returns the HTML and a Text that describes it: places for page numbers, possible blank pages, footnotes. It
// also has the topmost elements, at which package sections may divide the document. All sizes are estimates from
// numbers of letters, because the HTML is written before Chromium lays it out.
package typeset

import (
	"slices"

	"presswork/internal/document/contents"
	"presswork/internal/document/sections"
	"presswork/internal/document/sheet"
	"presswork/internal/markdown/block"
)

// narrowLetter is the mean width of a letter in em in narrow typefaces.
const narrowLetter = 0.44

// ColumnGap is the distance of two columns of text in millimetres before it is scaled, as in paper.css.
const ColumnGap = 6

// Options say how a text is set. The zero value of Chapters, Start and DropCaps sets no book.
type Options struct {
	// Sheet is the sheet of the document. Its text area is that of both columns.
	Sheet sheet.Sheet
	// Beside is the share of the text area's width that a column next to the text takes.
	Beside float64
	// Columns is true if the text is in two columns.
	Columns bool
	// TextSize is the size of the running text as a multiple of BodySize.
	TextSize float64
	// CodeSize is the theme's size of code, such as "8.8pt". The default is the one of print.css.
	CodeSize string
	// Chapters has the ids of the headings that begin chapters.
	Chapters map[string]bool
	// Start is where chapters begin: "" (anywhere), page or right.
	Start string
	// DropCaps begins chapters with a drop cap, if the script of the language Lang has capitals.
	DropCaps bool
	Lang     string
}

// Text describes a typeset text.
type Text struct {
	// Pages are the places for page numbers in the HTML, in its order.
	Pages []contents.PageOf
	// Leaves are the possible blank pages before chapters.
	Leaves []Leaf
	// Footnotes, Turns and DropCaps are true if the text has footnotes, turned pages and drop caps. Arranged is true if
	// it has images or diagrams, which a script may move.
	Footnotes, Turns, DropCaps, Arranged bool

	numbers  []int    // offsets of the places for page numbers
	notes    [][2]int // the start and end of each footnote
	done     []finished
	doubtful bool    // some table may be too wide
	width    float64 // of a line in millimetres, for text of BodySize
}

// finished is a topmost element of a typeset body, from one offset to another.
type finished struct {
	from, to int
	kind     block.Kind
	level    int // of a heading
	nameEnd  int // where its tag takes another attribute
	// plain is true for a paragraph with no attributes but those of this package.
	plain bool
	// made is true for a generated piece, anchor for an a element.
	made, anchor bool
	// breaks is true if a page ends with it, chapter if a chapter begins.
	breaks, chapter bool
	// leaf is true for a possible blank page before a chapter.
	leaf bool
	// pictures is true for a paragraph of images, arranged if it contains images or diagrams.
	pictures, arranged bool
	// unsound and leaks are those of the Block.
	unsound, leaks bool
}

// Write returns the HTML of a document's blocks, and a description of it. made has the generated pieces. Write sets
// those that it places to nil.
func Write(blocks []block.Block, made contents.Pieces, o Options) (string, *Text) {
	area := o.Sheet
	if o.Columns {
		area = column(area)
	}
	area.Left += area.TextWidth() * o.Beside
	width := area.TextWidth() / area.Scale / o.TextSize

	t := &writer{
		Text:   Text{width: width},
		pieces: made, sheet: area, codeSize: normalCodeSize(o.CodeSize), textSize: o.TextSize, columns: o.Columns,
		perLine: max(1, int(width/(BodySize*narrowLetter))),
		start:   o.Start, begins: o.Chapters, caps: o.DropCaps && hasDropCaps(o.Lang),
	}
	t.document(blocks)
	text := t.Text // without the writer, which has the HTML

	return t.out.String(), &text
}

// column returns a sheet whose text area is as wide as one of two columns of s.
func column(s sheet.Sheet) sheet.Sheet {
	s.Left += (s.TextWidth() + ColumnGap*s.Scale) / 2
	return s
}

// MayOverflow reports whether some table, or a formula that is widest em wide, may be wider than the text area.
func (t *Text) MayOverflow(widest float64) bool {
	const doubt = 1.4 // guesses are not that far off
	return t.doubtful || widest*BodySize*doubt > t.width
}

// Breaks reports whether a page ends within the text because its author wants it.
func (t *Text) Breaks() bool {
	return slices.ContainsFunc(t.done, func(f finished) bool { return f.breaks })
}

// Sections returns the topmost elements for package sections. body is the HTML that Write returned.
func (t *Text) Sections(body string) []sections.Block {
	blocks := make([]sections.Block, 0, len(t.done))

	numbers, notes := t.numbers, t.notes
	for _, f := range t.done {
		if f.leaks { // its unclosed elements go on after it, so everything after it stays in one block
			f.to = t.done[len(t.done)-1].to
		}

		b := sections.Block{
			HTML:      body[f.from:f.to],
			NameEnd:   f.nameEnd,
			Heading:   f.level,
			Paragraph: f.kind == block.Paragraph,
			Contents:  f.made,
			Anchor:    f.anchor,
			Leaf:      f.leaf,
			PageBreak: f.kind == block.PageBreak,
			Breaks:    f.breaks,
			Chapter:   f.chapter,
			Pictures:  f.pictures,
			Arranged:  f.arranged,
			Unsound:   f.unsound,
		}
		switch f.kind {
		case block.Paragraph:
			b.MayBegin = f.plain && !f.pictures
		case block.Heading, block.Table, block.Code:
			b.MayBegin = true
		}

		for ; len(numbers) > 0 && numbers[0] < f.to; numbers = numbers[1:] {
			b.Numbers = append(b.Numbers, numbers[0]-f.from)
		}

		for ; len(notes) > 0 && notes[0][0] < f.to; notes = notes[1:] {
			if f.kind == block.Footnotes {
				b.Notes = append(b.Notes, body[notes[0][0]:notes[0][1]])
			}
		}
		blocks = append(blocks, b)

		if f.leaks {
			break
		}
	}

	return blocks
}
