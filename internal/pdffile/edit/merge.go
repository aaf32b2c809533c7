package edit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"presswork/internal/pdffile"
)

// Input is a file to merge.
type Input struct {
	File *pdffile.File
	// Title is the text of the file's entry in the outline.
	Title string
}

// Merge joins the files in their order. Tags, links, destinations, labels, attachments, layers and form fields of
// all files stay. Metadata, language and viewer settings are those of the first file. It returns what it changed
// or dropped, in words for the user. The caller must not use the inputs afterwards.
func Merge(inputs []Input) (f *pdffile.File, warnings []string, err error) {
	m := &merger{out: &pdffile.File{Objects: [][]byte{nil, []byte("null")}}, names: map[string]bool{}}
	m.claims = claimsOf(inputs[0].File)

	for i, in := range inputs {
		m.claims = m.claims.and(claimsOf(in.File))

		if err := m.add(i, in); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", in.Title, err)
		}
	}

	if err := m.finish(); err != nil {
		return nil, nil, err
	}

	return m.out, m.warnings, nil
}

// null is the number of the object that stands for missing ones in a merged file.
const null = 1

// merger is a merged file under construction. Its object numbers are those of the result.
type merger struct {
	out      *pdffile.File
	catalog  pdffile.Dict // of the first file
	warnings []string
	claims   claims
	pages    []int
	labels   map[int][]byte
	outline  []outlineTop
	names    map[string]bool // keys of dests, destNames, attachments, in one space per kind
	// renamed are the new names of destinations of the file that is being added.
	renamed map[string]string
	dests   pdffile.Dict
	// destNames and attachments are entries of name trees.
	destNames, attachments []pair
	associated             [][]byte
	layers                 layers
	form                   form
	tags                   tags
	untagged               []string
}

// outlineTop is the entry of one file in the outline, and the file's own entries.
type outlineTop struct {
	title       string
	page        int
	first, last int
	count       int
}

func (m *merger) add(i int, in Input) error {
	f := in.File

	pages, err := Pages(f)
	if err != nil {
		return err
	}
	catalog := dictOf(f, []byte(pdffile.RefTo(f.Root)))
	m.renameDestinations(i, f, catalog)
	tagged := m.tags.prepare(i, f, catalog)

	if !tagged {
		m.untagged = append(m.untagged, in.Title)
	}
	m.form.prepare(i, f, catalog)
	base := len(m.out.Objects)
	number := func(n int) int {
		if n >= len(f.Objects) || f.Objects[n] == nil {
			return null
		}

		return n + base
	}

	moved := pdffile.Renumber(catalog.Bytes(), number)
	for _, o := range f.Objects {
		m.out.Objects = append(m.out.Objects, pdffile.Renumber(o, number))
	}

	if catalog, _, err = pdffile.ReadDict(moved); err != nil {
		return err
	}
	first := len(m.pages)

	for _, p := range pages {
		m.pages = append(m.pages, number(p))
	}

	if i == 0 {
		m.catalog = catalog
		m.out.Root, m.out.Info = number(f.Root), number(f.Info)
	}
	m.addLabels(first, len(pages), catalog)
	m.addOutline(in.Title, m.pages[first], catalog)
	m.addNames(catalog)
	m.layers.add(m.out, catalog)
	m.form.add(m.out, catalog)

	if tagged {
		m.tags.add(m.out, m.catalog, catalog)
	}
	f.Objects = nil // frees half of the memory

	return nil
}

// kept are the entries of the first catalog that the result keeps.
var kept = []string{
	"Type", "Lang", "ViewerPreferences", "PageLayout", "PageMode", "OutputIntents", "Metadata", "OpenAction",
	"Extensions", "MarkInfo",
}

func (m *merger) finish() error {
	if len(m.pages) > MaxPages {
		return fmt.Errorf("the result would have more than %d pages", MaxPages)
	}
	catalog := pdffile.Dict{}

	for _, key := range kept {
		if value := m.catalog.Get(key); value != nil {
			catalog.Set(key, string(value))
		}
	}

	if value := m.catalog.Get("Pages"); value == nil {
		return errors.New("the first file has no pages")
	}
	catalog.Set("Pages", pdffile.RefTo(m.out.AddPageTree(m.pages)))

	if m.labels != nil {
		catalog.Set("PageLabels", pdffile.RefTo(addTree(m.out, sortedPairs(m.labels), "Nums")))
	}

	if len(m.dests) > 0 {
		catalog.Set("Dests", pdffile.RefTo(m.out.Add(m.dests.Bytes())))
	}
	names := pdffile.Dict{}

	if len(m.destNames) > 0 {
		names.Set("Dests", pdffile.RefTo(addTree(m.out, m.destNames, "Names")))
	}

	if len(m.attachments) > 0 {
		names.Set("EmbeddedFiles", pdffile.RefTo(addTree(m.out, m.attachments, "Names")))
	}

	if len(names) > 0 {
		catalog.Set("Names", string(names.Bytes()))
	}

	if len(m.associated) > 0 {
		catalog.Set("AF", array(m.associated))
	}
	m.layers.write(&catalog)
	m.form.write(m.out, &catalog)
	catalog.Set("Outlines", pdffile.RefTo(m.writeOutline()))

	if m.tags.write(m.out, &catalog) && len(m.untagged) > 0 {
		m.claims.ua = ""
		m.warnings = append(m.warnings, fmt.Sprintf("%s: the pages have no tags for screen readers", m.untagged[0]))
	}
	m.out.Objects[m.out.Root] = catalog.Bytes()
	m.warnings = append(m.warnings, restrict(m.out, m.claims)...)
	Clean(m.out)

	return nil
}

// renameDestinations changes names of destinations that earlier files use, in the file and in its links.
func (m *merger) renameDestinations(i int, f *pdffile.File, catalog pdffile.Dict) {
	renamed := map[string]string{}
	prefix := fmt.Sprintf("file%d-", i+1)

	take := func(kind, name string) string {
		to := name
		if m.names[kind+name] {
			to = prefix + name
			renamed[kind+name] = to
		}
		m.names[kind+to] = true

		return to
	}

	if value := catalog.Get("Dests"); value != nil {
		dests := dictOf(f, value)
		for n := range dests {
			dests[n].Key = take("/", dests[n].Key)
		}

		if at, ok := f.Object(value); ok {
			f.Objects[at] = dests.Bytes()
		} else {
			catalog.Set("Dests", string(dests.Bytes())) // sets it for the caller as well
		}
	}

	names := dictOf(f, catalog.Get("Names"))
	for _, p := range readTree(f, names.Get("Dests"), "Names") {
		take("(", string(pdffile.StringBytes(p.key)))
	}
	m.renamed = renamed

	if len(renamed) == 0 {
		return
	}
	rename := func(value []byte) []byte {
		if name, ok := bytes.CutPrefix(value, []byte("/")); ok {
			if to := renamed["/"+string(name)]; to != "" {
				return []byte("/" + to)
			}
		} else if to := renamed["("+string(pdffile.StringBytes(value))]; to != "" {
			return appendText(to)
		}

		return value
	}

	for n, o := range f.Objects {
		if !bytes.Contains(o, []byte("/Dest")) && !bytes.Contains(o, []byte("/GoTo")) {
			continue
		}
		f.Objects[n] = eachDict(o, func(d *pdffile.Dict) {
			if value := d.Get("Dest"); value != nil {
				d.Set("Dest", string(rename(value)))
			}

			if value := d.Get("D"); value != nil && string(d.Get("S")) == "/GoTo" {
				d.Set("D", string(rename(value)))
			}
		})
	}
}

// appendText returns a string of raw bytes in hexadecimal digits.
func appendText(raw string) []byte { return fmt.Appendf(nil, "<%x>", raw) }

// addNames adds the destinations and attachments of a file.
func (m *merger) addNames(catalog pdffile.Dict) {
	m.dests = append(m.dests, dictOf(m.out, catalog.Get("Dests"))...)
	names := dictOf(m.out, catalog.Get("Names"))

	for _, p := range readTree(m.out, names.Get("Dests"), "Names") {
		if to := m.renamed["("+string(pdffile.StringBytes(p.key))]; to != "" {
			p.key = appendText(to)
		}
		m.destNames = append(m.destNames, p)
	}

	for _, p := range readTree(m.out, names.Get("EmbeddedFiles"), "Names") {
		key := "file" + string(pdffile.StringBytes(p.key))
		for m.names[key] {
			key += "-2"
		}
		m.names[key] = true
		m.attachments = append(m.attachments, pair{appendText(key[len("file"):]), p.value})
	}
	m.associated = append(m.associated, arrayOf(m.out, catalog.Get("AF"))...)

	if names.Get("JavaScript") != nil {
		m.warnings = append(m.warnings, "scripts of the documents were dropped")
	}
}

// addLabels adds the page labels of a file (ISO 32000-2, 12.4.2). A file without labels counts its own pages.
func (m *merger) addLabels(first, count int, catalog pdffile.Dict) {
	own := numbered(m.out, catalog.Get("PageLabels"))
	if len(own) == 0 && m.labels == nil {
		return
	}

	if m.labels == nil {
		m.labels = map[int][]byte{}
		if first > 0 {
			m.labels[0] = []byte("<</S /D>>")
		}
	}

	if own[0] == nil {
		m.labels[first] = []byte("<</S /D>>")
	}

	for at, label := range own {
		if at < count {
			m.labels[first+at] = label
		}
	}
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

	for i, n := range entries { // the chain may have been damaged
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

// siblings returns the outline entries from first on that are on one level.
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

// layers are the optional content groups of all files (ISO 32000-2, 8.11).
type layers struct {
	groups, off, order [][]byte
}

func (l *layers) add(f *pdffile.File, catalog pdffile.Dict) {
	all := dictOf(f, catalog.Get("OCProperties"))
	usual := dictOf(f, all.Get("D"))
	l.groups = append(l.groups, arrayOf(f, all.Get("OCGs"))...)
	l.off = append(l.off, arrayOf(f, usual.Get("OFF"))...)
	l.order = append(l.order, arrayOf(f, usual.Get("Order"))...)
}

func (l *layers) write(catalog *pdffile.Dict) {
	if len(l.groups) > 0 {
		catalog.Set("OCProperties", fmt.Sprintf("<</OCGs %s\n/D <</Name (Default)\n/OFF %s\n/Order %s>>>>",
			array(l.groups), array(l.off), array(l.order)))
	}
}

// form holds the fields of the forms of all files.
type form struct {
	fields    [][]byte
	first     pdffile.Dict
	resources pdffile.Dict
	names     map[string]bool
}

// prepare renames the fields of a file whose names are in use, because fields with one name share their value.
func (m *form) prepare(i int, f *pdffile.File, catalog pdffile.Dict) {
	if m.names == nil {
		m.names = map[string]bool{}
	}
	own := map[string]bool{}

	for _, field := range arrayOf(f, dictOf(f, catalog.Get("AcroForm")).Get("Fields")) {
		n, ok := f.Object(field)
		if !ok {
			continue
		}

		name := pdffile.DecodeText(dictOf(f, field).Get("T"))
		if m.names[name] {
			name += fmt.Sprintf("-%d", i+1)
			f.SetEntry(n, "T", pdffile.TextString(name))
		}
		own[name] = true
	}

	for name := range own {
		m.names[name] = true
	}
}

func (m *form) add(f *pdffile.File, catalog pdffile.Dict) {
	d := dictOf(f, catalog.Get("AcroForm"))
	if d == nil {
		return
	}
	m.fields = append(m.fields, arrayOf(f, d.Get("Fields"))...)

	if m.first == nil {
		m.first = slices.Clone(d)
	}

	for _, kind := range dictOf(f, d.Get("DR")) {
		all := dictOf(f, m.resources.Get(kind.Key))
		for _, entry := range dictOf(f, kind.Value) {
			if all.Get(entry.Key) == nil {
				all.Set(entry.Key, string(entry.Value))
			}
		}

		if all != nil {
			m.resources.Set(kind.Key, string(all.Bytes()))
		}
	}
}

func (m *form) write(_ *pdffile.File, catalog *pdffile.Dict) {
	if len(m.fields) == 0 {
		return
	}

	for _, key := range []string{"XFA", "SigFlags", "CO"} { // of one file only
		m.first.Remove(key)
	}
	m.first.Set("Fields", array(m.fields))

	if m.resources != nil {
		m.first.Set("DR", string(m.resources.Bytes()))
	}
	catalog.Set("AcroForm", string(m.first.Bytes()))
}
