package pack

import (
	"bytes"
	"fmt"

	"presswork/internal/pdffile"
)

// article is the beginning of the structure element that Chromium writes for an article element.
var article = []byte("<</Type /StructElem\n/S /Art\n")

// markNotes turns articles into notes if they begin with a link back to their reference. Chromium tags no HTML element
// as a note, so footnotes are printed as article elements. PDF/UA requires a unique ID for each note (ISO 14289-1,
// 7.9).
func markNotes(f *pdffile.File) error {
	notes := 0

	for n, o := range f.Objects {
		if !bytes.HasPrefix(o, article) {
			continue
		}

		d, _, err := pdffile.ReadDict(o)
		if err != nil {
			return fmt.Errorf("structure element %d: %w", n, err)
		}

		if leadsBack(f, d) {
			notes++
			d.Set("S", "/Note")
			d.Set("ID", fmt.Sprintf("(note-%d)", notes))
			f.Objects[n] = d.Bytes()
		}
	}

	return nil
}

// leadsBack reports whether an element begins with a link to a footnote reference.
func leadsBack(f *pdffile.File, d pdffile.Dict) bool {
	const maxDepth = 8 // of the link within the note; the kids may form a cycle
	for range maxDepth {
		kids, err := pdffile.ReadArray(d.Get("K"))
		if err != nil || len(kids) == 0 {
			return false
		}

		for _, k := range kids {
			if !isAnnotation(k) {
				continue
			}

			link, _, err := pdffile.ReadDict(k)
			if err != nil {
				return false
			}
			n, ok := f.Object(link.Get("Obj"))

			return ok && bytes.Contains(f.Objects[n], []byte("/Dest /fnref"))
		}

		if d, err = f.Dictionary(kids[0]); err != nil {
			return false
		}
	}

	return false
}
