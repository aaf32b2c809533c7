package pdf

import (
	_ "embed"
	"encoding/json"
	"strings"

	"presswork/internal/pdf/file"
)

//go:embed arrange.js
var arrangeJS string

// smallestPicture is how much of its size a picture keeps that is made smaller to
// fit on the rest of a page.
const smallestPicture = 0.75

// footnotes reports whether the page has notes for the foot of its pages.
func (p page) footnotes() bool {
	return !p.slides && p.options.Footnotes != "end" && strings.Contains(p.body, `<div class="footnotes"`)
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
	if !notes && !strings.Contains(p.body, "<img ") && !strings.Contains(p.body, `<div class="diagram">`) {
		return ""
	}
	const pixels = 96 / 25.4 // to the millimetre
	s := p.sheet
	beside, above, below := s.strips()
	layout := func(mm float64) float64 { return mm * pixels / s.scale }
	// Numbers and a boolean cannot fail.
	settings, _ := json.Marshal(map[string]any{
		"width": layout(s.width - s.left - s.right + 2*beside), "height": layout(s.height - s.top - s.bottom + above + below),
		"top": layout(above), "bottom": layout(below), "gap": layout(s.left + s.right), "smallest": smallestPicture, "notes": notes,
	})
	return arrangeJS + "(" + string(settings) + ")"
}

// notesStand reports whether each note at the foot of a page is on the page that
// refers to it.
func notesStand(printed []byte) bool {
	f, err := file.Read(printed)
	if err != nil {
		return true // nothing is known against it
	}
	pages, err := f.Anchors()
	return err != nil || notesStandAt(pages)
}

func notesStandAt(pages map[string]int) bool {
	for id, page := range pages {
		note, ok := strings.CutPrefix(id, footPrefix+"fn:")
		if from := pages["fnref:"+note]; ok && from > 0 && from != page {
			return false
		}
	}
	return true
}

// footPrefix begins the id of a note that the script put at the foot of a page.
const footPrefix = "foot-"
