package join

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"presswork/internal/pdffile"
)

// joinedTags is the structure tree of the result under construction.
type joinedTags struct {
	sections int
	// document is the topmost element; main, inside it, holds the blocks of the text. Their kids are collected here
	// until write.
	document, main         int
	documentKids, mainKids [][]byte
	parents                []string // entries of the parent tree
	// redirected has, for document and main of each later section, the element that replaces it.
	redirected map[int]int
	// tops are document and main of all sections.
	tops []int
}

// sectionTags is the structure tree of a section. Its object numbers are the section's until joinedTags.add changes
// them to those of the result.
type sectionTags struct {
	document, main int
	// nextKey is the first key that the parent tree does not use.
	nextKey int
	// parents are the values of the parent tree by key.
	parents map[int][]byte
}

// element returns the element of the result that replaces element n of a section.
func (t *joinedTags) element(n int) int {
	for to, ok := t.redirected[n]; ok; to, ok = t.redirected[n] {
		n = to
	}

	return n
}

// readTags reads the structure tree and removes its root and its trees from the section. It returns nil if the section
// has no tags. Errors: ErrObject.
func (m *member) readTags() (*sectionTags, error) {
	value := m.catalog.Get("StructTreeRoot")
	if value == nil {
		return nil, nil
	}
	f := m.file

	root, err := f.Dictionary(value)
	if err != nil {
		return nil, err
	}

	t := &sectionTags{parents: map[int][]byte{}}
	// Each key belongs to an object, so a larger number is wrong. joinedTags.add takes memory for each key below it.
	if t.nextKey, err = strconv.Atoi(string(root.Get("ParentTreeNextKey"))); err != nil || t.nextKey > len(f.Objects) {
		return nil, pdffile.ErrObject
	}

	var ok bool
	if t.document, ok = f.Object(root.Get("K")); !ok {
		return nil, pdffile.ErrObject
	}

	tree, err := f.Dictionary(root.Get("ParentTree"))
	if err != nil {
		return nil, err
	}

	nums, err := pdffile.ReadArray(tree.Get("Nums"))
	if err != nil || len(nums)%2 != 0 {
		return nil, pdffile.ErrObject
	}

	for i := 0; i < len(nums); i += 2 {
		key, err := strconv.Atoi(string(nums[i]))
		if err != nil || key < 0 || key >= t.nextKey {
			return nil, pdffile.ErrObject
		}
		t.parents[key] = nums[i+1]
	}

	t.main = lastElement(f, f.Objects[t.document])
	for _, name := range []string{"ParentTree", "IDTree"} {
		if n, ok := f.Object(root.Get(name)); ok {
			f.Objects[n] = nil
		}
	}
	n, _ := f.Object(value)
	f.Objects[n] = nil

	return t, nil
}

// lastElement returns the last element among the kids of o, or 0 if there is none.
func lastElement(f *pdffile.File, o []byte) int {
	d, _, err := pdffile.ReadDict(o)
	if err != nil {
		return 0
	}

	kids, _ := pdffile.ReadArray(d.Get("K"))
	for _, k := range slices.Backward(kids) {
		if n, ok := f.Object(k); ok && bytes.HasPrefix(f.Objects[n], pdffile.StructElement) {
			return n
		}
	}

	return 0
}

// add records the tags of a section before its objects are added to the result.
func (t *joinedTags) add(m *member, s *sectionTags) error {
	if t.sections == 0 {
		t.redirected = map[int]int{}
	}
	t.sections++
	f := m.file
	base := len(t.parents)

	for n, o := range f.Objects {
		switch {
		case bytes.HasPrefix(o, pdffile.StructElement):
			f.Objects[n] = prefixIDs(o, t.sections)
		case bytes.Contains(o, []byte("/StructParent")):
			d, rest, err := pdffile.ReadDict(o)
			if err != nil {
				return err
			}

			for _, name := range []string{"StructParent", "StructParents"} {
				if key, err := strconv.Atoi(string(d.Get(name))); err == nil {
					d.Set(name, strconv.Itoa(base+key))
				}
			}
			f.Objects[n] = append(d.Bytes(), rest...)
		}
	}

	// Keep unused keys as null, so that base + key is the new key of every element.
	for key := range s.nextKey {
		value := "null"
		if s.parents[key] != nil {
			value = string(pdffile.Renumber(s.parents[key], m.number))
		}
		t.parents = append(t.parents, value)
	}
	s.document, s.main = m.number(s.document), m.number(s.main)

	return nil
}

// prefixIDs adds the number of the section to the ids in an element, because each section counts its ids from the
// same start.
func prefixIDs(o []byte, section int) []byte {
	return pdffile.RenameNode(o, func(id []byte) []byte {
		return fmt.Appendf(nil, "node%06d%s", section, id[len("node"):])
	})
}

// reparent moves the elements below document and main of a section to those of the result. The section's objects must
// have been added to it.
func (t *joinedTags) reparent(out *pdffile.File, s *sectionTags) error {
	if t.document == 0 {
		t.document, t.main = s.document, s.main
	} else {
		t.redirected[s.document], t.redirected[s.main] = t.document, t.main
	}

	t.tops = append(t.tops, s.main, s.document)
	for _, of := range []struct {
		element, to int
		kids        *[][]byte
	}{{s.main, t.main, &t.mainKids}, {s.document, t.document, &t.documentKids}} {
		d, _, err := pdffile.ReadDict(out.Objects[of.element])
		if err != nil {
			return err
		}

		kids, err := pdffile.ReadArray(d.Get("K"))
		if err != nil {
			return err
		}

		for _, k := range kids {
			n, ok := pdffile.Reference(k)
			switch {
			case !ok:
				k = contentOn(k, d.Get("Pg"))
			case t.redirected[n] > 0:
				continue // the main element of a later section: only its kids are kept
			default:
				setParent(out, n, of.to)
			}
			*of.kids = append(*of.kids, k)
		}
	}

	return nil
}

// contentOn returns a kid that names its page. A kid that is only a number gets page, the page of its element. In the
// joined element, kids come from several sections and thus from several pages.
func contentOn(kid, page []byte) []byte {
	if kid[0] == '<' {
		return kid
	}

	return fmt.Appendf(nil, "<</Type /MCR\n/Pg %s\n/MCID %s>>", page, kid)
}

// setParent sets the parent of element n. An object that cannot be read stays as it is.
func setParent(out *pdffile.File, n, parent int) {
	if d, _, err := pdffile.ReadDict(out.Objects[n]); err == nil {
		d.Set("P", pdffile.RefTo(parent))
		out.Objects[n] = d.Bytes()
	}
}

// write stores the structure tree in the result.
func (t *joinedTags) write(j *joined) error {
	if t.sections == 0 {
		return nil
	}
	out := j.out

	for _, n := range t.tops {
		if n != t.main && n != t.document {
			out.Objects[n] = nil
		}
	}

	for _, e := range []struct {
		number int
		kids   [][]byte
	}{{t.main, t.mainKids}, {t.document, t.documentKids}} {
		d, _, err := pdffile.ReadDict(out.Objects[e.number])
		if err != nil {
			return err
		}
		d.Remove("Pg")
		d.Set("K", "["+string(bytes.Join(e.kids, []byte(" ")))+"]")
		out.Objects[e.number] = d.Bytes()
	}
	var nums strings.Builder

	for key, value := range t.parents {
		n, ok := out.Object([]byte(value))
		if !ok || out.Objects[n] == nil {
			continue
		}

		// A page has an array with an element for each piece of its content. A link has its element.
		if bytes.HasPrefix(out.Objects[n], []byte("[")) {
			out.Objects[n] = pdffile.Renumber(out.Objects[n], t.element)
		} else {
			value = pdffile.RefTo(t.element(n))
		}
		fmt.Fprintf(&nums, "%d %s ", key, value)
	}

	root := fmt.Sprintf("<</Type /StructTreeRoot\n/K %s\n/ParentTreeNextKey %d\n/ParentTree %s",
		pdffile.RefTo(t.document), len(t.parents),
		pdffile.RefTo(out.Add([]byte("<</Type /ParentTree\n/Nums ["+strings.TrimSpace(nums.String())+"]>>"))))
	if ids := t.idTree(out); ids > 0 {
		root += "\n/IDTree " + pdffile.RefTo(ids)
	}
	number := out.Add([]byte(root + ">>"))
	j.catalog.Set("StructTreeRoot", pdffile.RefTo(number))
	setParent(out, t.document, number)

	return nil
}

// idTree writes the tree of elements by id and returns its object number, or 0 if no element has an id.
func (t *joinedTags) idTree(out *pdffile.File) int {
	var names []string

	for n, o := range out.Objects {
		if !bytes.HasPrefix(o, pdffile.StructElement) {
			continue
		}

		if id := pdffile.NodeID(o); id != nil {
			names = append(names, fmt.Sprintf("(%s) %s", id, pdffile.RefTo(n)))
		}
	}

	if len(names) == 0 {
		return 0
	}
	slices.Sort(names) // readers search by bisection
	first, _, _ := strings.Cut(names[0], " ")
	last, _, _ := strings.Cut(names[len(names)-1], " ")
	leaf := out.Add(fmt.Appendf(nil, "<</Limits [%s %s]\n/Names [%s]>>", first, last, strings.Join(names, " ")))

	return out.Add([]byte("<</Kids [" + pdffile.RefTo(leaf) + "]>>"))
}
