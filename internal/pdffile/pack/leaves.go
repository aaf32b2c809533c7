package pack

import (
	"bytes"
	"fmt"

	"presswork/internal/pdffile"
)

// mergeLeaves removes structure elements that contain only one run of text and gives the run to their parent.
// Chromium writes one such element for each run; they are more than half of all elements.
func mergeLeaves(f *pdffile.File, root pdffile.Dict) error {
	tree, err := f.Dictionary(root.Get("ParentTree"))
	if err != nil || tree.Get("Nums") == nil {
		return fmt.Errorf("parent tree: %w", pdffile.ErrObject)
	}
	leaves := map[int][]leaf{} // by parent

	for n, o := range f.Objects {
		if l, ok := readLeaf(n, o); ok && l.parent < len(f.Objects) && takesText(f.Objects[l.parent]) {
			leaves[l.parent] = append(leaves[l.parent], l)
		}
	}

	merged := map[int]int{} // leaf to parent
	for parent, below := range leaves {
		if err := mergeInto(f, parent, below, merged); err != nil {
			return fmt.Errorf("structure element %d: %w", parent, err)
		}
	}

	return redirectParents(f, tree, merged)
}

// leaf is a structure element with a single marked content as its only kid.
type leaf struct {
	number, parent int    // object numbers
	page           []byte // the reference to its page
	content        []byte // the number of the marked content on that page
}

// readLeaf recognises a leaf by its exact bytes, because parsing every dictionary would be slow.
func readLeaf(n int, o []byte) (l leaf, ok bool) {
	rest, ok := bytes.CutPrefix(o, []byte("<</Type /StructElem\n/S /NonStruct\n/P "))
	if !ok {
		return l, false
	}
	parent, rest, _ := bytes.Cut(rest, []byte("\n/Pg "))
	page, content, _ := bytes.Cut(rest, []byte("\n/K "))

	content, ok = bytes.CutSuffix(content, []byte(">>"))
	if !ok || len(content) == 0 || pdffile.TokenLength(content) != len(content) {
		return l, false
	}
	l = leaf{number: n, page: page, content: content}
	l.parent, ok = pdffile.Reference(parent)

	return l, ok
}

// takesText reports whether an element may contain text directly. A list item may not: its text belongs in an
// LBody.
func takesText(o []byte) bool {
	rest, ok := bytes.CutPrefix(bytes.TrimPrefix(o, pdffile.StructElement), []byte("/S /"))
	if !ok {
		return false
	}

	switch string(rest[:pdffile.TokenLength(rest)]) {
	case "P", "H1", "H2", "H3", "H4", "H5", "H6", "TD", "TH", "Code", "Em", "Strong", "Link", "Caption":
		return true
	}

	return false
}

// mergeInto replaces leaves by their content among the kids of parent. It records the replaced leaves in merged.
func mergeInto(f *pdffile.File, parent int, leaves []leaf, merged map[int]int) error {
	d, _, err := pdffile.ReadDict(f.Objects[parent])
	if err != nil {
		return err
	}

	kids, err := pdffile.ReadArray(d.Get("K"))
	if err != nil {
		return err
	}

	page := d.Get("Pg")
	if page == nil {
		page = leaves[0].page
	}

	byNumber := make(map[int]leaf, len(leaves))
	for _, l := range leaves {
		byNumber[l.number] = l
	}

	for i, k := range kids {
		n, ok := pdffile.Reference(k)
		if !ok {
			continue
		}
		// A bare content number refers to the parent's page, so leaves on other pages stay.
		l, known := byNumber[n]
		if !known || !bytes.Equal(l.page, page) {
			continue
		}
		kids[i] = l.content
		merged[n] = parent
		f.Objects[n] = nil
	}
	d.Set("Pg", string(page))

	if len(kids) == 1 {
		d.Set("K", string(kids[0]))
	} else {
		d.Set("K", "["+string(bytes.Join(kids, []byte(" ")))+"]")
	}
	f.Objects[parent] = d.Bytes()

	return nil
}

// redirectParents updates the parent tree: the content of merged leaves now belongs to their parents. An array of the
// tree has the element of each marked content of a page.
func redirectParents(f *pdffile.File, tree pdffile.Dict, merged map[int]int) error {
	values, err := pdffile.ReadArray(tree.Get("Nums"))
	if err != nil {
		return fmt.Errorf("parent tree: %w", err)
	}

	for _, v := range values {
		n, ok := f.Object(v)
		if !ok || !bytes.HasPrefix(f.Objects[n], []byte("[")) {
			continue
		}

		owners, err := pdffile.ReadArray(f.Objects[n])
		if err != nil {
			return fmt.Errorf("parent tree: %w", err)
		}

		for i, owner := range owners {
			if n, ok := pdffile.Reference(owner); ok && merged[n] > 0 {
				owners[i] = []byte(pdffile.RefTo(merged[n]))
			}
		}
		f.Objects[n] = []byte("[" + string(bytes.Join(owners, []byte(" "))) + "]")
	}

	return nil
}
