// Package join makes one PDF file of several.
package join

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"presswork/internal/pdffile"
)

// Files joins the prints of sections to one file: their pages, tags, outline, links and
// destinations. A font of several sections is embedded once. If there are banners, they
// have one page for each page of the whole, which is drawn upon it. The files must not
// be used afterwards.
func Files(sections, banners []*pdffile.File) (*pdffile.File, error) {
	j := joined{
		out:   &pdffile.File{Objects: make([][]byte, 1)},
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
	out   *pdffile.File
	fonts fontPool
	pages []int
	// catalog is that of the first section.
	catalog      pdffile.Dict
	destinations pdffile.Dict
	named        map[string]bool // among them
	outline      []outlineEntry
	tags         joinedTags
}

// member is a section on its way into the whole.
type member struct {
	file    *pdffile.File
	catalog pdffile.Dict
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

func (j *joined) add(f *pdffile.File) error {
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
		j.out.Objects = append(j.out.Objects, pdffile.Renumber(o, m.number))
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
		if !j.named[d.Key] { // a note may be in several
			j.named[d.Key] = true
			j.destinations = append(j.destinations, d)
		}
	}

	j.outline = append(j.outline, entries...)
	if j.catalog == nil {
		if j.catalog, _, err = pdffile.ReadDict(pdffile.Renumber(m.catalog.Bytes(), m.number)); err != nil {
			return err
		}
		j.out.Root, j.out.Info = m.number(m.file.Root), m.number(m.file.Info)

		return nil
	}
	j.out.Objects[m.number(m.file.Root)], j.out.Objects[m.number(m.file.Info)] = nil, nil

	return nil
}

func newMember(f *pdffile.File) (*member, error) {
	m := &member{file: f, moved: map[int]int{}}

	numbers, err := f.PageNumbers()
	if err != nil {
		return nil, err
	}

	m.pages = make([]int, len(numbers))
	for n, at := range numbers {
		m.pages[at-1] = n
	}
	m.catalog, _, err = pdffile.ReadDict(f.Objects[f.Root])

	return m, err
}

// discard forgets the objects that the whole has itself.
func (m *member) discard() {
	f := m.file
	forget := func(value []byte) {
		if n, ok := f.Object(value); ok {
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
func (m *member) destinations() (kept pdffile.Dict, err error) {
	value := m.catalog.Get("Dests")
	if value == nil {
		return nil, nil
	}

	all, err := m.file.Dictionary(value)
	if err != nil {
		return nil, err
	}

	for _, d := range all {
		kept = append(kept, pdffile.Field{Key: d.Key, Value: pdffile.Renumber(d.Value, m.number)})
	}

	return kept, nil
}

// finish writes what the whole has instead of its sections' own.
func (j *joined) finish() error {
	j.catalog.Set("Pages", pdffile.RefTo(j.pageTree(j.pages)))
	j.catalog.Remove("Dests")

	if len(j.destinations) > 0 {
		j.catalog.Set("Dests", pdffile.RefTo(j.out.Add(j.destinations.Bytes())))
	}
	j.catalog.Remove("Outlines")

	if len(j.outline) > 0 {
		j.catalog.Set("Outlines", pdffile.RefTo(j.writeOutline()))
	}

	if err := j.tags.write(j); err != nil {
		return fmt.Errorf("tags: %w", err)
	}
	j.out.Objects[j.out.Root] = j.catalog.Bytes()

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
			number := j.out.Add(nil)

			for i, n := range group {
				kids[i] = pdffile.RefTo(n)
				j.setEntry(n, "Parent", pdffile.RefTo(number))
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
	if d, _, err := pdffile.ReadDict(j.out.Objects[number]); err == nil {
		d.Set(key, value)
		j.out.Objects[number] = d.Bytes()
	}
}

var errBanners = errors.New("there is not one for each page")

// drawBanners draws the pages of files upon those of the whole, as forms: so
// nothing of either is unpacked.
func (j *joined) drawBanners(banners []*pdffile.File) error {
	before := j.out.Add(stream(pdffile.Dict{}, []byte("q\n")))
	after := j.out.Add(stream(pdffile.Dict{}, []byte("Q\n/Artifact BMC\n/"+bannerName+" Do\nEMC\n")))
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
func (j *joined) drawSome(banners *pdffile.File, pages []int, before, after int) error {
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
		j.out.Objects = append(j.out.Objects, pdffile.Renumber(o, m.number))
	}

	for i, n := range m.pages {
		page, _, err := pdffile.ReadDict(j.out.Objects[m.number(n)])
		if err != nil {
			return err
		}

		form, ok := j.out.Object(page.Get("Contents"))
		if !ok {
			return pdffile.ErrObject
		}

		d, content, err := pdffile.ReadDict(j.out.Objects[form])
		if err != nil {
			return err
		}
		all := pdffile.Dict{
			{Key: "Type", Value: []byte("/XObject")},
			{Key: "Subtype", Value: []byte("/Form")},
			{Key: "BBox", Value: page.Get("MediaBox")},
			{Key: "Resources", Value: page.Get("Resources")},
		}
		j.out.Objects[form] = append(append(all, d...).Bytes(), content...)

		j.out.Objects[m.number(n)] = nil
		if err := j.drawOn(pages[i], form, before, after); err != nil {
			return err
		}
	}

	for _, n := range []int{banners.Root, banners.Info} {
		j.out.Objects[m.number(n)] = nil
	}

	return nil
}

// bannerName is the form of header and footer among a page's resources.
const bannerName = "Banner"

func (j *joined) drawOn(number, form, before, after int) error {
	page, _, err := pdffile.ReadDict(j.out.Objects[number])
	if err != nil {
		return err
	}

	resources, _, err := pdffile.ReadDict(page.Get("Resources"))
	if err != nil {
		return err
	}

	var forms pdffile.Dict
	if value := resources.Get("XObject"); value != nil {
		if forms, err = j.out.Dictionary(value); err != nil {
			return err
		}
	}
	forms.Set(bannerName, pdffile.RefTo(form))
	resources.Set("XObject", string(forms.Bytes()))
	page.Set("Resources", string(resources.Bytes()))
	page.Set("Contents", fmt.Sprintf("[%s %s %s]", pdffile.RefTo(before), page.Get("Contents"), pdffile.RefTo(after)))
	j.out.Objects[number] = page.Bytes()

	return nil
}

// stream writes a stream object that is not packed.
func stream(d pdffile.Dict, content []byte) []byte {
	d.Set("Length", strconv.Itoa(len(content)))
	return bytes.Join([][]byte{d.Bytes(), []byte(" stream\n"), content, []byte("\nendstream")}, nil)
}
