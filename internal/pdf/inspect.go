package pdf

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
)

// area is where text may lie on a page, in points from the left and from below.
// Above and below it nobody asks: there is the text of the margins.
type area struct {
	left, right, bottom, top float64
	// lineEnd is where lines end at the latest, on the right or, from right to
	// left, on the left.
	lineEnd float64
	// smallest is the size of type that can just be read, in points.
	smallest float64
}

// endsAt tells whether a clip is that of the column: it ends where lines do.
func (a area) endsAt(clip span) bool {
	const near = 1
	return math.Abs(a.lineEnd-clip.to) < near || math.Abs(a.lineEnd-clip.from) < near
}

func (a area) leaves(x, y float64) bool {
	return (x < a.left || x > a.right) && y >= a.bottom && y <= a.top
}

// misfit is text that does not fit: some of it lies outside its area, or all has
// become too small to read.
type misfit struct {
	page int
	size float64 // in points; 0 if it lies outside
	text string
}

// inspector reads the text of a print, looking for what went wrong with it.
type inspector struct {
	file   *skiaFile
	maps   map[int]textMap // by font object
	widths map[int]widths  // by font object
	// wanted are the characters to look for.
	wanted map[rune]bool
	shown  map[rune]bool // those found that have a glyph
	// missing are the texts printed as glyph 0, each once, in their order.
	// nameless says that there are more: the first of each font has no text.
	missing  []string
	nameless bool
	misfits  []misfit
}

// maxFindings keeps a hostile document from filling memory with them.
const maxFindings = 1000

func newInspector(f *skiaFile, wanted []rune) *inspector {
	i := &inspector{file: f, maps: map[int]textMap{}, widths: map[int]widths{}, wanted: map[rune]bool{}, shown: map[rune]bool{}}
	for _, r := range wanted {
		i.wanted[r] = true
	}
	return i
}

// all goes through the pages, then the forms that they draw. areaOf tells
// where the text of a page may lie, by the page's number, from 1, and size in
// points; nil does not ask, and forms are not asked either.
func (i *inspector) all(ctx context.Context, areaOf func(page int, width, height float64) *area) error {
	pages, err := i.file.pageNumbers()
	if err != nil {
		return err
	}
	objects := slices.SortedFunc(maps.Keys(pages), func(a, b int) int { return cmp.Compare(pages[a], pages[b]) })
	for n, o := range i.file.objects {
		if isForm(o) {
			objects = append(objects, n)
		}
	}
	for _, n := range objects {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := i.surface(n, pages[n], areaOf); err != nil {
			return err
		}
	}
	return nil
}

// surface reads one page, or a form, whose page is 0.
func (i *inspector) surface(object, page int, areaOf func(int, float64, float64) *area) error {
	d, _, err := readDict(i.file.objects[object])
	if err != nil {
		return err
	}
	r := reader{inspector: i, page: page, view: view{identity, everywhere}, path: everywhere}
	if r.faces, err = i.file.faces(d.get("Resources")); err != nil {
		return err
	}
	content := object
	if page > 0 {
		var ok bool
		if content, ok = reference(d.get("Contents")); !ok || content >= len(i.file.objects) {
			return errObject
		}
		if areaOf != nil {
			box, err := readArray(d.get("MediaBox"))
			if err != nil {
				return err
			}
			size, err := numbers(box, 4)
			if err != nil {
				return err
			}
			r.inside = areaOf(page, size[2], size[3])
		}
	}
	_, data, err := i.file.stream(content)
	if err != nil {
		return err
	}
	if err := eachOperation(data, r.operation); err != nil {
		return err
	}
	r.endRun()
	if n := len(i.misfits); r.shapeCut && n < maxFindings && (n == 0 || i.misfits[n-1].page != page) {
		i.misfits = append(i.misfits, misfit{page: page})
	}
	return nil
}

// face is a font as a page names it.
type face struct {
	object int
	width  int // bytes of a code
}

// faces reads the fonts of resources.
func (f *skiaFile) faces(resources []byte) (map[string]face, error) {
	found := map[string]face{}
	if resources == nil {
		return found, nil
	}
	all, err := f.dictionary(resources)
	if err != nil || all.get("Font") == nil {
		return found, err
	}
	named, err := f.dictionary(all.get("Font"))
	for _, entry := range named {
		n, ok := reference(entry.value)
		if !ok || n >= len(f.objects) {
			return nil, errObject
		}
		width := 1
		if bytes.Contains(f.objects[n], []byte("/Subtype /Type0\n")) {
			width = 2
		}
		found[entry.key] = face{n, width}
	}
	return found, err
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
