// Package join combines the printed sections of a document into one PDF file.
//
// Files adds the sections one after another. It gives the objects of a section new numbers, and merges its fonts with
// those of earlier sections. It collects pages, tags, outline entries and destinations. At the end it draws the banners
// with header and footer. Then it writes what the result has only once: page tree, structure tree, outline.
package join

import (
	"bytes"
	"errors"
	"fmt"
	"iter"

	"presswork/internal/pdffile"
)

// Files combines the sections into one file with all their pages, tags, outline entries, links and destinations. All
// files must be prints of Chromium, and there must be at least one section with a page. Files embeds a font of
// several sections once. The title and the other properties of the document are those of the first section. Files
// reads one section after the other, so that the caller need not hold all of them. banners is empty, or its files have
// together one page for each page of the result; that page is drawn on top. The caller must not use the files
// afterwards. Errors name the section, counted from 1.
func Files(sections iter.Seq2[*pdffile.File, error], banners []*pdffile.File) (*pdffile.File, error) {
	j := joined{
		out:   &pdffile.File{Objects: make([][]byte, 1)},
		named: map[string]bool{},
		fonts: fontPool{byFace: map[string]*subset{}},
	}
	number := 0

	for f, err := range sections {
		number++

		if err == nil {
			err = j.add(f)
		}

		if err != nil {
			return nil, fmt.Errorf("section %d: %w", number, err)
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

// joined is the result under construction. All its object numbers are those of the result.
type joined struct {
	out   *pdffile.File
	fonts fontPool
	pages []int
	// catalog is the catalog of the first section.
	catalog      pdffile.Dict
	destinations pdffile.Dict
	named        map[string]bool // names of destinations in use
	outline      []outlineEntry
	tags         joinedTags
}

// member is a section that is being added to the result.
type member struct {
	file    *pdffile.File
	catalog pdffile.Dict
	pages   []int // the section's object numbers
	// offset is added to the section's object numbers. moved holds the exceptions.
	offset int
	moved  map[int]int
}

// number returns the number that an object of the member has in the joined file.
func (m *member) number(n int) int {
	if to, ok := m.moved[n]; ok {
		return to
	}

	return n + m.offset
}

// copied returns an object, or a part of one, with the numbers of the result. The copy is necessary because a slice of
// the member's file would keep the whole file in memory.
func (m *member) copied(object []byte) []byte {
	return bytes.Clone(pdffile.Renumber(object, m.number))
}

// add appends the pages, tags, outline and destinations of a file.
func (j *joined) add(f *pdffile.File) error {
	m, err := newMember(f)
	if err != nil {
		return err
	}

	tags, err := m.readTags()
	if err != nil {
		return err
	}

	// From here on, m.number returns numbers of the result.
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
		j.out.Objects = append(j.out.Objects, m.copied(o))
	}

	if tags != nil {
		if err := j.tags.reparent(j.out, tags); err != nil {
			return fmt.Errorf("tags: %w", err)
		}
	}

	for _, p := range m.pages {
		j.pages = append(j.pages, m.number(p))
	}

	for _, d := range destinations {
		if !j.named[d.Key] { // several sections may hold the same note
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

// newMember reads the pages and the catalog of a file.
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

// discard deletes the section's page tree, destinations and outline, which the result has only once.
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

// destinations returns the destinations of the section's anchors.
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
		kept = append(kept, pdffile.Field{Key: d.Key, Value: m.copied(d.Value)})
	}

	return kept, nil
}

// finish writes the objects that the result has only once: the page tree, the destinations, the outline, the tags
// and the merged fonts.
func (j *joined) finish() error {
	j.catalog.Set("Pages", pdffile.RefTo(j.out.AddPageTree(j.pages)))
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

var errBanners = errors.New("the banners need exactly one page for each page of the sections")

// drawBanners draws each banner page on a page of the result. It embeds banners as forms, so it unpacks no
// content.
func (j *joined) drawBanners(banners []*pdffile.File) error {
	// All pages share two streams. They keep the graphics state of the page away from the banner.
	before := j.out.Add(pdffile.NewStream(nil, []byte("q\n")))
	after := j.out.Add(pdffile.NewStream(nil, []byte("Q\n/Artifact BMC\n/"+bannerName+" Do\nEMC\n")))
	left := j.pages

	for _, f := range banners {
		count, err := f.Pages()
		if err != nil {
			return err
		}

		if count > len(left) {
			return errBanners
		}

		if err := j.drawBannerFile(f, left[:count], before, after); err != nil {
			return err
		}
		left = left[count:]
	}

	if len(left) > 0 {
		return errBanners
	}

	return nil
}

// drawBannerFile draws the pages of one banner file on the pages with these object numbers.
func (j *joined) drawBannerFile(banners *pdffile.File, pages []int, before, after int) error {
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
		// The content stream of the banner page becomes the form, with the page's size and resources.
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

// bannerName is the resource name of the form that holds header and footer.
const bannerName = "Banner"

// drawOn draws a form on the page with this object number. before and after are streams that save and restore the
// graphics state.
func (j *joined) drawOn(number, form, before, after int) error {
	page, _, err := pdffile.ReadDict(j.out.Objects[number])
	if err != nil {
		return err
	}

	// Chromium writes the resources of a page into the page, not into an object of their own.
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
