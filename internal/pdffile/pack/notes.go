package pack

import (
	"fmt"
	"strings"

	"presswork/internal/pdffile"
)

// annotate adds each note to the page of its anchor, as a text annotation that readers show on request. It skips
// notes whose anchor has no page.
func annotate(f *pdffile.File, notes []Note) error {
	anchors, err := f.Anchors()
	if err != nil {
		return err
	}

	numbers, err := f.PageNumbers()
	if err != nil {
		return err
	}

	pages := map[int]int{} // page objects by page number
	for object, number := range numbers {
		pages[number] = object
	}

	for _, note := range notes {
		number := anchors[note.Anchor]
		if number == 0 && len(pages) == 1 {
			number = 1 // a single slide has no destination, because nothing links to it
		}

		object, ok := pages[number]
		if !ok {
			continue
		}

		page, _, err := pdffile.ReadDict(f.Objects[object])
		if err != nil {
			return err
		}
		// F 24 is NoZoom and NoRotate without Print (ISO 32000-1, 12.5.3): the note is not printed.
		annotation := pdffile.RefTo(f.Add(fmt.Appendf(nil,
			"<</Type /Annot\n/Subtype /Text\n/Rect [12 12 32 32]\n/F 24\n/Name /Note\n/P %s\n/Contents %s>>",
			pdffile.RefTo(object), pdffile.TextString(note.Text))))

		list := strings.TrimSpace(string(page.Get("Annots")))
		if referenced, ok := f.Object([]byte(list)); ok {
			list = strings.TrimSpace(string(f.Objects[referenced]))
		}
		page.Set("Annots", "["+strings.TrimSuffix(strings.TrimPrefix(list, "["), "]")+" "+annotation+"]")
		f.Objects[object] = page.Bytes()
	}

	return nil
}
