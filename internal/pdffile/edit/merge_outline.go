package edit

import (
	"fmt"
	"strconv"

	"presswork/internal/pdffile"
)

// outlineTop is the entry of one file in the outline, and the file's own entries.
type outlineTop struct {
	title       string
	page        int // the file's first page
	first, last int // the entries of the file, 0 for none
	count       int // the number of open entries
}

// addOutline records the outline of a file.
func (m *merger) addOutline(title string, page int, catalog pdffile.Dict) {
	top := outlineTop{title: title, page: page}
	outlines := dictOf(m.out, catalog.Get("Outlines"))
	entries := siblings(m.out, outlines.Get("First"))

	if len(entries) > 0 {
		top.first, top.last = entries[0], entries[len(entries)-1]
		top.count, _ = strconv.Atoi(string(outlines.Get("Count")))
		top.count = max(top.count, len(entries))
	}

	// siblings ends at a damaged entry, so the links between the entries are set again.
	for i, n := range entries {
		d := dictOf(m.out, m.out.Objects[n])
		d.Remove("Prev")
		d.Remove("Next")

		if i > 0 {
			d.Set("Prev", pdffile.RefTo(entries[i-1]))
		}

		if i < len(entries)-1 {
			d.Set("Next", pdffile.RefTo(entries[i+1]))
		}
		m.out.Objects[n] = d.Bytes()
	}
	m.outline = append(m.outline, top)
}

// siblings returns the outline entry first and those after it on its level. It ends at an entry that is damaged or
// repeated.
func siblings(f *pdffile.File, first []byte) (entries []int) {
	seen := map[int]bool{}

	for {
		n, ok := f.Object(first)
		if !ok || seen[n] {
			return entries
		}
		d := dictOf(f, f.Objects[n])

		if d.Get("Title") == nil {
			return entries
		}
		seen[n] = true
		entries = append(entries, n)
		first = d.Get("Next")
	}
}

// writeOutline writes an outline with one top entry for each file and returns its object number.
func (m *merger) writeOutline() int {
	root := m.out.Add(nil)
	total := 0
	numbers := make([]int, len(m.outline))

	for i := range numbers {
		numbers[i] = m.out.Add(nil)
	}

	for i, top := range m.outline {
		d := pdffile.Dict{}
		d.Set("Title", pdffile.TextString(top.title))
		d.Set("Parent", pdffile.RefTo(root))
		d.Set("Dest", "["+pdffile.RefTo(top.page)+" /Fit]")

		if i > 0 {
			d.Set("Prev", pdffile.RefTo(numbers[i-1]))
		}

		if i < len(numbers)-1 {
			d.Set("Next", pdffile.RefTo(numbers[i+1]))
		}

		if top.first > 0 {
			d.Set("First", pdffile.RefTo(top.first))
			d.Set("Last", pdffile.RefTo(top.last))
			d.Set("Count", strconv.Itoa(top.count))

			for _, n := range siblings(m.out, []byte(pdffile.RefTo(top.first))) {
				m.out.SetEntry(n, "Parent", pdffile.RefTo(numbers[i]))
			}
		}
		total += 1 + top.count
		m.out.Objects[numbers[i]] = d.Bytes()
	}
	m.out.Objects[root] = fmt.Appendf(nil, "<</Type /Outlines\n/First %s\n/Last %s\n/Count %d>>",
		pdffile.RefTo(numbers[0]), pdffile.RefTo(numbers[len(numbers)-1]), total)

	return root
}
