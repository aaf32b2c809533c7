package pack

import (
	"errors"
	"fmt"
	"slices"

	"presswork/internal/pdffile"
)

// accessible converts a printed PDF to PDF/UA-1 as far as possible and returns what is missing, in words for the
// author. undescribed is Finish.Undescribed; notdef is true if a page shows glyph 0.
func accessible(f *pdffile.File, catalog pdffile.Dict, undescribed int, notdef bool) (missing []string) {
	root, err := f.Dictionary(catalog.Get("StructTreeRoot"))
	if err != nil {
		return []string{"the document has no tags"}
	}

	t, err := readTree(f, root)
	if err != nil {
		return []string{"the tags cannot be read: " + err.Error()}
	}
	// Look for problems before mending, which changes the kinds of elements.
	missing = t.missing(undescribed)
	t.mend()
	t.write()

	if err := markPages(f); err != nil {
		missing = append(missing, "not everything on the pages could be tagged: "+err.Error())
	}

	if notdef {
		missing = append(missing, errNotdef.Error())
	}

	if len(catalog.Get("Lang")) <= len("()") { // absent or empty
		missing = append(missing, "the document has no language; set lang")
	}

	return missing
}

var errNotdef = errors.New("some characters are in no installed font")

// missing lists the problems that only the author can solve.
func (t *tree) missing(undescribed int) (missing []string) {
	var headings pdffile.HeadingOrder
	noAlt, irregular := 0, 0
	t.each(t.root, func(e, _ *element) {
		headings.Add(e.kind)

		if e.kind == "Table" && !t.isRegular(e) {
			irregular++
		}

		if e.kind == "Figure" && !e.hasAlt() && !t.holdsElements(e) {
			noAlt++
		}
	})

	if headings.Problem != "" {
		missing = append(missing, headings.Problem)
	}

	if irregular > 0 {
		missing = append(missing, "a table has rows of different lengths")
	}

	// Both counts may include the same images, so they are not added.
	switch noAlt = max(noAlt, undescribed); {
	case noAlt == 1:
		missing = append(missing, "an image has no alternative text")
	case noAlt > 1:
		missing = append(missing, fmt.Sprintf("%d images have no alternative text", noAlt))
	}

	return missing
}

// holdsElements reports whether an element contains other elements.
func (t *tree) holdsElements(e *element) bool {
	return slices.ContainsFunc(e.kids, func(k []byte) bool { return t.child(k) != nil })
}

// markPages marks untagged content of all pages and forms as artifacts.
func markPages(f *pdffile.File) error {
	canvases, err := f.Canvases()
	if err != nil {
		return err
	}
	drawn := map[int]int{}

	for _, c := range canvases {
		if c.Form && !c.Tagged {
			continue
		}

		d, content, err := f.Stream(c.Content)
		if err != nil {
			return err
		}

		if content, err = markArtifacts(c, content, drawn); err != nil {
			return err
		}
		f.SetStream(c.Content, d, content)
	}

	return nil
}

// showsNotdef reports whether any text of the file shows glyph 0.
func showsNotdef(f *pdffile.File) (bool, error) {
	canvases, err := f.Canvases()
	if err != nil {
		return false, err
	}

	for _, c := range canvases {
		_, content, err := f.Stream(c.Content)
		if err != nil {
			return false, err
		}

		if found, err := c.ShowsNotdef(content); found || err != nil {
			return found, err
		}
	}

	return false, nil
}
