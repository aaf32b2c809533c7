package pdf

import (
	"bytes"
	"compress/zlib"
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

// pack writes a PDF of Chromium's anew: with our metadata, and, when that
// saves something, with the objects that are not streams compressed. Object
// bytes are copied, never interpreted, so tags, links and outline stay. Pages
// is right even when the rest fails, unless it is 0.
func pack(printed []byte, m Meta) (out []byte, pages int, err error) {
	f, err := readSkia(printed)
	if err != nil {
		return nil, 0, err
	}
	if pages, err = f.pages(); err != nil {
		return nil, 0, err
	}
	if f.objects[f.info], err = infoObject(f.objects[f.info], m); err != nil {
		return nil, pages, err
	}
	plain := 0
	for _, o := range f.objects {
		if o != nil && !isStream(o) {
			plain += len(o)
		}
	}
	w := &writer{file: f, offsets: make([]location, len(f.objects))}
	w.out.Grow(len(printed) + 1024)
	if plain < packFrom {
		w.classic()
	} else {
		w.compressed()
	}
	return w.out.Bytes(), pages, nil
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
}

func (w *writer) object(number int, body []byte) {
	w.offsets[number].offset = w.out.Len()
	w.out.Write(strconv.AppendInt(nil, int64(number), 10))
	w.out.WriteString(" 0 obj\n")
	w.out.Write(body)
	w.out.WriteString("\nendobj\n")
}

// classic writes every object plainly and a table of offsets.
func (w *writer) classic() {
	w.out.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
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
	fmt.Fprintf(&w.out, "trailer\n<</Size %d\n/Root %d 0 R\n/Info %d 0 R>>\nstartxref\n%d\n%%%%EOF\n",
		len(w.offsets), w.file.root, w.file.info, start)
}

// compressed writes streams as they are and everything else into object
// streams, with a cross-reference stream at the end.
func (w *writer) compressed() {
	w.out.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
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
			w.object(n, body)
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
	w.object(number, bytes.Join([][]byte{[]byte(dict), packed, []byte("\nendstream")}, nil))
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
	dict := fmt.Sprintf("<</Type /XRef\n/Size %d\n/W [1 4 2]\n/Root %d 0 R\n/Info %d 0 R\n/Filter /FlateDecode\n/Length %d>> stream\n",
		len(w.offsets), w.file.root, w.file.info, len(packed))
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
