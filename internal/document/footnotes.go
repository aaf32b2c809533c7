package document

import (
	"context"
	"math"

	"presswork/internal/document/arrange"
	"presswork/internal/pdffile"
)

// footnotes reports whether the page has notes for the foot of its pages.
func (p page) footnotes() bool {
	return p.text != nil && p.options.Footnotes != "end" && p.text.footnotes
}

// arrangement returns the script that arranges the page before it is printed, or "" if the page
// has neither footnotes nor pictures.
func (p page) arrangement() string {
	notes := p.footnotes()
	if !notes && !p.text.arranged {
		return ""
	}
	const pixels = 96 / 25.4 // to the millimetre
	s := p.sheet
	beside, above, below := s.Strips()
	layout := func(mm float64) float64 { return mm * pixels / s.Scale }
	// Chromium lays pages out in 64ths of a pixel, on an area of whole pixels.
	area := func(mm float64) float64 { return math.Ceil(math.Floor(layout(mm)*64) / 64) }

	return arrange.Call(arrange.Settings{
		Width:    area(s.TextWidth() + 2*beside),
		Height:   area(s.TextHeight() + above + below),
		Top:      layout(above),
		Bottom:   layout(below),
		Gap:      layout(s.Left + s.Right),
		Smallest: arrange.SmallestPicture,
		Notes:    notes,
	})
}

// misplacedNotes returns the notes of a print that arrange.Misplaced finds, or none if the print
// cannot be read.
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

// keepAtEnd places misplaced notes at the end of the document in the next print: the pages did
// not break where the script expected them to. After some prints, it does so with all notes.
func (p *printing) keepAtEnd(ctx context.Context, notes []string) {
	const mostPrints = 3
	if p.notesMoved++; p.notesMoved > mostPrints {
		p.log.WarnContext(ctx, "all footnotes moved to the end of the document: unexpected page breaks")
		p.Page.Prepare, p.footnotes = "", false

		return
	}
	p.log.WarnContext(ctx, "some footnotes moved to the end of the document: unexpected page breaks",
		"notes", len(notes))
	p.Page.Prepare = arrange.KeepAtEnd(p.Page.Prepare, notes)
}
