package parse

import (
	"bytes"
	"errors"
	"strconv"

	"presswork/internal/pdffile"
)

// entry is the place of an object: an offset in the file, or an object stream that contains it.
type entry struct {
	// offset is -1 if the object is free or unknown.
	offset int
	// stream is the number of the object stream, or 0.
	stream int32
	// known is true if a cross-reference section or the search has set the entry.
	known bool
}

// maxRevisions limits the cross-reference sections of a file. Each save of a signed form adds one.
const maxRevisions = 1000

var errTable = errors.New("the cross-reference table is damaged")

// readTable reads all cross-reference sections, the newest first, into r.table and r.trailer. Each save of a file may
// add a section at its end. Its trailer has the offset of the section before as Prev. Errors: errTable, ErrTooLarge.
func (r *reader) readTable() error {
	at := bytes.LastIndex(r.data, []byte("startxref"))
	if at < 0 {
		return errTable
	}
	l := lexer{in: r.data, at: at + len("startxref")}

	offset, ok := l.integer()
	if !ok {
		return errTable
	}
	seen := map[int]bool{}

	for !seen[offset] {
		if offset <= 0 || offset >= len(r.data) || len(seen) > maxRevisions {
			return errTable
		}

		seen[offset] = true

		trailer, err := r.readSection(offset)
		if err != nil {
			return err
		}

		// The newest trailer has the entries of the whole file.
		if r.trailer == nil {
			r.trailer = trailer
		}

		// Prev leads to the previous revision.
		previous, err := strconv.Atoi(string(trailer.Get("Prev")))
		if err != nil { // the first revision
			return nil
		}
		offset = previous
	}

	return nil // the revisions form a cycle, and all of them have been read
}

// readSection reads one cross-reference table or stream and returns its trailer. Errors: errTable, ErrTooLarge.
func (r *reader) readSection(offset int) (pdffile.Dict, error) {
	l := lexer{in: r.data, at: offset}
	if !l.keyword("xref") {
		return r.readStreamSection(offset)
	}

	var free []int

	for !l.keyword("trailer") {
		first, ok1 := l.integer()
		count, ok2 := l.integer()

		if !ok1 || !ok2 || first+count > maxNumber {
			return nil, errTable
		}

		for n := first; n < first+count; n++ {
			place, ok1 := l.integer()
			_, ok2 := l.integer()
			l.skip()
			kind := string(l.token())

			if !ok1 || !ok2 || kind != "n" && kind != "f" {
				return nil, errTable
			}

			if kind == "f" {
				free = append(free, n)
				continue
			}
			r.set(n, entry{offset: place})
		}
	}

	if err := r.spend(l.at - offset); err != nil {
		return nil, err
	}

	object, err := l.value(nil, 0)
	if err != nil {
		return nil, errTable
	}

	trailer, _, err := pdffile.ReadDict(object)
	if err != nil {
		return nil, err
	}

	// The table of a hybrid file lists the objects of this stream as free (ISO 32000-2, 7.5.8.4).
	if at, err := strconv.Atoi(string(trailer.Get("XRefStm"))); err == nil && at > 0 && at < len(r.data) {
		if _, err := r.readStreamSection(at); err != nil {
			return nil, err
		}
	}

	// The first entry of an object stays, so set the free ones after those of the stream above.
	for _, n := range free {
		r.set(n, entry{offset: -1})
	}

	return trailer, nil
}

// readStreamSection reads a cross-reference stream (ISO 32000-2, 7.5.8).
func (r *reader) readStreamSection(offset int) (pdffile.Dict, error) {
	_, object, _, err := r.objectAt(offset, false)
	if err != nil || !pdffile.IsStream(object) {
		return nil, errTable
	}

	trailer, _, err := pdffile.ReadDict(object)
	if err != nil || string(trailer.Get("Type")) != "/XRef" {
		return nil, errTable
	}
	widths := r.integers(trailer.Get("W"))
	index := r.integers(trailer.Get("Index"))

	if index == nil {
		size, _ := strconv.Atoi(string(trailer.Get("Size"))) // 0 if malformed
		index = []int{0, size}
	}

	if len(widths) < 3 || len(index)%2 == 1 {
		return nil, errTable
	}
	row := 0

	// A field of more than 8 bytes does not fit into an integer.
	for _, w := range widths {
		if row += w; w > 8 {
			return nil, errTable
		}
	}

	rows, err := Unpack(&pdffile.File{}, object, maxNumber*8)
	if err != nil || row == 0 {
		return nil, errTable
	}

	if err := r.spend(len(rows)); err != nil {
		return nil, err
	}

	for ; len(index) > 1; index = index[2:] {
		for n := index[0]; n < index[0]+index[1] && len(rows) >= row; n++ {
			if n > maxNumber {
				return nil, errTable
			}
			r.setRow(n, rows[:row], widths)
			rows = rows[row:]
		}
	}

	return trailer, nil
}

// setRow records one row of a cross-reference stream: a type, then an offset or the number of an object stream. widths
// are the sizes of the fields in bytes.
func (r *reader) setRow(number int, row []byte, widths []int) {
	var fields [3]int
	fields[0] = 1 // the default of the type, for a width of 0

	for i, w := range widths[:3] {
		if w > 0 {
			fields[i] = 0
		}

		for _, b := range row[:w] {
			fields[i] = fields[i]<<8 | int(b)
		}
		row = row[w:]
	}

	switch fields[0] {
	case 0:
		r.set(number, entry{offset: -1})
	case 1:
		r.set(number, entry{offset: fields[1]})
	case 2:
		if fields[1] > 0 && fields[1] <= maxNumber {
			r.set(number, entry{offset: -1, stream: int32(fields[1])})
		}
	}
}

// set records an entry unless a newer revision has set it. It ignores numbers that are far too high for the size
// of the file, because the list of objects has a place for each number.
func (r *reader) set(number int, e entry) {
	const sparse = 100_000 // numbers beyond one for each byte of the file
	if number > len(r.data)+sparse {
		return
	}

	for number >= len(r.table) {
		r.table = append(r.table, make([]entry, max(number+1-len(r.table), len(r.table)/4))...)
	}

	if !r.table[number].known {
		e.known = true
		r.table[number] = e
	}
}

// integers reads an array of whole numbers. It returns nil if value is anything else.
func (r *reader) integers(value []byte) (numbers []int) {
	values, err := pdffile.ReadArray(value)
	if err != nil || value == nil {
		return nil
	}

	for _, v := range values {
		n, err := strconv.Atoi(string(v))
		if err != nil || n < 0 || n > maxNumber {
			return nil
		}
		numbers = append(numbers, n)
	}

	return numbers
}
