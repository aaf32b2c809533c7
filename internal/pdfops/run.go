package pdfops

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"presswork/internal/chromium/fonts"
	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/pdffile"
	"presswork/internal/pdffile/edit"
	"presswork/internal/pdffile/parse"
)

// run is an operation in progress.
type run struct {
	ctx     context.Context
	op      Operation
	options Options
	inputs  []File
	docs    []*parse.Document
	mark    File
	result  Result
	left    int // bytes that further results may have
}

// warn adds warnings, each once.
func (r *run) warn(warnings ...string) {
	for _, w := range warnings {
		if !slices.Contains(r.result.Warnings, w) {
			r.result.Warnings = append(r.result.Warnings, w)
		}
	}
}

// name returns the name of the first input without its extension.
func (r *run) name() string { return withoutExtension(r.inputs[0].Name) }

// withoutExtension returns the last element of a path, without its extension.
func withoutExtension(name string) string {
	base := path.Base(name)
	return strings.TrimSuffix(base, path.Ext(base))
}

// add writes f as a result of PDF 1.7 or a later version. protection is nil unless the result is encrypted.
func (r *run) add(name string, f *pdffile.File, version string, protection *pdffile.Protection) error {
	data, err := f.Bytes(pdffile.Layout{Version: max(version, "1.7"), Compress: true, Protection: protection})
	if err != nil {
		return invalid(r.inputs[0].Name, err)
	}

	pages, err := f.Pages()
	if err != nil {
		return invalid(r.inputs[0].Name, err)
	}

	if r.left -= len(data); r.left < 0 {
		return input.Invalid("pages",
			"the results have more than %d bytes, or twice the size of the PDF; set pages to make fewer files",
			maxResult)
	}
	r.result.Files = append(r.result.Files, File{Name: name, Data: data})
	r.result.Pages += pages

	return nil
}

// merge runs the operation merge.
func (r *run) merge() error {
	inputs := make([]edit.Input, len(r.docs))
	version := ""

	for i, d := range r.docs {
		title := edit.About(d.File).Title
		if title == "" {
			title = withoutExtension(r.inputs[i].Name)
		}
		inputs[i] = edit.Input{File: d.File, Title: title}
		version = max(version, d.Version)
	}

	f, warnings, err := edit.Merge(inputs)
	if err != nil {
		return invalid("merge", err)
	}
	r.warn(warnings...)

	return r.add("merged.pdf", f, version, nil)
}

// pageRange is a range of pages, both included.
type pageRange struct{ first, last int }

// ranges returns the ranges of the option pages that the file has. It is nil for all pages.
func (r *run) ranges(pages int) (list []pageRange, err error) {
	text, err := input.PageRanges("pages", r.options.Pages)
	if text == "" || err != nil {
		return nil, err
	}

	for part := range strings.SplitSeq(text, ",") {
		a, b, isRange := strings.Cut(part, "-")
		if !isRange {
			b = a
		}
		first, _ := strconv.Atoi(a) // input.PageRanges has checked both
		last, _ := strconv.Atoi(b)

		if last > pages {
			return nil, input.Invalid("pages", "pages %q: the PDF has %d pages", part, pages)
		}
		list = append(list, pageRange{first, last})
	}

	return list, nil
}

// selected returns a function that reports whether the option pages selects a page.
func (r *run) selected(f *pdffile.File) (func(int) bool, error) {
	_, list, err := r.pagesOf(f)

	return func(page int) bool { return list == nil || within(list, page) }, err
}

// pagesOf returns the pages of the first input, f, as edit.Pages does, and the ranges that the option pages selects.
func (r *run) pagesOf(f *pdffile.File) (pages []int, list []pageRange, err error) {
	if pages, err = edit.Pages(f); err != nil {
		return nil, nil, invalid(r.inputs[0].Name, err)
	}
	list, err = r.ranges(len(pages))

	return pages, list, err
}

// within reports whether one of the ranges includes page.
func within(list []pageRange, page int) bool {
	return slices.ContainsFunc(list, func(p pageRange) bool { return page >= p.first && page <= p.last })
}

// split runs the operation split: a file for each range, for each page, or one for all ranges.
func (r *run) split() error {
	f := r.docs[0].File

	pages, list, err := r.pagesOf(f)
	if err != nil {
		return err
	}
	var parts [][]pageRange

	switch {
	case r.options.Single:
		parts = [][]pageRange{list}
	case list != nil:
		for _, p := range list {
			parts = append(parts, []pageRange{p})
		}
	default:
		for n := range pages {
			parts = append(parts, []pageRange{{n + 1, n + 1}})
		}
	}

	if len(parts) > MaxParts {
		return input.Invalid("pages", "the PDF has %d pages and would give as many files; at most %d are allowed: "+
			"set pages", len(parts), MaxParts)
	}

	for _, part := range parts {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		// The objects are never changed in place, so every part begins with a copy of the list.
		one := &pdffile.File{Objects: slices.Clone(f.Objects), Root: f.Root, Info: f.Info}

		warnings, err := edit.Extract(one, func(page int) bool { return within(part, page) })
		if err != nil {
			return invalid(r.inputs[0].Name, err)
		}
		r.warn(warnings...)

		if err := r.add(r.name()+"-"+label(part)+".pdf", one, r.docs[0].Version, nil); err != nil {
			return err
		}
	}

	return nil
}

// label names a part by its pages, such as "1-3_5". It is cut to a length that file systems allow.
func label(part []pageRange) string {
	names := make([]string, len(part))
	for i, p := range part {
		names[i] = strconv.Itoa(p.first)
		if p.last > p.first {
			names[i] += "-" + strconv.Itoa(p.last)
		}
	}
	const longest = 60 // bytes
	name := strings.Join(names, "_")

	return name[:min(longest, len(name))]
}

// rotate runs the operation rotate.
func (r *run) rotate() error {
	d := r.docs[0]

	selected, err := r.selected(d.File)
	if err != nil {
		return err
	}

	if err := edit.Rotate(d.File, r.options.Degrees, selected); err != nil {
		return invalid(r.inputs[0].Name, err)
	}

	return r.add(r.name()+"-rotated.pdf", d.File, d.Version, nil)
}

// typeface is the font of marks.
const typeface = "SourceSans3-Bold.ttf"

// stamp runs the operations stamp and watermark, which differ in their defaults.
func (r *run) stamp() error {
	d, o := r.docs[0], r.options

	selected, err := r.selected(d.File)
	if err != nil {
		return err
	}

	m, err := r.makeMark(d.File)
	if err != nil {
		return err
	}
	m.Place = edit.Place{Under: o.Under, Position: o.Position, Scale: 0.3, Opacity: 1}

	if r.op == Watermark {
		m.Place.Scale, m.Place.Opacity = 0.8, 0.15
		if o.Text != "" {
			m.Place.Rotation = 45
		}
	}

	for _, c := range []struct{ value, to *float64 }{
		{o.Scale, &m.Place.Scale}, {o.Opacity, &m.Place.Opacity}, {o.Rotation, &m.Place.Rotation},
	} {
		if c.value != nil {
			*c.to = *c.value
		}
	}

	warnings, err := edit.Stamp(d.File, m, selected)
	if err != nil {
		return invalid(r.inputs[0].Name, err)
	}
	r.warn(warnings...)

	return r.add(r.name()+"-stamped.pdf", d.File, d.Version, nil)
}

// makeMark adds what is to be drawn to the file.
func (r *run) makeMark(f *pdffile.File) (edit.Mark, error) {
	if r.options.Text != "" {
		font, ok := fonts.Face(typeface)
		if !ok {
			return edit.Mark{}, fmt.Errorf("the font %s is not embedded", typeface)
		}

		m, err := edit.TextMark(f, r.options.Text, font)
		if err != nil {
			err = input.Invalid("text", "text: %v", err)
		}

		return m, err
	}

	if !bytes.Contains(r.mark.Data[:min(1024, len(r.mark.Data))], []byte("%PDF-")) {
		m, err := edit.ImageMark(f, r.mark.Data)
		if err != nil {
			reason := err.Error() // about the picture only
			err = fault.Errorf(fault.UnsupportedMediaType, "%s: %s", path.Base(r.mark.Name), reason)
		}

		return m, err
	}

	d, err := open(r.mark, r.options.Password, r.op)
	if err != nil {
		return edit.Mark{}, err
	}

	m, warnings, err := edit.PageMark(f, d.File)
	if err != nil {
		return m, invalid(path.Base(r.mark.Name), err)
	}
	r.warn(warnings...)

	return m, nil
}

// encrypt runs the operation encrypt. The result claims no PDF/A, which forbids encryption.
func (r *run) encrypt() error {
	d, o := r.docs[0], r.options

	if _, err := edit.Pages(d.File); err != nil {
		return invalid(r.inputs[0].Name, err)
	}
	permissions := pdffile.AllPermissions

	for _, word := range o.Forbid {
		permissions &^= forbidden()[word]
	}
	r.warn(edit.RemovePDFAClaim(d.File)...)
	edit.Clean(d.File)

	return r.add(r.name()+"-encrypted.pdf", d.File, d.Version,
		&pdffile.Protection{User: o.UserPassword, Owner: o.OwnerPassword, Permissions: permissions})
}
