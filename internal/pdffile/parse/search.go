package parse

import (
	"bytes"
	"errors"

	"presswork/internal/pdffile"
)

// search finds the objects of a file with damaged cross-references. It sets r.table, r.trailer and r.cipher. Of several
// objects with one number the last one wins, as in a file with several revisions. Errors: ErrTooLarge, ErrEncryption,
// ErrPassword.
func (r *reader) search(password string) error {
	var streams []int

	for at := 0; ; {
		start, ok := r.nextObject(at)
		if !ok {
			break
		}

		// Do not decrypt: the key is known only after the trailers have been found.
		number, object, end, err := r.objectAt(start, false)
		if errors.Is(err, ErrTooLarge) {
			return err
		}

		if err != nil || number > maxNumber {
			at = start + len("0 0 obj") // the shortest beginning of an object
			continue
		}
		at = end
		r.replace(number, entry{offset: start})

		if !pdffile.IsStream(object) {
			continue
		}

		d, _, err := pdffile.ReadDict(object)
		if err != nil {
			continue
		}

		switch string(d.Get("Type")) {
		case "/ObjStm":
			streams = append(streams, number)
		case "/XRef":
			r.adopt(d)
		}
	}
	r.searchTrailers()

	if err := r.unlock(password); err != nil {
		return err
	}

	for _, n := range streams {
		s, err := r.unpackStream(n)
		if errors.Is(err, ErrTooLarge) {
			return err
		}

		if err != nil {
			continue
		}
		r.packed[n] = s

		for number := range s.offsets {
			// An object outside of object streams wins over one within a stream.
			if number < maxNumber && (number >= len(r.table) || r.table[number].offset <= 0) {
				r.replace(number, entry{offset: -1, stream: int32(n)})
			}
		}
	}

	return nil
}

// replace sets the place of an object, even if a newer entry has set it.
func (r *reader) replace(number int, e entry) {
	r.set(number, e)

	if e.known = true; number < len(r.table) { // set ignores far too high numbers
		r.table[number] = e
	}
}

// adopt takes the entries of a trailer that names a catalog.
func (r *reader) adopt(trailer pdffile.Dict) {
	if trailer.Get("Root") != nil {
		r.trailer = trailer
	}
}

// searchTrailers adopts the trailers of classic tables in their order.
func (r *reader) searchTrailers() {
	for at := 0; ; {
		next := bytes.Index(r.data[at:], []byte("trailer"))
		if next < 0 {
			return
		}
		at += next + len("trailer")
		l := lexer{in: r.data, at: at}

		object, err := l.value(nil, 0)
		if r.spend(l.at-at) != nil {
			return
		}

		if err != nil {
			continue
		}

		if d, _, err := pdffile.ReadDict(object); err == nil {
			r.adopt(d)
		}
	}
}

// nextObject returns the offset of the next "N G obj" from at on. It looks for the word obj and reads the two numbers
// backwards, which visits each byte of the file only once.
func (r *reader) nextObject(at int) (start int, ok bool) {
	for {
		next := bytes.Index(r.data[at:], []byte("obj"))
		if next < 0 {
			return 0, false
		}
		found := at + next
		at = found + len("obj")

		start := found
		back := func(accept func(byte) bool) (moved bool) {
			// Look back at most 40 bytes, because a file of digits and "obj" would take quadratic time.
			for start > 0 && found-start < 40 && accept(r.data[start-1]) {
				start--
				moved = true
			}

			return moved
		}
		digit := func(c byte) bool { return c >= '0' && c <= '9' }

		if back(isSpace); back(digit) && back(isSpace) && back(digit) {
			return start, true
		}
	}
}
