package pack

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"presswork/internal/pdffile"
)

// element is a node of the structure tree: a heading, a list item, a figure.
type element struct {
	number int
	dict   pdffile.Dict
	kind   string // its type without the slash, such as P; write stores it in dict
	// kids are references to elements, numbers of marked content and references to annotations (ISO 32000-1,
	// 14.7.4).
	kids    [][]byte
	changed bool // kind, dict or kids differ from the file
}

// tree is the structure tree of a file, by object number.
type tree struct {
	file     *pdffile.File
	elements map[int]*element
	root     int // number of the topmost element
}

// readTree reads the whole structure tree. root is the dictionary of its root.
func readTree(f *pdffile.File, root pdffile.Dict) (*tree, error) {
	t := &tree{file: f, elements: map[int]*element{}}
	for n, o := range f.Objects {
		if !bytes.HasPrefix(o, pdffile.StructElement) {
			continue
		}

		d, _, err := pdffile.ReadDict(o)
		if err != nil {
			return nil, fmt.Errorf("structure element %d: %w", n, err)
		}

		e := &element{number: n, dict: d, kind: strings.TrimPrefix(string(d.Get("S")), "/")}
		if k := d.Get("K"); k != nil {
			if e.kids, err = pdffile.ReadArray(k); err != nil {
				return nil, fmt.Errorf("structure element %d: %w", n, err)
			}
		}
		t.elements[n] = e
	}

	var ok bool
	if t.root, ok = pdffile.Reference(root.Get("K")); !ok || t.elements[t.root] == nil {
		return nil, fmt.Errorf("structure tree: %w: /K is no structure element", pdffile.ErrObject)
	}

	return t, nil
}

// each visits the element from and all elements below it in reading order, parents first. It visits an element
// once, even if the tree is invalid.
func (t *tree) each(from int, visit func(e, parent *element)) {
	type step struct{ number, parent int }
	seen := map[int]bool{}

	for todo := []step{{from, -1}}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]

		e := t.elements[at.number]
		if e == nil || seen[at.number] {
			continue
		}
		seen[at.number] = true
		visit(e, t.elements[at.parent])

		// The last one pushed is visited first, so push the kids in reverse.
		for _, k := range slices.Backward(e.kids) {
			if n, ok := pdffile.Reference(k); ok {
				todo = append(todo, step{n, e.number})
			}
		}
	}
}

// child returns the element that a kid refers to, or nil if the kid is content.
func (t *tree) child(kid []byte) *element {
	n, ok := pdffile.Reference(kid)
	if !ok {
		return nil
	}

	return t.elements[n]
}

// wrap moves kids of parent into a new element of the given kind and returns the reference to it.
func (t *tree) wrap(parent *element, kind string, kids [][]byte) []byte {
	n := t.file.Add(nil)

	t.elements[n] = &element{
		number:  n,
		kind:    kind,
		kids:    kids,
		changed: true,
		dict: pdffile.Dict{
			{Key: "Type", Value: []byte("/StructElem")},
			{Key: "S", Value: nil},
			{Key: "P", Value: []byte(pdffile.RefTo(parent.number))},
			{Key: "K", Value: nil},
		},
	}
	for _, k := range kids {
		if e := t.child(k); e != nil {
			e.dict.Set("P", pdffile.RefTo(n))
			e.changed = true
		}
	}

	return []byte(pdffile.RefTo(n))
}

// become changes the type of the element.
func (e *element) become(kind string) { e.kind, e.changed = kind, true }

// mend gives lists, links and figures the structure that PDF/UA requires. It collects them before it changes any,
// because a change moves elements.
func (t *tree) mend() {
	var lists, items, figures, rest []*element
	t.each(t.root, func(e, parent *element) {
		switch e.kind {
		case "L":
			lists = append(lists, e)
		case "LI":
			if parent == nil || parent.kind != "L" {
				e.become("NonStruct")
				rest = append(rest, e)
			}
		case "Figure":
			figures = append(figures, e)
		default:
			rest = append(rest, e)
		}
	})

	for _, l := range lists {
		items = append(items, t.mendList(l)...)
	}

	for _, item := range items {
		t.mendItem(item)
	}

	for _, e := range rest {
		if e.kind == "NonStruct" && slices.ContainsFunc(e.kids, isAnnotation) {
			// Chromium does not tag a footnote reference or its back link as a link.
			e.become("Link")
		}
	}

	for _, figure := range figures {
		t.mendFigure(figure)
	}
}

// isAnnotation reports whether a kid refers to an annotation, such as a link.
func isAnnotation(kid []byte) bool { return bytes.HasPrefix(kid, []byte("<</Type /OBJR")) }

// mendList turns every kid of a list into an item and returns the items.
func (t *tree) mendList(l *element) (items []*element) {
	for i, k := range l.kids {
		e := t.child(k)
		if e == nil || e.kind == "L" || e.kind == "Caption" {
			continue
		}

		switch e.kind {
		case "LI":
		case "NonStruct":
			e.become("LI")
		default:
			l.kids[i] = t.wrap(l, "LI", [][]byte{k})
			l.changed = true
			e = t.child(l.kids[i])
		}
		items = append(items, e)
	}

	return items
}

// mendItem moves everything in an item except its label into one body.
func (t *tree) mendItem(item *element) {
	var labels, body [][]byte

	for _, k := range item.kids {
		if e := t.child(k); e != nil && e.kind != "Lbl" && e.kind != "LBody" {
			body = append(body, k)
		} else {
			labels = append(labels, k)
		}
	}

	if len(body) > 0 {
		item.kids = append(labels, t.wrap(item, "LBody", body))
		item.changed = true
	}
}

// mendFigure turns the nested figures that Chromium writes for an image with a caption into one figure. The outer
// figure gets the alternative text of the image.
func (t *tree) mendFigure(figure *element) {
	if figure.hasAlt() {
		return
	}
	var below, within []*element
	t.each(figure.number, func(e, _ *element) {
		if e != figure {
			below = append(below, e)
			if e.kind == "Figure" {
				within = append(within, e)
			}
		}
	})

	switch {
	// A figure without elements is one image; only its author can describe it.
	case len(below) == 0:
	case len(within) == 1 && within[0].hasAlt():
		figure.dict.Set("Alt", string(within[0].dict.Get("Alt")))
		figure.changed = true
		within[0].dict.Remove("Alt")
		within[0].become("NonStruct")
	default:
		figure.become("Div")
	}
}

// hasAlt reports whether the element has alternative or replacement text.
func (e *element) hasAlt() bool { return e.dict.Get("Alt") != nil || e.dict.Get("ActualText") != nil }

// write stores the changed elements in the file.
func (t *tree) write() {
	for n, e := range t.elements {
		if !e.changed {
			continue
		}
		e.dict.Set("S", "/"+e.kind)
		e.dict.Set("K", "["+string(bytes.Join(e.kids, []byte(" ")))+"]")
		t.file.Objects[n] = e.dict.Bytes()
	}
}
