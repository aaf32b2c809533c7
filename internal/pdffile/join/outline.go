package join

import (
	"strconv"

	"presswork/internal/pdffile"
)

// outlineEntry is an entry of an outline without its links to other entries.
type outlineEntry struct {
	number int
	level  int // level of the heading
	dict   pdffile.Dict
}

// outlineEntries returns the section's outline in reading order, with object numbers of the result.
func (m *member) outlineEntries() (entries []outlineEntry, err error) {
	for _, n := range m.file.Outline(m.catalog) {
		d, _, err := pdffile.ReadDict(m.file.Objects[n])
		if err != nil {
			return nil, err
		}

		e := outlineEntry{number: m.number(n), level: m.file.HeadingLevel(d.Get("SE"))}
		for _, key := range []string{"Title", "Dest", "SE"} {
			if value := d.Get(key); value != nil {
				e.dict = append(e.dict, pdffile.Field{Key: key, Value: m.copied(value)})
			}
		}
		entries = append(entries, e)
	}

	return entries, nil
}

// outlineNode has the neighbours of an outline entry, as indexes, and the number of the entries below it. An index of 0
// is that of the outline itself, and otherwise means that there is no such neighbour.
type outlineNode struct{ parent, first, last, prev, next, below int }

// outlineNodes returns the tree of the outline: first the outline itself, then its entries. As in Chromium, the parent
// of an entry is the last earlier entry of a higher level.
func (j *joined) outlineNodes() []outlineNode {
	nodes := make([]outlineNode, len(j.outline)+1)
	open := []int{0} // the last entry and those above it, the topmost first

	level := func(i int) int { return j.outline[i-1].level }
	for i := 1; i < len(nodes); i++ {
		for len(open) > 1 && level(open[len(open)-1]) >= level(i) {
			open = open[:len(open)-1]
		}
		up := open[len(open)-1]

		nodes[i].parent, nodes[i].prev = up, nodes[up].last
		if nodes[up].last > 0 {
			nodes[nodes[up].last].next = i
		} else {
			nodes[up].first = i
		}

		nodes[up].last = i
		for _, o := range open {
			nodes[o].below++
		}
		open = append(open, i)
	}

	return nodes
}

// writeOutline writes the outline and returns its object number.
func (j *joined) writeOutline() int {
	root := j.out.Add(nil)

	number := func(i int) string {
		if i == 0 {
			return pdffile.RefTo(root)
		}

		return pdffile.RefTo(j.outline[i-1].number)
	}
	for i, n := range j.outlineNodes() {
		d := pdffile.Dict{{Key: "Type", Value: []byte("/Outlines")}}

		if i > 0 {
			e := j.outline[i-1]

			d = e.dict
			if se, ok := pdffile.Reference(d.Get("SE")); ok {
				d.Set("SE", pdffile.RefTo(j.tags.element(se)))
			}
			d.Set("Parent", number(n.parent))
		}

		for _, link := range []struct {
			key string
			to  int
		}{{"Prev", n.prev}, {"Next", n.next}, {"First", n.first}, {"Last", n.last}} {
			if link.to > 0 {
				d.Set(link.key, number(link.to))
			}
		}

		// A positive Count makes viewers show all entries below, at any level.
		if n.below > 0 {
			d.Set("Count", strconv.Itoa(n.below))
		}
		at, _ := pdffile.Reference([]byte(number(i)))
		j.out.Objects[at] = d.Bytes()
	}

	return root
}
