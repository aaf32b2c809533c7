package pdffile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// Join makes one file of the prints of sections: their pages, tags, outline, links and the
// places they lead to; fonts of several sections are embedded once. Banners, if
// there are any, have a page for each page of the whole, which is drawn upon it.
// The files may not be used any more.
func Join(sections, banners []*File) (*File, error) {
	j := joined{
		out:   &File{Objects: make([][]byte, 1), textMaps: map[int]textMap{}},
		named: map[string]bool{},
		fonts: fontPool{byFace: map[string]*subset{}},
	}
	for i, f := range sections {
		if err := j.add(f); err != nil {
			return nil, fmt.Errorf("section %d: %w", i+1, err)
		}
	}

	if len(j.pages) == 0 {
		return nil, errors.New("the sections have no pages")
	}

	if len(banners) > 0 {
		if err := j.drawBanners(banners); err != nil {
			return nil, fmt.Errorf("banners: %w", err)
		}
	}

	return j.out, j.finish()
}

// joined is the whole while it is put together. All numbers in it are those of
// the whole.
type joined struct {
	out   *File
	fonts fontPool
	pages []int
	// catalog is that of the first section.
	catalog      dict
	destinations dict
	named        map[string]bool // among them
	outline      []outlineEntry
	tags         joinedTags
}

// member is a section on its way into the whole.
type member struct {
	file    *File
	catalog dict
	pages   []int // by the section's own numbers
	// offset is added to the numbers of objects, but for those in moved.
	offset int
	moved  map[int]int
}

func (m *member) number(n int) int {
	if to, ok := m.moved[n]; ok {
		return to
	}

	return n + m.offset
}

func (j *joined) add(f *File) error {
	m, err := newMember(f)
	if err != nil {
		return err
	}

	tags, err := m.readTags()
	if err != nil {
		return err
	}

	m.offset = len(j.out.Objects)
	if err := j.fonts.take(m); err != nil {
		return err
	}

	entries, err := m.outlineEntries()
	if err != nil {
		return err
	}

	destinations, err := m.destinations()
	if err != nil {
		return err
	}

	if tags != nil {
		if err := j.tags.add(m, tags); err != nil {
			return fmt.Errorf("tags: %w", err)
		}
	}
	m.discard()

	for _, o := range m.file.Objects {
		j.out.Objects = append(j.out.Objects, renumber(o, m.number))
	}
	m.file.Objects = nil // half of the memory

	if tags != nil {
		if err := j.tags.hang(j.out, tags); err != nil {
			return fmt.Errorf("tags: %w", err)
		}
	}

	for _, p := range m.pages {
		j.pages = append(j.pages, m.number(p))
	}

	for _, d := range destinations {
		if !j.named[d.key] { // a note may be in several
			j.named[d.key] = true
			j.destinations = append(j.destinations, d)
		}
	}

	j.outline = append(j.outline, entries...)
	if j.catalog == nil {
		if j.catalog, _, err = ReadDict(renumber(m.catalog.bytes(), m.number)); err != nil {
			return err
		}
		j.out.root, j.out.info = m.number(m.file.root), m.number(m.file.info)

		return nil
	}
	j.out.Objects[m.number(m.file.root)], j.out.Objects[m.number(m.file.info)] = nil, nil

	return nil
}

func newMember(f *File) (*member, error) {
	m := &member{file: f, moved: map[int]int{}}

	numbers, err := f.PageNumbers()
	if err != nil {
		return nil, err
	}

	m.pages = make([]int, len(numbers))
	for n, at := range numbers {
		m.pages[at-1] = n
	}
	m.catalog, _, err = ReadDict(f.Objects[f.root])

	return m, err
}

// discard forgets the objects that the whole has itself.
func (m *member) discard() {
	f := m.file
	forget := func(value []byte) {
		if n, ok := f.object(value); ok {
			f.Objects[n] = nil
		}
	}

	for n, o := range f.Objects {
		if bytes.HasPrefix(o, []byte("<</Type /Pages\n")) {
			f.Objects[n] = nil
		}
	}
	forget(m.catalog.Get("Dests"))
	forget(m.catalog.Get("Outlines"))
}

// destinations are those of the section's anchors.
func (m *member) destinations() (kept dict, err error) {
	value := m.catalog.Get("Dests")
	if value == nil {
		return nil, nil
	}

	all, err := m.file.dictionary(value)
	if err != nil {
		return nil, err
	}

	for _, d := range all {
		kept = append(kept, field{d.key, renumber(d.value, m.number)})
	}

	return kept, nil
}

// finish writes what the whole has instead of its sections' own.
func (j *joined) finish() error {
	j.catalog.set("Pages", refTo(j.pageTree(j.pages)))
	j.catalog.remove("Dests")

	if len(j.destinations) > 0 {
		j.catalog.set("Dests", refTo(j.out.add(j.destinations.bytes())))
	}
	j.catalog.remove("Outlines")

	if len(j.outline) > 0 {
		j.catalog.set("Outlines", refTo(j.writeOutline()))
	}

	if err := j.tags.write(j); err != nil {
		return fmt.Errorf("tags: %w", err)
	}
	j.out.Objects[j.out.root] = j.catalog.bytes()

	return j.fonts.write(j.out)
}

// pageTree writes a tree of so few branches a node that readers find a page
// quickly, and returns its root.
func (j *joined) pageTree(leaves []int) int {
	const branches = 64

	nodes, counts := leaves, slices.Repeat([]int{1}, len(leaves))
	for first := true; first || len(nodes) > 1; first = false {
		var above, sums []int

		for group := range slices.Chunk(nodes, branches) {
			sum := 0
			for _, c := range counts[:len(group)] {
				sum += c
			}
			counts = counts[len(group):]
			kids := make([]string, len(group))
			number := j.out.add(nil)

			for i, n := range group {
				kids[i] = refTo(n)
				j.setEntry(n, "Parent", refTo(number))
			}
			j.out.Objects[number] = fmt.Appendf(nil, "<</Type /Pages\n/Count %d\n/Kids %s>>", sum, kids)
			above, sums = append(above, number), append(sums, sum)
		}
		nodes, counts = above, sums
	}

	return nodes[0]
}

// setEntry sets an entry of an object that is a dictionary and has been read
// before.
func (j *joined) setEntry(number int, key, value string) {
	if d, _, err := ReadDict(j.out.Objects[number]); err == nil {
		d.set(key, value)
		j.out.Objects[number] = d.bytes()
	}
}

// renumber changes the numbers of the objects that an object refers to, which is
// not text that looks like a reference, nor a stream's content.
func renumber(object []byte, to func(int) int) []byte {
	if !bytes.Contains(object, []byte(" 0 R")) {
		return object
	}

	head, rest := object, []byte(nil)
	if isStream(object) {
		at := bytes.Index(object, []byte(" stream\n"))
		head, rest = object[:at], object[at:]
	}
	out := make([]byte, 0, len(object)+len(object)/8)
	copied := 0

	for at := 0; at < len(head); {
		c := head[at]
		switch {
		case c == '(':
			at += max(stringLength(head[at:]), 1)
		case c >= '0' && c <= '9':
			n := regular(head[at:])
			if whole := referenceLength(head[at:], n); whole > n {
				number, _ := strconv.Atoi(string(head[at : at+n])) // digits
				out = strconv.AppendInt(append(out, head[copied:at]...), int64(to(number)), 10)
				copied = at + n
				n = whole
			}
			at += n
		case c == '/':
			at += 1 + regular(head[at+1:])
		default:
			at++
		}
	}

	return append(append(out, head[copied:]...), rest...)
}

var errBanners = errors.New("there is not one for each page")

// drawBanners draws the pages of files upon those of the whole, as forms: so
// nothing of either is unpacked.
func (j *joined) drawBanners(banners []*File) error {
	before := j.out.add(stream(dict{}, []byte("q\n")))
	after := j.out.add(stream(dict{}, []byte("Q\n/Artifact BMC\n/"+bannerName+" Do\nEMC\n")))
	left := j.pages

	for _, f := range banners {
		count, err := f.Pages()
		if err != nil {
			return err
		}

		if count > len(left) {
			return errBanners
		}

		if err := j.drawSome(f, left[:count], before, after); err != nil {
			return err
		}
		left = left[count:]
	}

	if len(left) > 0 {
		return errBanners
	}

	return nil
}

// drawSome draws the pages of one file.
func (j *joined) drawSome(banners *File, pages []int, before, after int) error {
	m, err := newMember(banners)
	if err != nil {
		return err
	}

	if len(m.pages) != len(pages) {
		return errBanners
	}

	m.offset = len(j.out.Objects)
	if err := j.fonts.take(m); err != nil {
		return err
	}
	m.discard()

	for _, o := range banners.Objects {
		j.out.Objects = append(j.out.Objects, renumber(o, m.number))
	}

	for i, n := range m.pages {
		page, _, err := ReadDict(j.out.Objects[m.number(n)])
		if err != nil {
			return err
		}

		form, ok := j.out.object(page.Get("Contents"))
		if !ok {
			return ErrObject
		}

		d, content, err := ReadDict(j.out.Objects[form])
		if err != nil {
			return err
		}
		all := dict{
			{"Type", []byte("/XObject")},
			{"Subtype", []byte("/Form")},
			{"BBox", page.Get("MediaBox")},
			{"Resources", page.Get("Resources")},
		}
		j.out.Objects[form] = append(append(all, d...).bytes(), content...)

		j.out.Objects[m.number(n)] = nil
		if err := j.drawOn(pages[i], form, before, after); err != nil {
			return err
		}
	}

	for _, n := range []int{banners.root, banners.info} {
		j.out.Objects[m.number(n)] = nil
	}

	return nil
}

// bannerName is the form of header and footer among a page's resources.
const bannerName = "Banner"

func (j *joined) drawOn(number, form, before, after int) error {
	page, _, err := ReadDict(j.out.Objects[number])
	if err != nil {
		return err
	}

	resources, _, err := ReadDict(page.Get("Resources"))
	if err != nil {
		return err
	}

	var forms dict
	if value := resources.Get("XObject"); value != nil {
		if forms, err = j.out.dictionary(value); err != nil {
			return err
		}
	}
	forms.set(bannerName, refTo(form))
	resources.set("XObject", string(forms.bytes()))
	page.set("Resources", string(resources.bytes()))
	page.set("Contents", fmt.Sprintf("[%s %s %s]", refTo(before), page.Get("Contents"), refTo(after)))
	j.out.Objects[number] = page.bytes()

	return nil
}

// stream writes a stream object that is not packed.
func stream(d dict, content []byte) []byte {
	d.set("Length", strconv.Itoa(len(content)))
	return bytes.Join([][]byte{d.bytes(), []byte(" stream\n"), content, []byte("\nendstream")}, nil)
}
