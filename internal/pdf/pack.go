package pdf

import (
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
)

const (
	// packFrom is how many bytes of plain objects make compressing them worth
	// its time: below, it would win less than 25 KB for half a millisecond.
	packFrom = 32 << 10
	// perStream is how many objects lie in one object stream: readers unpack a
	// stream whole to get at one object, and a thousand compress as well as all.
	perStream = 1000
)

// packed is what pack makes of a print.
type packed struct {
	data []byte
	// pages is right even when pack fails, unless it is 0.
	pages int
	// missing is what keeps the document from being PDF/UA.
	missing []string
}

// pack writes a PDF of Chromium's anew: with our metadata, as what was asked
// for, and, when that saves something, with the objects that are not streams
// compressed. Most object bytes are copied, never interpreted, so tags, links
// and outline stay.
func pack(printed []byte, m Meta, finish Finish) (p packed, err error) {
	f, err := readSkia(printed)
	if err != nil {
		return p, err
	}
	if p.pages, err = f.pages(); err != nil {
		return p, err
	}
	if p.missing, err = f.finish(m, finish); err != nil {
		return p, err
	}
	plain := 0
	for _, o := range f.objects {
		if o != nil && !isStream(o) {
			plain += len(o)
		}
	}
	w := &writer{file: f, offsets: make([]location, len(f.objects))}
	w.out.Grow(len(printed) + 4096)
	switch {
	case finish.Password != "":
		if err := w.encrypted(finish.Password); err != nil {
			return p, err
		}
	case plain < packFrom:
		w.id = f.fingerprint()
		w.classic()
	default:
		w.id = f.fingerprint()
		w.header()
		w.compressed()
	}
	p.data = w.out.Bytes()
	return p, nil
}

// finish puts the metadata into the file and makes it what was asked for. It
// returns what is missing for PDF/UA.
func (f *skiaFile) finish(m Meta, finish Finish) (missing []string, err error) {
	catalog, _, err := readDict(f.objects[f.root])
	if err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	about, err := describe(f.objects[f.info], m, string(stringBytes(catalog.get("Lang"))), finish.Date)
	if err != nil {
		return nil, err
	}
	if err := f.improveTags(catalog); err != nil {
		return nil, err
	}
	if err := f.titleOutline(catalog, finish.Headings); err != nil {
		return nil, fmt.Errorf("outline: %w", err)
	}
	if err := f.tameDestinations(catalog); err != nil {
		return nil, fmt.Errorf("destinations: %w", err)
	}
	if finish.Hyphenated {
		if err := f.joinWords(); err != nil {
			return nil, fmt.Errorf("soft hyphens: %w", err)
		}
	}
	notdef := false
	if finish.PDFUA || finish.PDFA != "" {
		if err := f.mapAllGlyphs(); err != nil {
			return nil, err
		}
		if notdef, err = f.showsNotdef(); err != nil {
			return nil, err
		}
	}
	if finish.PDFUA {
		missing = f.accessible(catalog, finish.Undescribed, notdef)
	}
	if finish.PDFA != "" {
		if err := f.archive(&catalog, notdef); err != nil {
			return missing, err
		}
	}
	f.attach(&catalog, finish.Sources, about.date)
	xmp := about.xmp(finish.PDFA, finish.PDFUA && len(missing) == 0)
	catalog.set("Metadata", refTo(f.add(fmt.Appendf(nil, "<</Type /Metadata\n/Subtype /XML\n/Length %d>> stream\n%s\nendstream", len(xmp), xmp))))
	catalog.set("ViewerPreferences", "<</DisplayDocTitle true>>")
	f.objects[f.root], f.objects[f.info] = catalog.bytes(), about.info()
	return missing, nil
}

// fingerprint is the file's id, made of its content.
func (f *skiaFile) fingerprint() []byte {
	h := sha256.New()
	for n, o := range f.objects {
		fmt.Fprintf(h, "%d %d\n", n, len(o))
		h.Write(o)
	}
	const size = 16 // as the standard recommends
	return h.Sum(nil)[:size]
}

// location is where an object lies: at an offset, or in an object stream.
type location struct {
	offset        int
	stream, index int
}

// writer writes one file.
type writer struct {
	file    *skiaFile
	out     bytes.Buffer
	offsets []location
	id      []byte
	// seal, if set, encrypts the streams.
	seal *seal
}

func (w *writer) object(number int, body []byte) {
	w.offsets[number].offset = w.out.Len()
	w.out.Write(strconv.AppendInt(nil, int64(number), 10))
	w.out.WriteString(" 0 obj\n")
	w.out.Write(body)
	w.out.WriteString("\nendobj\n")
}

// trailer is what both forms of a trailer have besides size, root and info.
func (w *writer) trailer() string {
	entries := fmt.Sprintf("/ID [<%X> <%X>]", w.id, w.id)
	if w.seal != nil {
		entries += "\n/Encrypt " + refTo(w.seal.dict)
	}
	return entries
}

// header writes the version and a comment that says the file is binary.
func (w *writer) header() { w.out.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n") }

// classic writes every object plainly and a table of offsets.
func (w *writer) classic() {
	w.header()
	for n, body := range w.file.objects {
		if body != nil {
			w.object(n, body)
		}
	}
	start := w.out.Len()
	fmt.Fprintf(&w.out, "xref\n0 %d\n", len(w.offsets))
	for n, l := range w.offsets {
		if w.file.objects[n] == nil {
			w.out.WriteString("0000000000 65535 f \n")
			continue
		}
		fmt.Fprintf(&w.out, "%010d 00000 n \n", l.offset)
	}
	fmt.Fprintf(&w.out, "trailer\n<</Size %d\n/Root %d 0 R\n/Info %d 0 R\n%s>>\nstartxref\n%d\n%%%%EOF\n",
		len(w.offsets), w.file.root, w.file.info, w.trailer(), start)
}

// compressed writes streams as they are and everything else into object
// streams, with a cross-reference stream at the end.
func (w *writer) compressed() {
	var batch []int
	flush := func() {
		if len(batch) > 0 {
			w.objectStream(batch)
			batch = batch[:0]
		}
	}
	for n, body := range w.file.objects {
		switch {
		case body == nil:
		case isStream(body):
			w.object(n, w.seal.stream(body))
		default:
			if batch = append(batch, n); len(batch) == perStream {
				flush()
			}
		}
	}
	flush()
	w.crossReferenceStream()
}

// objectStream writes a batch of objects as one compressed stream under a new
// number.
func (w *writer) objectStream(batch []int) {
	number := len(w.offsets)
	w.offsets = append(w.offsets, location{})
	var head, bodies bytes.Buffer
	for i, n := range batch {
		w.offsets[n] = location{stream: number, index: i}
		fmt.Fprintf(&head, "%d %d ", n, bodies.Len())
		bodies.Write(w.file.objects[n])
		bodies.WriteByte('\n')
	}
	packed := deflate(head.Bytes(), bodies.Bytes())
	dict := fmt.Sprintf("<</Type /ObjStm\n/N %d\n/First %d\n/Filter /FlateDecode\n/Length %d>> stream\n", len(batch), head.Len(), len(packed))
	w.object(number, w.seal.stream(bytes.Join([][]byte{[]byte(dict), packed, []byte("\nendstream")}, nil)))
}

// crossReferenceStream writes the table as rows of type, place and index.
func (w *writer) crossReferenceStream() {
	number := len(w.offsets)
	start := w.out.Len()
	w.offsets = append(w.offsets, location{offset: start})
	const width = 1 + 4 + 2
	rows := make([]byte, 0, len(w.offsets)*width)
	for n, l := range w.offsets {
		switch {
		case l.stream > 0:
			rows = append(rows, 2)
			rows = binary.BigEndian.AppendUint32(rows, uint32(l.stream))
			rows = binary.BigEndian.AppendUint16(rows, uint16(l.index))
		case n < len(w.file.objects) && w.file.objects[n] == nil:
			rows = append(rows, 0)
			rows = binary.BigEndian.AppendUint32(rows, 0)
			rows = binary.BigEndian.AppendUint16(rows, 65535)
		default:
			rows = append(rows, 1)
			rows = binary.BigEndian.AppendUint32(rows, uint32(l.offset))
			rows = binary.BigEndian.AppendUint16(rows, 0)
		}
	}
	packed := deflate(rows)
	dict := fmt.Sprintf("<</Type /XRef\n/Size %d\n/W [1 4 2]\n/Root %d 0 R\n/Info %d 0 R\n%s\n/Filter /FlateDecode\n/Length %d>> stream\n",
		len(w.offsets), w.file.root, w.file.info, w.trailer(), len(packed))
	w.object(number, bytes.Join([][]byte{[]byte(dict), packed, []byte("\nendstream")}, nil))
	fmt.Fprintf(&w.out, "startxref\n%d\n%%%%EOF\n", start)
}

func deflate(parts ...[]byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	for _, p := range parts {
		_, _ = z.Write(p) // into memory: cannot fail
	}
	_ = z.Close()
	return b.Bytes()
}
