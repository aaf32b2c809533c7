// Package inspect finds text of a print that no font has or that does not fit.
package inspect

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"

	"presswork/internal/pdffile"
)

// Area is where text may lie on a page, in points from the left and from below.
// Text above and below it is not looked at: it is that of the margins.
type Area struct {
	Left, Right, Bottom, Top float64
	// LineEnd is where lines end at the latest, on the right or, from right to
	// left, on the left.
	LineEnd float64
	// Smallest is the size of type that can just be read, in points.
	Smallest float64
}

// endsAt reports whether a clip is that of the column: it ends where lines do.
func (a Area) endsAt(clip span) bool {
	const near = 1
	return math.Abs(a.LineEnd-clip.to) < near || math.Abs(a.LineEnd-clip.from) < near
}

func (a Area) leaves(x, y float64) bool {
	return (x < a.Left || x > a.Right) && y >= a.Bottom && y <= a.Top
}

// Misfit is text that does not fit: some of it lies outside its area, or all has
// become too small to read.
type Misfit struct {
	// Page counts from 1.
	Page int
	// Size is that of the type in points; 0 if the text lies outside.
	Size float64
	// Text may be "".
	Text string
}

// Findings are what is wrong with the text of a print.
type Findings struct {
	// Missing are the texts that no font has, each once.
	Missing []string
	// Misfits are those of each page, in the order of the pages.
	Misfits []Misfit
}

// inspector reads the text of a print, looking for what went wrong with it.
type inspector struct {
	file   *pdffile.File
	widths map[int]pdffile.Widths // by font object
	// wanted are the characters to look for.
	wanted map[rune]bool
	shown  map[rune]bool // those found that have a glyph
	// missing are the texts printed as glyph 0, each once, in their order.
	// nameless reports that there are more: the first of each font has no text.
	missing  []string
	nameless bool
	misfits  []Misfit
}

// maxFindings keeps a hostile document from filling memory with them.
const maxFindings = 1000

// Text finds the characters of wanted that no font has, and text that does not fit.
// areaOf returns the area for the text of a page, given the page's number, from 1, and
// its size in points. A nil area, or a nil areaOf, allows any place. Errors: the
// file's, ctx's cause.
func Text(
	ctx context.Context,
	f *pdffile.File,
	wanted []rune,
	areaOf func(page int, width, height float64) *Area,
) (Findings, error) {
	i := &inspector{file: f, widths: map[int]pdffile.Widths{}, wanted: map[rune]bool{}, shown: map[rune]bool{}}
	for _, r := range wanted {
		i.wanted[r] = true
	}

	if areaOf == nil && i.fontsHave(wanted) {
		return Findings{}, nil
	}

	if err := i.all(ctx, areaOf); err != nil {
		return Findings{}, err
	}

	return Findings{Missing: i.allMissing(wanted), Misfits: i.misfits}, nil
}

// all goes through the pages, then the forms that they draw, of which areaOf is
// not asked.
func (i *inspector) all(ctx context.Context, areaOf func(page int, width, height float64) *Area) error {
	pages, err := i.file.PageNumbers()
	if err != nil {
		return err
	}

	canvases, err := i.file.Canvases()
	if err != nil {
		return err
	}
	place := func(c pdffile.Canvas) int {
		if c.Form {
			return len(i.file.Objects) // after every page
		}

		return pages[c.Number]
	}
	slices.SortStableFunc(canvases, func(a, b pdffile.Canvas) int { return cmp.Compare(place(a), place(b)) })

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

// canvas reads one page, or a form, whose page is 0.
func (i *inspector) canvas(c pdffile.Canvas, page int, areaOf func(int, float64, float64) *Area) error {
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

	if n := len(i.misfits); r.shapeCut && n < maxFindings && (n == 0 || i.misfits[n-1].Page != page) {
		i.misfits = append(i.misfits, Misfit{Page: page})
	}

	return nil
}

// note files a text and whether all of it has glyphs.
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

// fontsHave reports whether each of the characters is among those that the fonts in
// the file show: Chromium embeds only the glyphs that are used.
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

// allMissing adds, to the texts that are known to be missing, the characters
// that must be: they are wanted and nowhere shown.
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

// widthsOf reads a composite font's widths, once. Of other fonts, and of what
// cannot be read, glyphs count as having none.
func (i *inspector) widthsOf(font int) pdffile.Widths {
	w, known := i.widths[font]
	if !known {
		w = i.file.ReadWidths(font)
		i.widths[font] = w
	}

	return w
}
