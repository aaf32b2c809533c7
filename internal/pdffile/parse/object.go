package parse

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"presswork/internal/pdffile"
)

var errPlace = errors.New("the object is not where the cross-references say")

// object returns the object with this number by its entry in the table, or nil for a free number. Errors: errPlace, and
// those of objectAt and unpackStream.
func (r *reader) object(number int) ([]byte, error) {
	e := r.table[number]
	switch {
	case e.stream > 0:
		return r.packedObject(int(e.stream), number)
	case e.offset <= 0:
		return nil, nil
	}

	found, object, _, err := r.objectAt(e.offset, true)
	if err == nil && found != number {
		err = errPlace
	}

	return object, err
}

// objectAt reads the object at an offset. decrypt is false for cross-reference streams and for the encryption
// dictionary. end is the offset after the object. Errors: errPlace if there is no object, ErrTooLarge, errors of
// syntax.
func (r *reader) objectAt(offset int, decrypt bool) (number int, object []byte, end int, err error) {
	if offset >= len(r.data) {
		return 0, nil, 0, errPlace
	}
	l := lexer{in: r.data, at: offset}
	number, ok1 := l.integer()
	generation, ok2 := l.integer()

	if !ok1 || !ok2 || !l.keyword("obj") {
		return 0, nil, 0, errPlace
	}
	var key *objectKey

	if decrypt && r.cipher != nil {
		key = r.cipher.key(number, generation)
		l.decrypt = key.text
	}
	start := l.at

	object, err = l.value(nil, 0)
	if spent := r.spend(l.at - start + len(object)); spent != nil {
		return 0, nil, 0, spent
	}

	if err != nil {
		return 0, nil, 0, err
	}

	if !l.keyword("stream") {
		return number, object, l.at, nil
	}

	// CR LF or LF ends the line with the keyword; a lone CR is also accepted.
	if l.at < len(l.in) && l.in[l.at] == '\r' {
		l.at++
	}

	if l.at < len(l.in) && l.in[l.at] == '\n' {
		l.at++
	}

	d, _, err := pdffile.ReadDict(object)
	if err != nil {
		return 0, nil, 0, err
	}

	content, end := r.content(d, l.at)
	// The content may be copied twice: decrypted, and into the object.
	if err := r.spend(2 * (end - l.at)); err != nil {
		return 0, nil, 0, err
	}

	// The encryption dictionary is found through cross-reference streams, so they are not encrypted.
	if string(d.Get("Type")) != "/XRef" {
		content = key.stream(d, content)
	}
	dropCrypt(&d)

	return number, pdffile.NewStream(d, content), end, nil
}

// dropCrypt removes a leading Crypt filter, because the stream is decrypted when it is read. The output is written in
// plain, or encrypted as a whole later.
func dropCrypt(d *pdffile.Dict) {
	filters, err := pdffile.ReadArray(d.Get("Filter"))
	if err != nil || len(filters) == 0 || string(filters[0]) != "/Crypt" {
		return
	}

	for _, key := range []string{"Filter", "DecodeParms"} {
		values, err := pdffile.ReadArray(d.Get(key))
		if err != nil || len(values) < 2 {
			d.Remove(key)
			continue
		}
		d.Set(key, "["+string(bytes.Join(values[1:], []byte(" ")))+"]")
	}
}

// content returns the data of a stream that begins at start, and the offset after it. It uses the stated length only if
// the word endstream follows. Otherwise the data ends before that word, or at the end of the file.
func (r *reader) content(d pdffile.Dict, start int) (content []byte, end int) {
	if n, ok := r.length(d.Get("Length")); ok && n <= len(r.data)-start {
		l := lexer{in: r.data, at: start + n}
		if l.skip(); bytes.HasPrefix(l.in[l.at:], []byte("endstream")) {
			return r.data[start : start+n], l.at
		}
	}

	n := bytes.Index(r.data[start:], []byte("endstream"))
	if n < 0 {
		return r.data[start:], len(r.data)
	}
	content = r.data[start : start+n]

	content = bytes.TrimSuffix(content, []byte("\n"))

	return bytes.TrimSuffix(content, []byte("\r")), start + n
}

// length reads the length of a stream, which may be a reference to another object. It reports false if the length is in
// an object stream that is not unpacked yet, or malformed; the caller then searches for the end.
func (r *reader) length(value []byte) (n int, ok bool) {
	if number, isRef := pdffile.Reference(value); isRef {
		if number >= len(r.table) {
			return 0, false
		}

		e := r.table[number]
		if e.stream > 0 {
			// Unpacking here could recurse, so the length is read only from a stream that is already unpacked.
			if _, unpacked := r.packed[int(e.stream)]; !unpacked {
				return 0, false
			}
			value, _ = r.packedObject(int(e.stream), number)
		} else {
			l := lexer{in: r.data, at: max(e.offset, 0)}
			found, _ := l.integer()
			_, _ = l.integer()

			if found != number || !l.keyword("obj") {
				return 0, false
			}
			l.skip()
			value = l.token()
		}
	}
	n, err := strconv.Atoi(string(value))

	return n, err == nil && n >= 0
}

// objectStream is an unpacked object stream.
type objectStream struct {
	content []byte
	offsets map[int]int // by object number
}

// packedObject returns an object of an object stream, or nil if the stream does not have it. Each stream is unpacked
// once, because it holds up to hundreds of objects. Errors: ErrTooLarge, errSyntax, and those of unpackStream.
func (r *reader) packedObject(stream, number int) ([]byte, error) {
	s, known := r.packed[stream]
	if !known {
		var err error
		if s, err = r.unpackStream(stream); err != nil {
			return nil, fmt.Errorf("object stream %d: %w", stream, err)
		}
		r.packed[stream] = s
	}

	offset, ok := s.offsets[number]
	if !ok {
		return nil, nil
	}
	l := lexer{in: s.content, at: offset}

	object, err := l.value(nil, 0)
	if spent := r.spend(l.at - offset + len(object)); spent != nil {
		return nil, spent
	}

	return object, err
}

// unpackStream reads an object stream and the offsets of its objects. Errors: errPlace if the number does not lead to
// one, and those of objectAt and Unpack.
func (r *reader) unpackStream(stream int) (*objectStream, error) {
	if stream >= len(r.table) || r.table[stream].stream > 0 || r.table[stream].offset <= 0 {
		return nil, errPlace
	}

	found, object, _, err := r.objectAt(r.table[stream].offset, true)
	if err != nil {
		return nil, err
	}

	d, _, err := pdffile.ReadDict(object)
	if err != nil || found != stream || !pdffile.IsStream(object) {
		return nil, errPlace
	}

	content, err := Unpack(&pdffile.File{}, object, r.budget)
	if err == nil {
		err = r.spend(len(content))
	}

	if err != nil {
		return nil, err
	}
	s := &objectStream{content: content, offsets: map[int]int{}}
	first, _ := strconv.Atoi(string(d.Get("First"))) // a malformed number leaves the stream empty
	l := lexer{in: content[:min(max(first, 0), len(content))]}

	for {
		number, ok1 := l.integer()
		offset, ok2 := l.integer()

		if !ok1 || !ok2 {
			return s, nil
		}

		if offset < len(content)-first {
			s.offsets[number] = first + offset
		}
	}
}
