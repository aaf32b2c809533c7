// Package edit merges, splits, rotates and stamps PDF files of any program. It keeps their tags, links, outlines,
// labels, attachments and forms where it can, and names what it drops.
//
// The operations are Merge, Extract, Rotate and Stamp, with TextMark, ImageMark or PageMark for what to stamp; About,
// Sizes and Pages read. Each operation takes a file from package parse and begins with Pages, which makes the pages
// independent of each other. It ends with Clean, which removes what the result does not need. Files are hostile: the
// tree, the outline and the tags may have cycles or any depth.
//
// Errors say which part of a file is damaged, or which page or mark is not allowed. After an error the file must not
// be used.
package edit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"presswork/internal/pdffile"
)

// MaxPages limits the pages of an input, and of a merged file.
const MaxPages = 100_000

// maxGrowth limits, in bytes, how much a file grows when each page gets its own copy of values that pages share.
const maxGrowth = 256 << 20

var errGrowth = errors.New("the pages of the PDF share too much data")

var errPageTree = errors.New("the page tree is damaged")

// inherited are the entries that a page takes from the nodes above it (ISO 32000-2, table 31).
var inherited = []string{"Resources", "MediaBox", "CropBox", "Rotate"}

// Pages returns the object numbers of the pages in their order. It moves inherited entries into the pages, and
// annotations into objects of their own. A page that the tree names twice is copied. Afterwards each page can be moved
// or removed without its neighbours. Errors: a damaged page tree, more than MaxPages pages, or pages whose shared data
// would grow the file by more than 256 MiB.
func Pages(f *pdffile.File) (pages []int, err error) {
	catalog, err := f.Dictionary([]byte(pdffile.RefTo(f.Root)))
	if err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	type node struct {
		ref  []byte
		from pdffile.Dict
	}
	seen := map[int]bool{}
	grown := 0 // bytes

	// A stack instead of recursion: a hostile tree can be millions of nodes deep.
	for todo := []node{{ref: catalog.Get("Pages")}}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		n, ok := f.Object(at.ref)

		if !ok {
			return nil, fmt.Errorf("%w: %.20q is not a page", errPageTree, at.ref)
		}

		d, rest, err := pdffile.ReadDict(f.Objects[n])
		if err != nil || len(rest) > 0 {
			return nil, fmt.Errorf("%w: object %d is not a page", errPageTree, n)
		}
		kids := d.Get("Kids")

		if seen[n] {
			if kids != nil {
				return nil, fmt.Errorf("%w: object %d is a part of itself", errPageTree, n)
			}
			// A second use becomes a copy without tags, because the tags of the first use own the content of one page only.
			n = f.Add(nil)
			d.Remove("StructParents")
		}
		seen[n] = true

		inherit(&d, at.from)

		if kids == nil {
			if pages = append(pages, n); len(pages) > MaxPages {
				return nil, fmt.Errorf("the PDF has more than %d pages", MaxPages)
			}
			grown += ownAnnotations(f, &d) - len(f.Objects[n])
			f.Objects[n] = d.Bytes()

			if grown += len(f.Objects[n]); grown > maxGrowth {
				return nil, errGrowth
			}
			continue
		}

		shareInherited(f, &d)

		below, err := pdffile.ReadArray(resolve(f, kids))
		if err != nil {
			return nil, fmt.Errorf("%w: object %d", errPageTree, n)
		}

		// The last one pushed is read first, so push the kids in reverse.
		for _, kid := range slices.Backward(below) {
			todo = append(todo, node{kid, d})
		}
	}

	if len(pages) == 0 {
		return nil, errors.New("the PDF has no pages")
	}

	return pages, nil
}

// inherit sets the inherited entries that a node of the page tree lacks to those of the node above it.
func inherit(d *pdffile.Dict, from pdffile.Dict) {
	for _, key := range inherited {
		if value := from.Get(key); value != nil && d.Get(key) == nil {
			d.Set(key, string(value))
		}
	}
}

// shareInherited moves long inherited entries of a node into objects, so that the pages below share them.
func shareInherited(f *pdffile.File, d *pdffile.Dict) {
	const short = 60 // bytes

	for _, key := range inherited {
		if value := d.Get(key); len(value) > short {
			d.Set(key, pdffile.RefTo(f.Add(value)))
		}
	}
}

// ownAnnotations moves annotations that are written inside a page into objects, so that other objects can refer to
// them. It removes references to missing annotations. It returns the memory of the new objects, in bytes.
func ownAnnotations(f *pdffile.File, page *pdffile.Dict) (size int) {
	value := page.Get("Annots")
	if value == nil {
		return 0
	}

	var kept [][]byte

	for _, a := range arrayOf(f, value) {
		if bytes.HasPrefix(a, []byte("<<")) {
			const overhead = 64 // of an object in memory
			size += len(a) + overhead
			a = []byte(pdffile.RefTo(f.Add(a)))
		}

		if n, ok := f.Object(a); ok && f.Objects[n] != nil {
			kept = append(kept, a)
		}
	}
	page.Set("Annots", array(kept))

	return size
}

// resolve follows references to the value that they stand for. The result is nil for a missing object, and after eight
// references, because a reference may lead to itself.
func resolve(f *pdffile.File, value []byte) []byte {
	for range 8 {
		n, ok := pdffile.Reference(value)
		if !ok {
			return value
		}

		if n >= len(f.Objects) {
			return nil
		}
		value = f.Objects[n]
	}

	return nil
}

// dictOf reads a dictionary or a reference to one. The result is nil for anything else.
func dictOf(f *pdffile.File, value []byte) pdffile.Dict {
	d, rest, err := pdffile.ReadDict(resolve(f, value))
	if err != nil || len(rest) > 0 {
		return nil
	}

	return d
}

// arrayOf reads an array or a reference to one. Any other value, also a reference to it, counts as an array of one. The
// result is nil for a missing or malformed array.
func arrayOf(f *pdffile.File, value []byte) [][]byte {
	target := resolve(f, value)
	if target == nil || string(target) == "null" {
		return nil
	}

	if !bytes.HasPrefix(target, []byte("[")) {
		return [][]byte{value}
	}
	values, _ := pdffile.ReadArray(target)

	return values
}

// array writes an array of the values.
func array(values [][]byte) string { return "[" + string(bytes.Join(values, []byte(" "))) + "]" }

// eachDict returns value with visit applied to the dictionaries in it, the inner ones first. The recursion is bounded,
// because ReadDict rejects a value that is nested more than 50 deep.
func eachDict(value []byte, visit func(*pdffile.Dict)) []byte {
	switch {
	case bytes.HasPrefix(value, []byte("<<")):
		d, rest, err := pdffile.ReadDict(value)
		if err != nil {
			return value
		}

		for i := range d {
			d[i].Value = eachDict(d[i].Value, visit)
		}
		visit(&d)

		return append(d.Bytes(), rest...)
	case bytes.HasPrefix(value, []byte("[")) && bytes.Contains(value, []byte("<<")):
		values, err := pdffile.ReadArray(value)
		if err != nil {
			return value
		}

		for i := range values {
			values[i] = eachDict(values[i], visit)
		}

		return []byte(array(values))
	}

	return value
}

// Clean removes the objects to which no reference leads from the catalog or from Info. A removed object becomes nil, so
// object numbers stay the same. References to missing objects become references to a null object.
func Clean(f *pdffile.File) {
	reached := make([]bool, len(f.Objects))
	null := 0 // the number of the null object, once there is one
	todo := []int{f.Root, f.Info}

	for _, n := range todo {
		reached[n] = true
	}

	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		f.Objects[at] = pdffile.Renumber(f.Objects[at], func(n int) int {
			if n >= len(f.Objects) || f.Objects[n] == nil {
				if null == 0 {
					null = f.Add([]byte("null"))
					reached = append(reached, true)
				}

				return null
			}

			if !reached[n] {
				reached[n] = true
				todo = append(todo, n)
			}

			return n
		})
	}

	for n := range f.Objects {
		if !reached[n] {
			f.Objects[n] = nil
		}
	}
}

// Rotate turns pages clockwise by degrees, a multiple of 90. selected says which pages; their numbers count from 1.
// The degrees add to the rotation of the page and may be negative. Errors: those of Pages.
func Rotate(f *pdffile.File, degrees int, selected func(page int) bool) error {
	pages, err := Pages(f)
	if err != nil {
		return err
	}

	for i, n := range pages {
		if !selected(i + 1) {
			continue
		}
		turned := (rotation(f, dictOf(f, f.Objects[n])) + degrees) % 360
		f.SetEntry(n, "Rotate", strconv.Itoa((turned+360)%360))
	}
	f.SetEntry(f.Root, "Pages", pdffile.RefTo(f.AddPageTree(pages)))
	Clean(f)

	return nil
}

// rotation returns the clockwise rotation of a page: 0, 90, 180 or 270.
func rotation(f *pdffile.File, page pdffile.Dict) int {
	n, _ := strconv.Atoi(string(resolve(f, page.Get("Rotate")))) // 0 if missing
	return (n%360 + 360) % 360 / 90 * 90
}
