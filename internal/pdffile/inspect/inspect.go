// Package inspect finds text of a printed PDF that no font can show or that does not fit on its page.
//
// Text follows the operations of each page and form: the transformation, the clip, the font and the marked content. A
// glyph 0 is a character that the font lacks. A run of text between two structural marks becomes one Misfit. It leaves
// the page's Area, the clip cuts it off, or its type is too small.
package inspect

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"

	"presswork/internal/pdffile"
)

// Area is the part of a page that text may cover, in points from the left and the bottom edge. Text above or below
// the area belongs to the margins and is not checked.
type Area struct {
	Left, Right, Bottom, Top float64
	// LineEnd is the farthest end of a line: a right edge, or a left edge for text from right to left.
	LineEnd float64
	// Smallest is the smallest readable type size, in points.
	Smallest float64
}

// endsAt reports whether a clip is that of the text column: one of its edges is at LineEnd.
func (a Area) endsAt(clip span) bool {
	const near = 1 // points
	return math.Abs(a.LineEnd-clip.to) < near || math.Abs(a.LineEnd-clip.from) < near
}

// leaves reports whether a point is to the left or the right of the area. x and y are in points from the lower left
// corner of the page.
func (a Area) leaves(x, y float64) bool {
	return (x < a.Left || x > a.Right) && y >= a.Bottom && y <= a.Top
}

// AreaOf returns the area of a page by its number, from 1, and its size in points; nil allows any place.
type AreaOf func(page int, width, height float64) *Area

// Misfit is text that does not fit. Either part of it lies outside its area, or it is too small to read.
type Misfit struct {
	// Page is the page number, from 1.
	Page int
	// Size is the type size in points; 0 if the text lies outside its area.
	Size float64
	// Text is the text that does not fit. It is "" if the fonts map no character to its glyphs, or if only a cut shape
	// shows that something is missing.
	Text string
}

// Findings are the problems with the text of a printed PDF.
type Findings struct {
	// Missing are the texts without a glyph in any font, without repetitions.
	Missing []string
	// Misfits are the texts that do not fit, in page order.
	Misfits []Misfit
}

// inspector collects the Findings of one file.
type inspector struct {
	file   *pdffile.File
	widths map[int]pdffile.Widths // by font object
	// wanted are the characters to check, shown those among them that were found with a glyph.
	wanted map[rune]bool
	shown  map[rune]bool
	// missing are the texts printed as glyph 0, without repetitions, in order. nameless is true if the text of some
	// is unknown: the first missing character of each font has no text in the font's map.
	missing  []string
	nameless bool
	misfits  []Misfit
}

// maxFindings limits the length of each list of findings, because a hostile document can contain any number of
// them.
const maxFindings = 1000

// Text finds the characters of wanted that no font has, and text that does not fit. wanted should hold only characters
// outside of ASCII, which the other checks ignore. areaOf gets a page's number, from 1, and its size in points. It
// returns the area for the page's text; a nil area, or a nil areaOf, allows any place. Errors: those of the file, and
// the cause of ctx.
func Text(ctx context.Context, f *pdffile.File, wanted []rune, areaOf AreaOf) (Findings, error) {
	i := &inspector{file: f, widths: map[int]pdffile.Widths{}, wanted: map[rune]bool{}, shown: map[rune]bool{}}
	for _, r := range wanted {
		i.wanted[r] = true
	}

	// Without areas the fonts usually suffice. Reading the pages takes longer.
	if areaOf == nil && i.fontsHave(wanted) {
		return Findings{}, nil
	}

	if err := i.readAll(ctx, areaOf); err != nil {
		return Findings{}, err
	}

	return Findings{Missing: i.allMissing(wanted), Misfits: i.misfits}, nil
}

// readAll reads the pages, then the forms that they draw. It does not call areaOf for forms.
func (i *inspector) readAll(ctx context.Context, areaOf AreaOf) error {
	pages, err := i.file.PageNumbers()
	if err != nil {
		return err
	}

	canvases, err := i.file.Canvases()
	if err != nil {
		return err
	}
	order := func(c pdffile.Canvas) int {
		if c.Form {
			return len(i.file.Objects) // sorts after every page
		}

		return pages[c.Number]
	}
	slices.SortStableFunc(canvases, func(a, b pdffile.Canvas) int { return cmp.Compare(order(a), order(b)) })

	for _, c := range canvases {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}

		if err := i.canvas(c, pages[c.Number], areaOf); err != nil {
			return err
		}
	}

	return nil
}

// canvas reads a page or a form. page is 0 for a form.
func (i *inspector) canvas(c pdffile.Canvas, page int, areaOf AreaOf) error {
	r := reader{inspector: i, page: page, faces: c.Faces, view: view{identity, everywhere}, path: everywhere}
	if page > 0 && areaOf != nil {
		box, err := pdffile.ReadArray(c.Dict.Get("MediaBox"))
		if err != nil {
			return err
		}

		size, err := pdffile.Numbers(box, 4)
		if err != nil {
			return err
		}
		r.inside = areaOf(page, size[2], size[3])
	}

	_, data, err := i.file.Stream(c.Content)
	if err != nil {
		return err
	}

	if err := pdffile.EachOperation(data, r.operation); err != nil {
		return err
	}
	r.endRun()

	// A cut shape is news only if no text of the page has been reported.
	if n := len(i.misfits); r.shapeCut && n < maxFindings && (n == 0 || i.misfits[n-1].Page != page) {
		i.misfits = append(i.misfits, Misfit{Page: page})
	}

	return nil
}

// note records a shown text. missing is true if at least one of its glyphs is glyph 0.
func (i *inspector) note(text string, missing bool) {
	if !missing {
		for _, r := range text {
			if r >= 0x7f && i.wanted[r] {
				i.shown[r] = true
			}
		}

		return
	}

	i.nameless = i.nameless || text == ""
	if text != "" && len(i.missing) < maxFindings && !slices.Contains(i.missing, text) {
		i.missing = append(i.missing, text)
	}
}

// fontsHave reports whether the fonts in the file show all of the wanted characters. Chromium embeds only the
// glyphs that are used.
func (i *inspector) fontsHave(wanted []rune) bool {
	for n, o := range i.file.Objects {
		if !bytes.HasPrefix(o, []byte("<</Type /Font\n")) || !bytes.Contains(o, []byte("/ToUnicode ")) {
			continue
		}

		for code, text := range i.file.TextMap(n) {
			if code > 0 {
				i.note(text, false)
			}
		}
	}

	return !slices.ContainsFunc(wanted, func(r rune) bool { return !i.shown[r] })
}

// allMissing returns the texts known to be missing and, if nameless is set, the wanted characters that were never
// shown.
func (i *inspector) allMissing(wanted []rune) []string {
	all := i.missing
	if !i.nameless {
		return all
	}
	known := map[rune]bool{}

	for _, text := range i.missing {
		for _, r := range text {
			known[r] = true
		}
	}

	for _, r := range wanted {
		if !i.shown[r] && !known[r] {
			all = append(all, string(r))
		}
	}

	return all
}

// widthsOf returns a composite font's widths and caches them. For other fonts, and for fonts that cannot be read,
// the widths are 0.
func (i *inspector) widthsOf(font int) pdffile.Widths {
	w, known := i.widths[font]
	if !known {
		w = i.file.ReadWidths(font)
		i.widths[font] = w
	}

	return w
}
