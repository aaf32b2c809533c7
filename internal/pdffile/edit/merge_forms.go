package edit

import (
	"fmt"
	"slices"

	"presswork/internal/pdffile"
)

// layers are the optional content groups of all files (ISO 32000-2, 8.11).
type layers struct {
	// off are the groups that are hidden by default. order is the list of groups that viewers show.
	groups, off, order [][]byte
}

// add adds the layers of a file, with their default visibility and order.
func (l *layers) add(f *pdffile.File, catalog pdffile.Dict) {
	all := dictOf(f, catalog.Get("OCProperties"))
	usual := dictOf(f, all.Get("D"))
	l.groups = append(l.groups, arrayOf(f, all.Get("OCGs"))...)
	l.off = append(l.off, arrayOf(f, usual.Get("OFF"))...)
	l.order = append(l.order, arrayOf(f, usual.Get("Order"))...)
}

// write adds the layers to the catalog, if there are any.
func (l *layers) write(catalog *pdffile.Dict) {
	if len(l.groups) > 0 {
		catalog.Set("OCProperties", fmt.Sprintf("<</OCGs %s\n/D <</Name (Default)\n/OFF %s\n/Order %s>>>>",
			array(l.groups), array(l.off), array(l.order)))
	}
}

// form holds the fields of the forms of all files.
type form struct {
	fields [][]byte
	// first is the form of the first file that has one. The merged form takes its other entries.
	first pdffile.Dict
	// resources are the fonts and other resources of all forms.
	resources pdffile.Dict
	// names are the names of the fields of the files so far.
	names map[string]bool
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

// add adds the fields of a file, and the fonts and other resources of its form.
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

// write adds the joined form to the catalog. It keeps the other entries of the first file's form.
func (m *form) write(catalog *pdffile.Dict) {
	if len(m.fields) == 0 {
		return
	}

	for _, key := range []string{"XFA", "SigFlags", "CO"} { // these describe the fields of one file
		m.first.Remove(key)
	}
	m.first.Set("Fields", array(m.fields))

	if m.resources != nil {
		m.first.Set("DR", string(m.resources.Bytes()))
	}
	catalog.Set("AcroForm", string(m.first.Bytes()))
}
