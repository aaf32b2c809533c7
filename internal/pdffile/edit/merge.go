package edit

import (
	"bytes"
	"errors"
	"fmt"

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
// or dropped, in words for the user. There must be at least one input, and the caller must not use the inputs
// afterwards. Errors begin with the title of the file that cannot be merged.
func Merge(inputs []Input) (f *pdffile.File, warnings []string, err error) {
	m := &merger{
		out:             &pdffile.File{Objects: [][]byte{nil, []byte("null")}},
		names:           map[string]bool{},
		attachmentNames: map[string]int{},
	}
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

// nullObject is the number of the object that stands for missing ones in a merged file.
const nullObject = 1

// merger is a merged file under construction. Its object numbers are those of the result.
type merger struct {
	out      *pdffile.File
	catalog  pdffile.Dict // of the first file
	warnings []string
	claims   claims // what all files claim
	pages    []int
	labels   map[int][]byte // page labels by page index
	outline  []outlineTop
	// names are the names in use: of dests after "/", and of destNames after "(".
	names map[string]bool
	// attachmentNames has, for each name of an attachment, the number of the last copy, from 1.
	attachmentNames map[string]int
	// renamed are the new names of destinations of the file that is being added.
	renamed map[string]string
	dests   pdffile.Dict
	// destNames and attachments are entries of name trees.
	destNames, attachments []pair
	associated             [][]byte // associated files of the catalogs
	layers                 layers
	form                   form
	tags                   tags
	untagged               []string // titles of files without tags
}

// add adds the i-th file: it renumbers the objects and collects what the catalogs share.
func (m *merger) add(i int, in Input) error {
	f := in.File

	pages, err := Pages(f)
	if err != nil {
		return err
	}
	catalog := dictOf(f, []byte(pdffile.RefTo(f.Root)))
	// Make names and keys unique before the objects get new numbers.
	m.renameDestinations(i, f, catalog)
	tagged := m.tags.prepare(i, f, catalog)

	if !tagged {
		m.untagged = append(m.untagged, in.Title)
	}
	m.form.prepare(i, f, catalog)
	base := len(m.out.Objects)
	number := func(n int) int {
		if n >= len(f.Objects) || f.Objects[n] == nil {
			return nullObject
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

// keptEntries are the entries of the first catalog that the result keeps.
var keptEntries = []string{
	"Type", "Lang", "ViewerPreferences", "PageLayout", "PageMode", "OutputIntents", "Metadata", "OpenAction",
	"Extensions", "MarkInfo",
}

// finish writes the catalog of the merged file.
func (m *merger) finish() error {
	if len(m.pages) > MaxPages {
		return fmt.Errorf("the result would have more than %d pages", MaxPages)
	}
	catalog := pdffile.Dict{}

	for _, key := range keptEntries {
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
	m.form.write(&catalog)
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

// renameDestinations changes names of destinations that earlier files use, in the file and in its links. addNames
// renames the entries of the name tree later, by m.renamed.
func (m *merger) renameDestinations(i int, f *pdffile.File, catalog pdffile.Dict) {
	renamed := map[string]string{}
	prefix := fmt.Sprintf("file%d-", i+1)

	// take reserves a name and returns it, or the new name if an earlier file has it. kind is "/" for names of the
	// dictionary of PDF 1.1 and "(" for names of the name tree: the two do not collide.
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
			return hexString(to)
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

// hexString returns a PDF string of raw bytes, in hexadecimal digits.
func hexString(raw string) []byte { return fmt.Appendf(nil, "<%x>", raw) }

// addNames adds the destinations and attachments of a file.
func (m *merger) addNames(catalog pdffile.Dict) {
	m.dests = append(m.dests, dictOf(m.out, catalog.Get("Dests"))...)
	names := dictOf(m.out, catalog.Get("Names"))

	for _, p := range readTree(m.out, names.Get("Dests"), "Names") {
		if to := m.renamed["("+string(pdffile.StringBytes(p.key))]; to != "" {
			p.key = hexString(to)
		}
		m.destNames = append(m.destNames, p)
	}

	for _, p := range readTree(m.out, names.Get("EmbeddedFiles"), "Names") {
		name := m.freeAttachmentName(string(pdffile.StringBytes(p.key)))
		m.attachments = append(m.attachments, pair{hexString(name), p.value})
	}
	m.associated = append(m.associated, arrayOf(m.out, catalog.Get("AF"))...)

	if names.Get("JavaScript") != nil {
		m.warnings = append(m.warnings, "scripts of the documents were dropped")
	}
}

// freeAttachmentName returns name, or name with the suffix "-2", "-3" and so on if an attachment has it. It counts the
// copies of each name, so that many equal names take linear time.
func (m *merger) freeAttachmentName(name string) string {
	free := name
	for m.attachmentNames[free] > 0 {
		m.attachmentNames[name]++
		free = fmt.Sprintf("%s-%d", name, m.attachmentNames[name])
	}
	m.attachmentNames[free] = 1

	return free
}

// addLabels adds the page labels of a file (ISO 32000-2, 12.4.2). A file without labels counts its own pages. Once
// any file has labels, each file needs one, or it would continue the numbers of the file before it.
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
