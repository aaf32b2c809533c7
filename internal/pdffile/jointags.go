package pdffile

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// joinedTags is the structure tree of the whole while it is put together.
type joinedTags struct {
	sections int
	// document is the topmost element, main the one in it that holds the blocks
	// of the text; their kids are kept here until the end.
	document, main         int
	documentKids, mainKids [][]byte
	parents                []string // of the marked content of pages, annotations
	redirected             map[int]int
	// tops are the topmost elements of the sections.
	tops []int
}

// sectionTags is the structure tree of a section. Its numbers are the section's
// own until it is part of the whole.
type sectionTags struct {
	document, main int
	nextKey        int
	// parents are the values of the parent tree by key.
	parents map[int][]byte
}

// element is the one that stands for an element of a section in the whole.
func (t *joinedTags) element(n int) int {
	for to, ok := t.redirected[n]; ok; to, ok = t.redirected[n] {
		n = to
	}

	return n
}

// readTags reads the structure tree; nil if there is none.
func (m *member) readTags() (*sectionTags, error) {
	value := m.catalog.Get("StructTreeRoot")
	if value == nil {
		return nil, nil
	}
	f := m.file

	root, err := f.dictionary(value)
	if err != nil {
		return nil, err
	}

	t := &sectionTags{parents: map[int][]byte{}}
	if t.nextKey, err = strconv.Atoi(string(root.Get("ParentTreeNextKey"))); err != nil || t.nextKey > len(f.Objects) {
		return nil, ErrObject
	}

	var ok bool
	if t.document, ok = f.object(root.Get("K")); !ok {
		return nil, ErrObject
	}

	tree, err := f.dictionary(root.Get("ParentTree"))
	if err != nil {
		return nil, err
	}

	nums, err := ReadArray(tree.Get("Nums"))
	if err != nil || len(nums)%2 != 0 {
		return nil, ErrObject
	}

	for i := 0; i < len(nums); i += 2 {
		key, err := strconv.Atoi(string(nums[i]))
		if err != nil || key < 0 || key >= t.nextKey {
			return nil, ErrObject
		}
		t.parents[key] = nums[i+1]
	}

	t.main = f.lastElement(f.Objects[t.document])
	for _, name := range []string{"ParentTree", "IDTree"} {
		if n, ok := f.object(root.Get(name)); ok {
			f.Objects[n] = nil
		}
	}
	n, _ := f.object(value)
	f.Objects[n] = nil

	return t, nil
}

// lastElement is the last element among the kids of one, 0 if there is none.
func (f *File) lastElement(o []byte) int {
	d, _, err := ReadDict(o)
	if err != nil {
		return 0
	}

	kids, _ := ReadArray(d.Get("K"))
	for _, k := range slices.Backward(kids) {
		if n, ok := f.object(k); ok && bytes.HasPrefix(f.Objects[n], structElem) {
			return n
		}
	}

	return 0
}

// add takes the tags of a section whose objects are about to be added.
func (t *joinedTags) add(m *member, s *sectionTags) error {
	if t.sections == 0 {
		t.redirected = map[int]int{}
	}
	t.sections++
	f := m.file
	base := len(t.parents)

	for n, o := range f.Objects {
		switch {
		case bytes.HasPrefix(o, structElem):
			f.Objects[n] = ownIDs(o, t.sections)
		case bytes.Contains(o, []byte("/StructParent")):
			d, rest, err := ReadDict(o)
			if err != nil {
				return err
			}

			for _, name := range []string{"StructParent", "StructParents"} {
				if key, err := strconv.Atoi(string(d.Get(name))); err == nil {
					d.set(name, strconv.Itoa(base+key))
				}
			}
			f.Objects[n] = append(d.bytes(), rest...)
		}
	}

	for key := range s.nextKey {
		value := "null"
		if s.parents[key] != nil {
			value = string(renumber(s.parents[key], m.number))
		}
		t.parents = append(t.parents, value)
	}
	s.document, s.main = m.number(s.document), m.number(s.main)

	return nil
}

// ownIDs makes the ids in an element those of one section.
func ownIDs(o []byte, section int) []byte {
	if !bytes.Contains(o, []byte("(node")) {
		return o
	}
	mark := fmt.Appendf(nil, "(node%06d", section)
	within := func(part []byte) []byte { return bytes.ReplaceAll(part, []byte("(node"), mark) }

	return nodeHeaders.ReplaceAllFunc(nodeID.ReplaceAllFunc(o, within), within)
}

// hang puts the elements of a section, whose objects have been added, under those
// of the whole.
func (t *joinedTags) hang(out *File, s *sectionTags) error {
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
		d, _, err := ReadDict(out.Objects[of.element])
		if err != nil {
			return err
		}

		kids, err := ReadArray(d.Get("K"))
		if err != nil {
			return err
		}

		for _, k := range kids {
			n, ok := reference(k)
			switch {
			case !ok:
				k = contentOn(k, d.Get("Pg"))
			case t.redirected[n] > 0:
				continue
			default:
				setParent(out, n, of.to)
			}
			*of.kids = append(*of.kids, k)
		}
	}

	return nil
}

// contentOn names the page of marked content, which may be that of its element.
func contentOn(kid, page []byte) []byte {
	if kid[0] == '<' {
		return kid
	}

	return fmt.Appendf(nil, "<</Type /MCR\n/Pg %s\n/MCID %s>>", page, kid)
}

func setParent(out *File, n, parent int) {
	if d, _, err := ReadDict(out.Objects[n]); err == nil {
		d.set("P", refTo(parent))
		out.Objects[n] = d.bytes()
	}
}

// write puts the tree into the whole.
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
		d, _, err := ReadDict(out.Objects[e.number])
		if err != nil {
			return err
		}
		d.remove("Pg")
		d.set("K", "["+string(bytes.Join(e.kids, []byte(" ")))+"]")
		out.Objects[e.number] = d.bytes()
	}
	var nums strings.Builder

	for key, value := range t.parents {
		n, ok := out.object([]byte(value))
		if !ok || out.Objects[n] == nil {
			continue
		}

		if bytes.HasPrefix(out.Objects[n], []byte("[")) {
			out.Objects[n] = renumber(out.Objects[n], t.element)
		} else {
			value = refTo(t.element(n))
		}
		fmt.Fprintf(&nums, "%d %s ", key, value)
	}

	root := fmt.Sprintf(
		"<</Type /StructTreeRoot\n/K %s\n/ParentTreeNextKey %d\n/ParentTree %s",
		refTo(t.document),
		len(t.parents),
		refTo(out.add([]byte("<</Type /ParentTree\n/Nums ["+strings.TrimSpace(nums.String())+"]>>"))),
	)
	if ids := t.idTree(out); ids > 0 {
		root += "\n/IDTree " + refTo(ids)
	}
	number := out.add([]byte(root + ">>"))
	j.catalog.set("StructTreeRoot", refTo(number))
	setParent(out, t.document, number)

	return nil
}

// idTree writes the elements that have an id, by id, and returns the number of the
// tree; 0 if none has.
func (t *joinedTags) idTree(out *File) int {
	var names []string

	for n, o := range out.Objects {
		if !bytes.HasPrefix(o, structElem) || !bytes.Contains(o, []byte("/ID (node")) {
			continue
		}

		if id := nodeID.FindSubmatch(o); id != nil {
			names = append(names, fmt.Sprintf("(%s) %s", id[1], refTo(n)))
		}
	}

	if len(names) == 0 {
		return 0
	}
	slices.Sort(names)
	first, _, _ := strings.Cut(names[0], " ")
	last, _, _ := strings.Cut(names[len(names)-1], " ")
	leaf := out.add(fmt.Appendf(nil, "<</Limits [%s %s]\n/Names [%s]>>", first, last, strings.Join(names, " ")))

	return out.add([]byte("<</Kids [" + refTo(leaf) + "]>>"))
}
