// Package pdffile reads PDF files in the form that Chromium writes: their objects, pages, content streams and
// fonts. It also writes and encrypts files. Its child packages read files of other programs, and inspect, join and
// change files.
//
// Read returns a File, which holds each object as the bytes that were written. ReadDict and ReadArray split an object
// into values on demand, because most objects are copied unchanged. Canvases and EachOperation read what is drawn on
// the pages. A caller replaces entries of File.Objects, or uses SetEntry, SetStream and Add, and then calls Bytes.
//
// Errors name the object or the page that is not as Chromium writes it. After an error from a function that changes a
// file, the file must not be used.
package pdffile

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// File is a PDF in the form that Chromium's PDF writer (Skia) produces: version 1.4, one classic cross-reference
// table, no encryption, no earlier revisions. Read rejects any other form; package parse reads other files into this
// form. A File is not safe for concurrent use, not even for reading: it caches fonts and shares a compressor.
type File struct {
	// Objects holds the bytes of each object between "N 0 obj" and "endobj", by number. Object 0 and free objects
	// are nil.
	Objects [][]byte
	// Root and Info are the object numbers of the catalog and of the Info dictionary.
	Root, Info int
	// textMaps caches the results of TextMap by font object.
	textMaps map[int]TextMap
	// unpacker is reused by inflate, packer by Deflate.
	unpacker io.ReadCloser
	packer   *zlib.Writer
}

// maxObjects limits the objects of a file. It is far above what Chromium writes: 700 pages of tables have 200 000.
const maxObjects = 8_000_000

// tableEntry is the size of an entry of a classic cross-reference table, in bytes (ISO 32000-1, 7.5.4).
const tableEntry = 20

// Read splits a PDF into its objects without interpreting them. The File refers to data, which must not change. Read
// returns an error if the file is not in Skia's form.
func Read(data []byte) (*File, error) {
	if !bytes.HasPrefix(data, []byte("%PDF-1.")) {
		return nil, errors.New("no PDF header")
	}

	table, trailer, start, err := findTable(data)
	if err != nil {
		return nil, err
	}

	entries, _, err := ReadDict(trailer)
	if err != nil {
		return nil, fmt.Errorf("trailer: %w", err)
	}

	if entries.Get("Encrypt") != nil || entries.Get("Prev") != nil || entries.Get("XRefStm") != nil {
		return nil, errors.New("the PDF is encrypted or has several revisions")
	}

	f := &File{}
	if err := f.cut(data, table, start); err != nil {
		return nil, err
	}
	var hasRoot, hasInfo bool
	f.Root, hasRoot = f.Object(entries.Get("Root"))

	f.Info, hasInfo = f.Object(entries.Get("Info"))
	if !hasRoot || !hasInfo || f.Objects[f.Root] == nil || f.Objects[f.Info] == nil {
		return nil, errors.New("the trailer refers to objects that the file does not have")
	}

	return f, nil
}

// findTable returns the entries of the cross-reference table, the trailer, and the offset of the table.
func findTable(data []byte) (table, trailer []byte, start int, err error) {
	tail := data[max(0, len(data)-64):]

	i := bytes.LastIndex(tail, []byte("startxref\n"))
	if i < 0 {
		return nil, nil, 0, errors.New("no startxref")
	}
	line, _, _ := bytes.Cut(tail[i+len("startxref\n"):], []byte("\n"))

	start, err = strconv.Atoi(string(line))
	if err != nil || start <= 0 || start >= len(data) {
		return nil, nil, 0, errors.New("startxref points outside the file")
	}

	section, ok := bytes.CutPrefix(data[start:], []byte("xref\n0 "))
	if !ok {
		return nil, nil, 0, errors.New("no classic cross-reference table")
	}
	line, section, _ = bytes.Cut(section, []byte("\n"))
	size, err := strconv.Atoi(string(line))

	if err != nil || size < 1 || size > maxObjects || len(section) < size*tableEntry {
		return nil, nil, 0, errors.New("the cross-reference table is cut off")
	}
	table = section[:size*tableEntry]

	trailer, ok = bytes.CutPrefix(section[size*tableEntry:], []byte("trailer\n"))
	if !ok {
		return nil, nil, 0, errors.New("no trailer after the table")
	}
	end := bytes.Index(trailer, []byte("startxref"))

	return table, trailer[:max(end, 0)], start, nil
}

// cut sets each object's bytes, from its offset to the offset of the next object. end is the offset after the last
// object. cut does not search for "endobj", because the content of a stream may contain it.
func (f *File) cut(data, table []byte, end int) error {
	type start struct{ number, offset int }

	starts := make([]start, 0, len(table)/tableEntry)
	for n := range len(table) / tableEntry {
		e := table[n*tableEntry : (n+1)*tableEntry] // "0000000015 00000 n \n"
		if e[17] == 'f' {                           // a free object
			continue
		}

		offset, err := strconv.Atoi(string(e[:10]))
		if err != nil || e[17] != 'n' || offset < 0 || offset >= end {
			return fmt.Errorf("object %d: bad table entry", n)
		}
		starts = append(starts, start{n, offset})
	}
	slices.SortFunc(starts, func(a, b start) int { return cmp.Compare(a.offset, b.offset) })
	f.Objects = make([][]byte, len(table)/tableEntry)

	for i, s := range starts {
		stop := end
		if i+1 < len(starts) {
			stop = starts[i+1].offset
		}

		body, ok := bytes.CutPrefix(data[s.offset:stop], strconv.AppendInt(nil, int64(s.number), 10))
		if ok {
			body, ok = bytes.CutPrefix(body, []byte(" 0 obj\n"))
		}

		if ok {
			body, ok = bytes.CutSuffix(body, []byte("\nendobj\n"))
		}

		if !ok {
			return fmt.Errorf("object %d is not framed as expected", s.number)
		}
		f.Objects[s.number] = body
	}

	return nil
}

// Pages returns the number of pages that the page tree states; PageNumbers counts them. Errors: a catalog or a page
// tree that is not a dictionary, and a number that is larger than the file can hold.
func (f *File) Pages() (int, error) {
	catalog, _, err := ReadDict(f.Objects[f.Root])
	if err != nil {
		return 0, fmt.Errorf("catalog: %w", err)
	}

	tree, err := f.Dictionary(catalog.Get("Pages"))
	if err != nil {
		return 0, fmt.Errorf("page tree: %w", err)
	}

	count, err := strconv.Atoi(string(tree.Get("Count")))
	if err != nil || count < 0 || count >= len(f.Objects) {
		return 0, fmt.Errorf("page tree: %.20q is not a number of pages", tree.Get("Count"))
	}

	return count, nil
}

// Sizes returns the width and height of each page, in points. It expects the lower left corner of each page at 0, 0,
// where Chromium puts it. Errors: those of PageNumbers, and a page without a MediaBox of four numbers.
func (f *File) Sizes() ([][2]float64, error) {
	pages, err := f.PageNumbers()
	if err != nil {
		return nil, err
	}

	sizes := make([][2]float64, len(pages))
	for n, at := range pages {
		page, _, err := ReadDict(f.Objects[n])
		if err != nil {
			return nil, fmt.Errorf("page %d: %w", at, err)
		}

		box, err := ReadArray(page.Get("MediaBox"))
		if err != nil {
			return nil, fmt.Errorf("page %d: %w", at, err)
		}

		corners, err := Numbers(box, 4)
		if err != nil {
			return nil, fmt.Errorf("page %d: %w", at, err)
		}
		sizes[at-1] = [2]float64{corners[2], corners[3]}
	}

	return sizes, nil
}

// Object returns the number of the object that a reference names. ok is false if value is not a reference to an
// object of the file.
func (f *File) Object(value []byte) (number int, ok bool) {
	number, ok = Reference(value)
	return number, ok && number < len(f.Objects)
}

// Add appends an object and returns its number.
func (f *File) Add(object []byte) int {
	f.Objects = append(f.Objects, object)
	return len(f.Objects) - 1
}

// IsStream reports whether an object is a stream. It looks at the end of the object only.
func IsStream(object []byte) bool { return bytes.HasSuffix(object, []byte("endstream")) }
