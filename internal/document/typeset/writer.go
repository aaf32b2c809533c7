package typeset

import (
	"cmp"
	"strings"

	"presswork/internal/document/contents"
	"presswork/internal/document/sheet"
	"presswork/internal/markdown/block"
)

// writer writes the blocks of a document into a Text.
type writer struct {
	Text
	out      strings.Builder
	pieces   contents.Pieces
	sheet    sheet.Sheet // the text area is one of the columns
	codeSize float64     // of code with short lines, in points
	textSize float64     // of the running text, as a multiple of BodySize
	columns  bool        // the text is in two columns of sheet
	perLine  int         // letters of a paragraph
	start    string      // Options.Start
	begins   map[string]bool
	caps     bool // chapters may begin with drop caps

	// capNext is true if the next block may have a drop cap.
	capNext bool
	folded  int // diagrams with a sheet that folds out
}

// area is the surroundings of blocks.
type area struct {
	sheet sheet.Sheet
	// topmost is true if no other block contains them, page if they are the first on their page.
	topmost, page bool
	// turned is true if their page is turned, table if they are in a table.
	turned, table bool
}

// within returns the area of blocks inside of these.
func (a area) within() area { return area{sheet: a.sheet, turned: a.turned, table: a.table} }

// neighbour is a block and how it is set among its siblings.
type neighbour struct {
	*block.Block
	after string // the text between it and the next neighbour
	// until, if not 0, is the index after the last neighbour on the same turned page.
	until int
	// wrapper is the start tag of the turned page that ends with it, rule a style element in that page.
	wrapper, rule string
	tag           string // the start tag of a table, or of a picture or diagram across both columns
	height        string // of a diagram, an attribute
}

// document writes the blocks of a document.
func (t *writer) document(blocks []block.Block) {
	t.capNext = t.caps

	list := make([]neighbour, len(blocks))
	for i := range blocks {
		list[i] = neighbour{Block: &blocks[i], after: blocks[i].After()}
	}
	t.write(list, area{sheet: t.sheet, topmost: true, page: true})
}

// write writes neighbours, and decides how tables and diagrams among them are set.
func (t *writer) write(list []neighbour, a area) {
	t.fit(list, a)

	for i := 0; i < len(list); i++ {
		if a.topmost {
			t.begin(&list[i])
		}

		if until := list[i].until; until > 0 {
			t.turnedPage(list[i:until], a)
			i = until - 1
		} else {
			t.element(&list[i], a)
		}
		t.space(list[i].after)

		if a.topmost {
			t.done[len(t.done)-1].to = t.out.Len()
		}
	}
	t.capNext = false
}

// begin records that a topmost element begins.
func (t *writer) begin(s *neighbour) {
	f := finished{
		from:     t.out.Len(),
		kind:     s.Kind,
		level:    s.Level,
		anchor:   s.Anchor,
		unsound:  s.Unsound,
		leaks:    s.Leaks,
		arranged: s.Pictures || s.Drawings,
		nameEnd:  s.NameEnd(),
		breaks:   len(s.Classes) == 1 && s.Classes[0] == "page-break",
	}
	t.done = append(t.done, f)
	t.Arranged = t.Arranged || f.arranged
}

// space writes the text between two neighbours.
func (t *writer) space(text string) {
	t.capNext = t.capNext && strings.TrimLeft(text, "\n ") == ""
	t.out.WriteString(text)
}

// turnedPage writes neighbours on a turned page. The last one has its start tag.
func (t *writer) turnedPage(list []neighbour, a area) {
	last := &list[len(list)-1]
	if a.topmost {
		f := &t.done[len(t.done)-1]

		*f = finished{from: f.from, kind: block.Division, nameEnd: len("<div"), breaks: true}
		for i := range list {
			f.arranged = f.arranged || list[i].Pictures || list[i].Drawings
			f.unsound, f.leaks = f.unsound || list[i].Unsound, f.leaks || list[i].Leaks
		}
		t.Arranged = t.Arranged || f.arranged
	}
	t.capNext, t.Turns = false, true
	t.out.WriteString(last.wrapper + "\n")

	for i := range list {
		t.element(&list[i], a.within())

		if i < len(list)-1 {
			t.space(list[i].after)
		}
	}
	t.out.WriteString(last.rule + "\n</div>")
}

// element writes a block without the text after it.
func (t *writer) element(s *neighbour, a area) {
	next := t.capNext
	t.capNext = false

	switch s.Kind {
	case block.Place:
		t.place(s, a)
	case block.Heading:
		t.heading(s.Block, a)
	case block.Paragraph:
		if s.tag == "" {
			t.paragraph(s.Block, a, next)
			return
		}
		t.plain(s, a)
	case block.Table:
		t.table(s, a)
	case block.Code:
		t.code(s.Block, a)
	case block.Diagram:
		t.diagram(s)
	case block.Division:
		t.division(s.Block, a)
	case block.Note:
		from := t.out.Len()
		t.plain(s, a)
		t.notes = append(t.notes, [2]int{from, t.out.Len()})
	default:
		t.Footnotes = t.Footnotes || s.Kind == block.Footnotes
		t.plain(s, a)
	}
}

// plain writes a block as it is, with another start tag if it has one.
func (t *writer) plain(s *neighbour, a area) {
	t.out.WriteString(cmp.Or(s.tag, s.Tag()))
	t.inner(s.Block, a.within())
}

// inner writes the rest of a block after its start tag.
func (t *writer) inner(b *block.Block, a area) {
	text := b.Element()

	at := len(b.Tag())
	if len(b.Blocks) == 0 {
		t.text(text[at:], a)
		return
	}

	list := make([]neighbour, len(b.Blocks))
	for i := range b.Blocks {
		child := &b.Blocks[i]
		list[i].Block = child

		next := len(text)
		if i+1 < len(b.Blocks) {
			next = b.Blocks[i+1].At
		}

		if list[i].after = text[child.At+len(child.HTML) : next]; a.table {
			list[i].after = block.FillCells(list[i].after)
		}
	}
	t.text(text[at:b.Blocks[0].At], a)
	t.write(list, a)
}

// text writes content without blocks.
func (t *writer) text(text string, a area) {
	if a.table {
		text = block.FillCells(text)
	}
	t.out.WriteString(text)
}

// place writes the generated pieces at the first place of their class. Further places get nothing.
func (t *writer) place(s *neighbour, a area) {
	list, known := t.pieces[s.Classes[0]]
	if !known {
		t.plain(s, a)
		return
	}
	t.pieces[s.Classes[0]] = nil

	for i, m := range list {
		if a.topmost {
			if i > 0 {
				t.done[len(t.done)-1].to = t.out.Len()
				t.done = append(t.done, finished{from: t.out.Len()})
			}
			f := &t.done[len(t.done)-1]
			f.made, f.breaks = true, m.OwnPage
		}

		for _, at := range m.Numbers {
			t.numbers = append(t.numbers, t.out.Len()+at)
		}
		t.Pages = append(t.Pages, m.Pages...)
		t.out.WriteString(m.HTML)
	}
}

// paragraph writes a paragraph. It marks paragraphs that may continue on the next page, those that stay with the
// following block, and those of pictures alone. Short paragraphs stay in one piece. Chromium would leave one line of
// four alone: it obeys the CSS property widows only if there are enough lines for orphans. mayHaveCap is true if it may
// have a drop cap.
func (t *writer) paragraph(b *block.Block, a area, mayHaveCap bool) {
	const whole = 3 // lines of a paragraph that stays in one piece
	at := b.NameEnd()
	t.out.WriteString(b.HTML[:at])

	pictures := false
	if b.Closed && !b.HoldsParagraphs() {
		if pictures = b.PicturesOnly(); pictures {
			t.out.WriteString(" data-pictures")
		}

		if b.Lines(t.perLine) > whole {
			t.out.WriteString(" data-long")
		}

		if b.Leads() {
			t.out.WriteString(" data-lead")
		}
	}

	plain := b.Bare()
	if mayHaveCap && plain && dropCap(b) {
		t.out.WriteString(` class="drop-cap"`)
		t.DropCaps, plain = true, false
	}

	if a.topmost {
		f := &t.done[len(t.done)-1]
		f.plain, f.pictures = plain, pictures
	}
	t.out.WriteString(b.Tag()[at:])
	t.inner(b, a.within())
}

// division writes a div. A div for the other orientation gets turned pages.
func (t *writer) division(b *block.Block, a area) {
	if !t.turnsPage(b, a) {
		t.plain(&neighbour{Block: b}, a)
		return
	}

	if a.topmost {
		t.done[len(t.done)-1].breaks = true
	}
	t.Turns = true
	t.out.WriteString(turnedStart + "\n" + b.Tag())
	a.sheet.Width, a.sheet.Height = a.sheet.Height, a.sheet.Width
	t.inner(b, area{sheet: a.sheet, turned: true, page: true, table: a.table})
	t.out.WriteString("\n</div>")
}
