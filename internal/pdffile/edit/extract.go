package edit

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"presswork/internal/pdffile"
)

// Extract keeps only the pages that selected accepts; their numbers count from 1. Tags, outline entries, links and
// destinations of the kept pages stay; a link to a removed page stays without its target. Attachments are removed,
// because they may hold what the removed pages show. The warnings say, in words for the user, what it dropped and which
// claims the result loses. Errors: those of Pages, and an error when selected accepts no page.
func Extract(f *pdffile.File, selected func(page int) bool) (warnings []string, err error) {
	pages, err := Pages(f)
	if err != nil {
		return nil, err
	}
	x := &extraction{file: f, gone: map[int]bool{}, index: map[int]int{}}
	labels := x.selectPages(pages, selected)

	if len(x.kept) == 0 {
		return nil, errors.New("no page is left")
	}
	x.removePages()
	catalog := dictOf(f, []byte(pdffile.RefTo(f.Root)))
	catalog.Set("Pages", pdffile.RefTo(f.AddPageTree(x.kept)))

	for _, n := range x.kept {
		page := dictOf(f, f.Objects[n])
		page.Remove("B") // article threads lead to other pages
		f.Objects[n] = page.Bytes()
	}

	if catalog.Remove("PageLabels"); len(labels) > 0 {
		catalog.Set("PageLabels", pdffile.RefTo(addTree(f, sortedPairs(labels), "Nums")))
	}
	catalog.Remove("Threads")
	// Destinations come first: outline and links may use their names.
	warnings = x.destinations(&catalog)
	x.outline(&catalog)
	x.form(&catalog)
	x.links()
	keep := claimsOf(f)

	if catalog.Get("StructTreeRoot") != nil {
		if complaint := x.tags(&catalog); complaint != "" && keep.ua != "" {
			keep.ua = ""
			warnings = append(warnings, complaint)
		}
	}
	f.Objects[f.Root] = catalog.Bytes()
	warnings = append(warnings, restrict(f, keep)...)
	Clean(f)

	return warnings, nil
}

// selectPages divides the pages into those that stay and those that go. It returns the labels of those that stay, by
// index.
func (x *extraction) selectPages(pages []int, selected func(page int) bool) map[int][]byte {
	f, kept := x.file, map[int][]byte{}
	labels := numbered(f, dictOf(f, []byte(pdffile.RefTo(f.Root))).Get("PageLabels"))
	from := -1 // the last page that has a label of its own; later pages continue its numbers

	for i, n := range pages {
		if labels[i] != nil {
			from = i
		}

		if !selected(i + 1) {
			x.gone[n] = true
			continue
		}

		// Before the first label, labels[-1] is nil, and so is the result.
		if label := labelOf(f, labels[from], i-from); label != nil {
			kept[len(x.kept)] = label
		}
		x.index[n] = len(x.kept)
		x.kept = append(x.kept, n)
	}

	return kept
}

// removePages deletes the pages that go, and their annotations. Clean would keep annotations to which a form or the
// tags refer.
func (x *extraction) removePages() {
	f := x.file

	// First the annotations of all pages: they are named in the pages.
	for n := range x.gone {
		for _, a := range arrayOf(f, dictOf(f, f.Objects[n]).Get("Annots")) {
			if at, ok := f.Object(a); ok {
				f.Objects[at] = nil
			}
		}
	}

	for n := range x.gone {
		f.Objects[n] = nil
	}
}

// maxOutlineDepth and maxFieldDepth limit the nesting of the outline and of form fields. Deeper entries are removed.
const (
	maxOutlineDepth = 100
	maxFieldDepth   = 50
)

// extraction is the state of Extract.
type extraction struct {
	file *pdffile.File
	kept []int
	// index holds the new indexes of the kept pages by object number. gone holds the other pages.
	index map[int]int
	gone  map[int]bool
	// named are the named destinations that lead to kept pages. Before the name is "/" for an entry of the dictionary
	// Dests, and "(" for an entry of the name tree.
	named map[string]bool
}

// labelOf returns the label of the page that is some pages after the one with this label. It is nil for a nil label.
func labelOf(f *pdffile.File, label []byte, pages int) []byte {
	if label == nil {
		return nil
	}
	d := dictOf(f, label)

	if d.Get("S") != nil {
		start, err := strconv.Atoi(string(d.Get("St")))
		if err != nil {
			start = 1
		}
		d.Set("St", strconv.Itoa(start+pages))
	}

	return d.Bytes()
}

// leads reports whether a destination leads to a kept page.
func (x *extraction) leads(dest []byte) bool {
	// A destination is a name, a string, an array that begins with the page, or a dictionary with one of these. A
	// dictionary in a dictionary is invalid, and a hostile one contains itself.
	dest = resolve(x.file, dest)
	if d := dictOf(x.file, dest); d != nil {
		dest = resolve(x.file, d.Get("D"))
	}

	switch {
	case len(dest) == 0:
		return false
	case dest[0] == '/':
		return x.named[string(dest)]
	case dest[0] == '(' || dest[0] == '<' && !bytes.HasPrefix(dest, []byte("<<")):
		return x.named["("+string(pdffile.StringBytes(dest))]
	}
	place := arrayOf(x.file, dest)

	if len(place) == 0 {
		return false
	}
	n, isRef := x.file.Object(place[0])
	_, ok := x.index[n]

	return isRef && ok
}

// actionLeads is leads for a link or an outline entry, which has a destination or an action. It is true for actions
// other than GoTo: they do not lead to a page of the file.
func (x *extraction) actionLeads(d pdffile.Dict) bool {
	if dest := d.Get("Dest"); dest != nil {
		return x.leads(dest)
	}
	action := dictOf(x.file, d.Get("A"))

	return action != nil && (string(action.Get("S")) != "/GoTo" || x.leads(action.Get("D")))
}

// destinations removes names that lead to removed pages, and attachments.
func (x *extraction) destinations(catalog *pdffile.Dict) (warnings []string) {
	f := x.file
	x.named = map[string]bool{}

	var dests pdffile.Dict

	for _, d := range dictOf(f, catalog.Get("Dests")) {
		if x.leads(d.Value) {
			dests = append(dests, d)
			x.named["/"+d.Key] = true
		}
	}

	if catalog.Remove("Dests"); len(dests) > 0 {
		catalog.Set("Dests", pdffile.RefTo(f.Add(dests.Bytes())))
	}
	names := dictOf(f, catalog.Get("Names"))

	var kept []pair

	for _, p := range readTree(f, names.Get("Dests"), "Names") {
		if x.leads(p.value) {
			kept = append(kept, p)
			x.named["("+string(pdffile.StringBytes(p.key))] = true
		}
	}

	if names.Get("EmbeddedFiles") != nil || catalog.Get("AF") != nil {
		warnings = append(warnings, "attachments were removed, because they may hold the removed pages")
	}
	catalog.Remove("AF")

	if catalog.Remove("Names"); len(kept) > 0 {
		catalog.Set("Names", fmt.Sprintf("<</Dests %s>>", pdffile.RefTo(addTree(f, kept, "Names"))))
	}

	if action := catalog.Get("OpenAction"); action != nil && !x.leads(action) {
		catalog.Remove("OpenAction")
	}

	return warnings
}

// links removes the targets of links to removed pages.
func (x *extraction) links() {
	for _, n := range x.kept {
		for _, a := range arrayOf(x.file, dictOf(x.file, x.file.Objects[n]).Get("Annots")) {
			at, ok := x.file.Object(a)
			d := dictOf(x.file, a)

			if ok && (d.Get("Dest") != nil || d.Get("A") != nil) && !x.actionLeads(d) {
				d.Remove("Dest")
				d.Remove("A")
				x.file.Objects[at] = d.Bytes()
			}
		}
	}
}

// outline removes entries that lead to removed pages. An entry with kept entries below it stays without a target. A
// hostile outline may contain an entry twice or nest without end, so each entry is visited once, to maxOutlineDepth.
func (x *extraction) outline(catalog *pdffile.Dict) {
	f := x.file
	root, ok := f.Object(catalog.Get("Outlines"))
	seen := map[int]bool{}

	var keep func(parent int, first []byte, depth int) (entries []int, count int)
	keep = func(parent int, first []byte, depth int) (entries []int, count int) {
		if depth > maxOutlineDepth {
			return nil, 0
		}

		for _, n := range siblings(f, first) {
			// A repeated entry is a cycle: its siblings have been visited.
			if seen[n] {
				break
			}
			seen[n] = true
			d := dictOf(f, f.Objects[n])
			below, under := keep(n, d.Get("First"), depth+1)
			leads := x.actionLeads(d)

			if !leads && len(below) == 0 {
				continue
			}

			for _, key := range []string{"First", "Last", "Count", "Prev", "Next"} {
				d.Remove(key)
			}

			if !leads {
				d.Remove("A")
				d.Remove("Dest")
			}
			d.Set("Parent", pdffile.RefTo(parent))

			if len(below) > 0 {
				d.Set("First", pdffile.RefTo(below[0]))
				d.Set("Last", pdffile.RefTo(below[len(below)-1]))
				d.Set("Count", strconv.Itoa(under))
			}

			if len(entries) > 0 {
				before := entries[len(entries)-1]
				d.Set("Prev", pdffile.RefTo(before))
				f.SetEntry(before, "Next", pdffile.RefTo(n))
			}
			f.Objects[n] = d.Bytes()
			entries, count = append(entries, n), count+1+under
		}

		return entries, count
	}

	if !ok {
		catalog.Remove("Outlines")
		return
	}

	entries, count := keep(root, dictOf(f, f.Objects[root]).Get("First"), 0)
	if len(entries) == 0 {
		catalog.Remove("Outlines")
		return
	}
	f.Objects[root] = fmt.Appendf(nil, "<</Type /Outlines\n/First %s\n/Last %s\n/Count %d>>",
		pdffile.RefTo(entries[0]), pdffile.RefTo(entries[len(entries)-1]), count)
}

// form removes the form fields without a widget on a kept page. A widget is the annotation that shows a field.
func (x *extraction) form(catalog *pdffile.Dict) {
	f := x.file

	form := dictOf(f, catalog.Get("AcroForm"))
	if form == nil {
		return
	}
	onPage := map[int]bool{}

	for _, n := range x.kept {
		for _, a := range arrayOf(f, dictOf(f, f.Objects[n]).Get("Annots")) {
			if at, ok := f.Object(a); ok {
				onPage[at] = true
			}
		}
	}
	seen := map[int]bool{}
	var keep func(fields [][]byte, depth int) [][]byte
	keep = func(fields [][]byte, depth int) (kept [][]byte) {
		for _, field := range fields {
			n, ok := f.Object(field)
			if !ok || seen[n] || depth > maxFieldDepth {
				continue
			}
			seen[n] = true
			d := dictOf(f, field)

			if kids := d.Get("Kids"); kids != nil {
				below := keep(arrayOf(f, kids), depth+1)
				if len(below) == 0 {
					continue
				}
				f.SetEntry(n, "Kids", array(below))
			} else if !onPage[n] {
				continue
			}
			kept = append(kept, field)
		}

		return kept
	}
	fields := keep(arrayOf(f, form.Get("Fields")), 0)

	if catalog.Remove("AcroForm"); len(fields) > 0 {
		form.Set("Fields", array(fields))
		form.Remove("XFA") // this other form of the fields still has the removed ones
		form.Remove("CO")  // it may name removed fields
		catalog.Set("AcroForm", string(form.Bytes()))
	}
}
