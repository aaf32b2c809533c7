package join

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
)

// trueType is a font file with TrueType outlines, split into its glyphs and the tables that do not depend on the
// choice of glyphs.
type trueType struct {
	tables map[string][]byte
	count  int // glyphs, including those without an outline
	glyphs map[int][]byte
	// metrics are the advance and the left side bearing of each glyph with an outline or an advance, as in the table
	// hmtx. A space has only an advance.
	metrics map[int][4]byte
}

var errFont = errors.New("not a TrueType font with valid tables head, hhea, maxp, loca, glyf and hmtx")

// readTrueType reads a font file. Errors: errFont. The glyphs and tables refer to data.
func readTrueType(data []byte) (*trueType, error) {
	if len(data) < 12 || !bytes.HasPrefix(data, []byte("\x00\x01\x00\x00")) {
		return nil, errFont
	}
	t := &trueType{tables: map[string][]byte{}, glyphs: map[int][]byte{}, metrics: map[int][4]byte{}}

	for i := range int(binary.BigEndian.Uint16(data[4:])) {
		const header, entry = 12, 16
		if len(data) < header+(i+1)*entry {
			return nil, errFont
		}
		e := data[header+i*entry:]

		offset, length := int(binary.BigEndian.Uint32(e[8:])), int(binary.BigEndian.Uint32(e[12:]))
		if offset+length > len(data) {
			return nil, errFont
		}
		t.tables[string(e[:4])] = data[offset : offset+length]
	}

	head, hhea, maxp := t.tables["head"], t.tables["hhea"], t.tables["maxp"]
	if len(head) < 54 || len(hhea) < 36 || len(maxp) < 6 {
		return nil, errFont
	}
	t.count = int(binary.BigEndian.Uint16(maxp[4:]))

	return t, t.readGlyphs(head[51] == 1, int(binary.BigEndian.Uint16(hhea[34:])))
}

// readGlyphs reads outlines and metrics. long is true if offsets in the table loca have four bytes. The first full
// glyphs have advances of their own; the others share the last one.
func (t *trueType) readGlyphs(long bool, full int) error {
	places, outlines, metrics := t.tables["loca"], t.tables["glyf"], t.tables["hmtx"]
	// A short offset counts pairs of bytes.
	at := func(glyph int) int { return 2 * int(binary.BigEndian.Uint16(places[2*glyph:])) }
	size := 2

	if long {
		at = func(glyph int) int { return int(binary.BigEndian.Uint32(places[4*glyph:])) }
		size = 4
	}

	if len(places) < size*(t.count+1) || full < 1 || full > t.count || len(metrics) < 4*full+2*(t.count-full) {
		return errFont
	}

	for glyph := range t.count {
		from, to := at(glyph), at(glyph+1)
		if from > to || to > len(outlines) {
			return errFont
		}

		m := [4]byte(metrics[4*min(glyph, full-1):])
		if glyph >= full {
			copy(m[2:], metrics[4*full+2*(glyph-full):][:2])
		}

		if from < to {
			t.glyphs[glyph] = outlines[from:to]
		}

		if from < to || m[0] != 0 || m[1] != 0 {
			t.metrics[glyph] = m
		}
	}

	return nil
}

// add adds the glyphs of another subset of the same font. If a common glyph or a hinting table differs, the subset
// is of another font: add then returns false and changes nothing.
func (t *trueType) add(other *trueType) bool {
	for glyph, outline := range other.glyphs {
		if own, ok := t.glyphs[glyph]; ok && !bytes.Equal(own, outline) {
			return false
		}
	}

	for _, name := range []string{"cvt ", "fpgm", "prep"} {
		if !bytes.Equal(t.tables[name], other.tables[name]) {
			return false
		}
	}
	maps.Copy(t.glyphs, other.glyphs)
	maps.Copy(t.metrics, other.metrics)
	t.count = max(t.count, other.count)

	return true
}

// bytes returns a font file with the tables that a PDF needs.
func (t *trueType) bytes() []byte {
	tables := map[string][]byte{}
	for _, name := range []string{"cvt ", "fpgm", "prep", "head", "hhea", "maxp"} {
		if table := t.tables[name]; table != nil {
			tables[name] = bytes.Clone(table)
		}
	}

	var outlines, places, metrics []byte
	for glyph := range t.count {
		places = binary.BigEndian.AppendUint32(places, uint32(len(outlines)))

		outlines = append(outlines, t.glyphs[glyph]...)
		for len(outlines)%4 > 0 {
			outlines = append(outlines, 0)
		}
		m := t.metrics[glyph]
		metrics = append(metrics, m[:]...)
	}
	tables["glyf"], tables["hmtx"] = outlines, metrics
	tables["loca"] = binary.BigEndian.AppendUint32(places, uint32(len(outlines)))
	const long = 1 // the format of loca: offsets of four bytes
	binary.BigEndian.PutUint16(tables["head"][50:], long)
	binary.BigEndian.PutUint32(tables["head"][8:], 0) // the checksum counts as 0 while it is computed
	binary.BigEndian.PutUint16(tables["hhea"][34:], uint16(t.count))
	binary.BigEndian.PutUint16(tables["maxp"][4:], uint16(t.count))

	return assemble(tables)
}

// assemble returns a font file: the table directory, then the tables.
func assemble(tables map[string][]byte) []byte {
	names := slices.Sorted(maps.Keys(tables))

	power, exponent := 1, 0 // largest power of two up to the number of tables
	for power*2 <= len(names) {
		power, exponent = power*2, exponent+1
	}

	out := binary.BigEndian.AppendUint32(nil, 0x00010000)
	for _, v := range []int{len(names), power * 16, exponent, (len(names) - power) * 16} {
		out = binary.BigEndian.AppendUint16(out, uint16(v))
	}
	offset := len(out) + 16*len(names)
	var body []byte
	head := 0

	for _, name := range names {
		table := tables[name]
		if name == "head" {
			head = offset + len(body)
		}
		out = append(out, name...)
		out = binary.BigEndian.AppendUint32(out, checksum(table))
		out = binary.BigEndian.AppendUint32(out, uint32(offset+len(body)))
		out = binary.BigEndian.AppendUint32(out, uint32(len(table)))

		body = append(body, table...)
		for len(body)%4 > 0 {
			body = append(body, 0)
		}
	}
	out = append(out, body...)
	const magic = 0xB1B0AFBA // the checksum of a whole font file, by the format
	binary.BigEndian.PutUint32(out[head+8:], magic-checksum(out))

	return out
}

// checksum returns the sum of the table's words, as the TrueType format defines it.
func checksum(table []byte) (sum uint32) {
	for at := 0; at < len(table); at += 4 {
		var word [4]byte
		copy(word[:], table[at:])
		sum += binary.BigEndian.Uint32(word[:])
	}

	return sum
}
