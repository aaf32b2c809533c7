package edit

import (
	"strings"

	"presswork/internal/pdffile"
)

// maxTagDepth limits the nesting of tags. Documents nest them about 30 deep.
const maxTagDepth = 1000

// pruning is the state of removing tags of removed pages.
type pruning struct {
	*extraction
	seen map[int]bool // elements that were visited
	// remain are the elements that stay.
	remain   map[int]bool
	ids      []pair // entries of the IDTree that stay
	headings pdffile.HeadingOrder
}

// tags removes the tags of removed pages. It returns why the result is not PDF/UA any more, or "".
func (x *extraction) tags(catalog *pdffile.Dict) (complaint string) {
	f := x.file
	root := dictOf(f, catalog.Get("StructTreeRoot"))
	number, ok := f.Object(catalog.Get("StructTreeRoot"))

	if root == nil || !ok {
		catalog.Remove("StructTreeRoot")
		return "the tags are damaged"
	}
	p := &pruning{extraction: x, seen: map[int]bool{}, remain: map[int]bool{}}
	kept := p.kids(arrayOf(f, root.Get("K")), nil, 0)
	root.Set("K", array(kept))
	p.parentTree(&root)

	if root.Remove("IDTree"); len(p.ids) > 0 {
		root.Set("IDTree", pdffile.RefTo(addTree(f, p.ids, "Names")))
	}
	f.Objects[number] = root.Bytes()

	return p.headings.Problem
}

// kids returns the kids of an element that stay. page is the page of the element.
func (p *pruning) kids(kids [][]byte, page []byte, depth int) (kept [][]byte) {
	// empty are the indexes in kept of elements without any content, such as empty cells. They stay if a sibling does.
	var empty []int
	content := false

	for _, kid := range kids {
		stays, isEmpty := p.kid(kid, page, depth)
		if !stays && !isEmpty {
			continue
		}

		if isEmpty {
			empty = append(empty, len(kept))
		}
		content = content || stays
		kept = append(kept, kid)
	}

	// Nothing of this element is on a kept page. Only an element whose kids are all empty stays, such as a row of
	// empty cells.
	if !content && len(empty) < len(kids) {
		return nil
	}

	for _, i := range empty {
		if n, ok := p.file.Object(kept[i]); ok {
			p.keepAll(n, 0)
		}
	}

	return kept
}

// kid reports whether a kid has content on a kept page, and whether it is an element without any content.
func (p *pruning) kid(kid, page []byte, depth int) (stays, isEmpty bool) {
	f := p.file

	n, isRef := f.Object(kid)
	if !isRef {
		d, _, err := pdffile.ReadDict(kid)
		if err != nil { // the number of marked content
			return p.onKept(page), false
		}

		if own := d.Get("Pg"); own != nil {
			page = own
		}

		// The tag of a link or a field goes with its annotation.
		if object, ok := f.Object(d.Get("Obj")); ok && f.Objects[object] == nil {
			return false, false
		}

		return p.onKept(page), false
	}
	d := dictOf(f, kid)

	if d == nil || p.seen[n] || depth > maxTagDepth {
		return false, false
	}
	p.seen[n] = true

	if kind := string(d.Get("Type")); kind == "/MCR" || kind == "/OBJR" {
		return p.kid(f.Objects[n], page, depth+1)
	}

	if own := d.Get("Pg"); own != nil {
		page = own
	}
	all := arrayOf(f, d.Get("K"))

	if len(all) == 0 {
		return false, true
	}
	before := p.headings
	p.headings.Add(strings.TrimPrefix(string(d.Get("S")), "/"))
	kept := p.kids(all, page, depth+1)

	if len(kept) == 0 {
		p.headings = before // headings that are removed do not count
		return false, false
	}

	if own := d.Get("Pg"); own != nil && !p.onKept(own) {
		d.Remove("Pg")
	}
	d.Set("K", array(kept))
	f.Objects[n] = d.Bytes()
	p.keep(n, d)

	return true, false
}

// keep records an element that stays.
func (p *pruning) keep(n int, d pdffile.Dict) {
	p.remain[n] = true
	if id := d.Get("ID"); id != nil {
		p.ids = append(p.ids, pair{resolve(p.file, id), []byte(pdffile.RefTo(n))})
	}
}

// keepAll records an element without content and those in it.
func (p *pruning) keepAll(n, depth int) {
	d := dictOf(p.file, p.file.Objects[n])
	if d == nil || p.remain[n] || depth > maxTagDepth {
		return
	}
	p.keep(n, d)

	for _, kid := range arrayOf(p.file, d.Get("K")) {
		if at, ok := p.file.Object(kid); ok {
			p.keepAll(at, depth+1)
		}
	}
}

// onKept reports whether page is a reference to a kept page.
func (p *pruning) onKept(page []byte) bool {
	n, ok := p.file.Object(page)
	_, kept := p.index[n]

	return ok && kept
}

// parentTree removes the entries of removed elements and pages. A value of the tree is an element, or an array with the
// element of each marked content of a page. Removed elements of an array become null, because a content's number is its
// index.
func (p *pruning) parentTree(root *pdffile.Dict) {
	f := p.file
	kept := map[int][]byte{}

	for key, value := range numbered(f, root.Get("ParentTree")) {
		if n, ok := f.Object(value); ok && p.remain[n] {
			kept[key] = value
			continue
		}
		elements := arrayOf(f, value)
		remains := false

		for i, e := range elements {
			n, ok := f.Object(e)
			if !ok || !p.remain[n] {
				elements[i] = []byte("null")
				continue
			}
			remains = true
		}

		if remains {
			kept[key] = []byte(array(elements))
		}
	}
	root.Set("ParentTree", pdffile.RefTo(addTree(f, sortedPairs(kept), "Nums")))
}
