package pdffile

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
)

// Layout defines how Bytes writes a file. The zero value is a file of version 1.7 that is neither compressed nor
// encrypted.
type Layout struct {
	// Version is the PDF version in the header, such as "2.0". Default: "1.7".
	Version string
	// Compress puts all objects except streams into compressed object streams.
	Compress bool
	// Protection encrypts the file and implies Compress. Default: no encryption.
	Protection *Protection
}

// Bytes returns the file as a PDF. Its id is a hash of the objects, or random if the file is encrypted: without
// encryption, equal objects give equal files. Errors: a stream that cannot be encrypted; none without encryption.
func (f *File) Bytes(l Layout) ([]byte, error) {
	plain, packed := 0, 0

	for _, o := range f.Objects {
		if IsStream(o) {
			packed += len(o)
		} else {
			plain += len(o)
		}
	}
	w := &writer{file: f, version: cmp.Or(l.Version, "1.7"), offsets: make([]location, len(f.Objects))}
	w.out.Grow(packed + plain/4 + 4096) // an estimate: plain objects compress to about a quarter

	switch {
	case l.Protection != nil:
		if err := w.writeEncrypted(*l.Protection); err != nil {
			return nil, err
		}
	case l.Compress:
		w.id = fingerprint(f)
		w.header()
		w.writeCompressed()
	default:
		w.id = fingerprint(f)
		w.writeClassic()
	}

	return w.out.Bytes(), nil
}

// fingerprint returns the file's id, a hash of its objects.
func fingerprint(f *File) []byte {
	h := sha256.New()
	for n, o := range f.Objects {
		fmt.Fprintf(h, "%d %d\n", n, len(o))
		h.Write(o)
	}
	const size = 16 // the size that ISO 32000-1, 14.4 recommends

	return h.Sum(nil)[:size]
}

// location says where an object is in the file.
type location struct {
	offset int // in bytes, for an object outside of object streams
	// stream is the number of the object stream that has the object, or 0. index is the object's position in it.
	stream, index int
}

// writer writes one file.
type writer struct {
	file    *File
	version string
	out     bytes.Buffer
	offsets []location // by object number
	id      []byte     // the entry ID of the trailer
	// seal, if set, encrypts the streams.
	seal *seal
}

// object writes an object and records its offset.
func (w *writer) object(number int, body []byte) {
	w.offsets[number].offset = w.out.Len()
	w.out.Write(strconv.AppendInt(nil, int64(number), 10))
	w.out.WriteString(" 0 obj\n")
	w.out.Write(body)
	w.out.WriteString("\nendobj\n")
}

// trailer returns the trailer entries ID and Encrypt.
func (w *writer) trailer() string {
	entries := fmt.Sprintf("/ID [<%X> <%X>]", w.id, w.id)
	if w.seal != nil {
		entries += "\n/Encrypt " + RefTo(w.seal.dict)
	}

	return entries
}

// header writes the version and a comment that marks the file as binary.
func (w *writer) header() { fmt.Fprintf(&w.out, "%%PDF-%s\n%%\xe2\xe3\xcf\xd3\n", w.version) }

// writeClassic writes every object uncompressed, then a classic cross-reference table.
func (w *writer) writeClassic() {
	w.header()

	for n, body := range w.file.Objects {
		if body != nil {
			w.object(n, body)
		}
	}
	start := w.out.Len()
	fmt.Fprintf(&w.out, "xref\n0 %d\n", len(w.offsets))

	for n, l := range w.offsets {
		if w.file.Objects[n] == nil {
			w.out.WriteString("0000000000 65535 f \n")
			continue
		}
		fmt.Fprintf(&w.out, "%010d 00000 n \n", l.offset)
	}
	fmt.Fprintf(&w.out, "trailer\n<</Size %d\n/Root %d 0 R\n/Info %d 0 R\n%s>>\nstartxref\n%d\n%%%%EOF\n",
		len(w.offsets), w.file.Root, w.file.Info, w.trailer(), start)
}

// writeCompressed writes streams as they are, and all other objects in object streams (ISO 32000-1, 7.5.7). A
// cross-reference stream ends the file. An object stream takes the place of the last of its objects.
func (w *writer) writeCompressed() {
	streams, plain := w.file.packObjects(), 0

	for n, body := range w.file.Objects {
		switch {
		case body == nil:
		case IsStream(body):
			w.object(n, w.seal.stream(body))
		default:
			if plain++; plain%perStream == 0 {
				w.writeObjectStream(streams[0])
				streams = streams[1:]
			}
		}
	}

	for _, s := range streams {
		w.writeObjectStream(s)
	}
	w.crossReferenceStream()
}

// crossReferenceStream writes the table of all objects, including itself. A row is a type, an offset or a stream
// number, and an index (ISO 32000-1, table 18). The stream is never encrypted, because readers need it first.
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
		case n < len(w.file.Objects) && w.file.Objects[n] == nil:
			rows = append(rows, 0)
			rows = binary.BigEndian.AppendUint32(rows, 0)
			rows = binary.BigEndian.AppendUint16(rows, 65535)
		default:
			rows = append(rows, 1)
			rows = binary.BigEndian.AppendUint32(rows, uint32(l.offset))
			rows = binary.BigEndian.AppendUint16(rows, 0)
		}
	}
	packed := w.file.Deflate(rows)
	dict := fmt.Sprintf(
		"<</Type /XRef\n/Size %d\n/W [1 4 2]\n/Root %d 0 R\n/Info %d 0 R\n%s\n/Filter /FlateDecode\n/Length %d>> stream\n",
		len(w.offsets),
		w.file.Root,
		w.file.Info,
		w.trailer(),
		len(packed),
	)
	w.object(number, bytes.Join([][]byte{[]byte(dict), packed, []byte("\nendstream")}, nil))
	fmt.Fprintf(&w.out, "startxref\n%d\n%%%%EOF\n", start)
}
