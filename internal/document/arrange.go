package document

import (
	"context"
	"embed"
	"encoding/json"
	"io/fs"
	"math"
	"strings"
	"sync"

	"presswork/internal/pdffile"
)

//go:embed arrange/*.js
var arrangeFiles embed.FS

// arrangeJS is the function that the files of arrange/ make together; nothing in them is
// known outside of it.
var arrangeJS = sync.OnceValue(func() string {
	var b strings.Builder
	b.WriteString("((settings, atEnd) => {\n")

	names, _ := fs.Glob(arrangeFiles, "arrange/*.js") // the pattern is well-formed
	for _, name := range names {
		source, _ := arrangeFiles.ReadFile(name) // it is in the binary
		b.Write(source)
	}
	b.WriteString("return arrange(settings, atEnd);\n})")

	return b.String()
})

// smallestPicture is how much of its size a picture keeps that is made smaller to
// fit on the rest of a page.
const smallestPicture = 0.75

// footnotes reports whether the page has notes for the foot of its pages.
func (p page) footnotes() bool {
	return p.text != nil && p.options.Footnotes != "end" && p.text.footnotes
}

// arranged has the elements that the script makes, for the rules about them.
func (p page) arranged() string {
	if !p.footnotes() {
		return ""
	}

	return `<div class="foot foot-empty foot-continued foot-last"><div class="foot-note"><p><a class="foot-number"></a></p></div></div>`
}

// arrangement is the script that arranges a page before it is printed; "" when it
// has nothing that could be.
func (p page) arrangement() string {
	notes := p.footnotes()
	if !notes && !p.text.arranged {
		return ""
	}
	const pixels = 96 / 25.4 // to the millimetre
	s := p.sheet
	beside, above, below := s.strips()
	layout := func(mm float64) float64 { return mm * pixels / s.scale }
	// Chromium lays pages out in 64ths of a pixel, on an area of whole pixels.
	area := func(mm float64) float64 { return math.Ceil(math.Floor(layout(mm)*64) / 64) }
	// Numbers and a boolean cannot fail.
	settings, _ := json.Marshal(map[string]any{
		"width": area(
			s.width - s.left - s.right + 2*beside,
		),
		"height": area(s.height - s.top - s.bottom + above + below),
		"top": layout(
			above,
		),
		"bottom":   layout(below),
		"gap":      layout(s.left + s.right),
		"smallest": smallestPicture,
		"notes":    notes,
	})

	return arrangeJS() + "(" + string(settings) + ", [" + noneAtEnd
}

// movedNotes are the first notes at the foot of a page other than the one that refers to
// them. Others may only have made room for them.
func movedNotes(printed []byte) []string {
	f, err := pdffile.Read(printed)
	if err != nil {
		return nil // nothing is known against them
	}

	pages, err := f.Anchors()
	if err != nil {
		return nil
	}

	return movedNotesAt(pages)
}

func movedNotesAt(pages map[string]int) (moved []string) {
	first := math.MaxInt

	for id, page := range pages {
		note, ok := strings.CutPrefix(id, footPrefix+"fn:")

		from := pages["fnref:"+note]
		if !ok || from == 0 || from == page || from > first {
			continue
		}

		if from < first {
			first, moved = from, nil
		}
		moved = append(moved, "fn:"+note)
	}

	return moved
}

// endNotes has notes that moved placed at the end of the document: the pages did not
// break where they were expected to. Where that happens again and again, all are.
func (p *printing) endNotes(ctx context.Context, moved []string) {
	const most = 3 // prints more
	if p.notesMoved++; p.notesMoved > most {
		p.log.WarnContext(
			ctx,
			"footnotes are at the end of the document: the pages did not break where they were expected to",
		)
		p.Page.Prepare, p.footnotes = "", false

		return
	}
	p.log.WarnContext(
		ctx,
		"some footnotes are at the end of the document: their page did not break where it was expected to",
		"notes",
		len(moved),
	)

	for _, id := range moved {
		quoted, _ := json.Marshal(id) // a string cannot fail
		p.Page.Prepare = strings.TrimSuffix(p.Page.Prepare, noneAtEnd) + string(quoted) + "," + noneAtEnd
	}
}

// noneAtEnd ends the call of the script: no further note stays at the end.
const noneAtEnd = "])"

// footPrefix begins the id of a note that the script put at the foot of a page.
const footPrefix = "foot-"
