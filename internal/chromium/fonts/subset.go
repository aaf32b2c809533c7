package fonts

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"unicode"

	"golang.org/x/image/font/sfnt"
)

// maxKerning is the largest GPOS table, in bytes, that a subset keeps. Larger tables can exceed all outlines of
// the subset.
const maxKerning = 40 << 10

// Subset returns a WOFF file with only the given characters of an embedded TrueType face. It returns nil if the
// face has none of them, and an error if the face is not valid. The tables are not checked any further, so face must
// come from the function Face.
//
// Glyphs keep their numbers, so kerning and the sizes of mathematical symbols stay valid. Substitutions such as
// ligatures are removed. The face's name is also removed, because its licence may reserve it.
func Subset(face []byte, characters []rune) ([]byte, error) {
	s, err := newSubset(face, characters)
	if err != nil || s == nil {
		return nil, err
	}

	return s.woff()
}

// newSubset returns the tables of a Subset, or nil if the face has none of the characters.
func newSubset(face []byte, characters []rune) (*subset, error) {
	parsed, err := sfnt.Parse(face)
	if err != nil {
		return nil, fmt.Errorf("fonts: %w", err)
	}
	s := &subset{tables: tablesOf(face), keep: map[int]bool{0: true}, mapped: map[rune]int{}}

	var buffer sfnt.Buffer
	for _, r := range characters {
		glyph, err := parsed.GlyphIndex(&buffer, r)
		if err != nil {
			return nil, fmt.Errorf("fonts: %w", err)
		}

		if glyph != 0 {
			s.keep[int(glyph)], s.mapped[r] = true, int(glyph)
		}
	}

	if len(s.mapped) == 0 {
		return nil, nil
	}
	s.keepVariants()
	s.reduce()

	for tag := range s.tables {
		switch tag {
		case "cmap", "glyf", "head", "hhea", "hmtx", "loca", "maxp", "name", "post", "OS/2",
			"cvt ", "fpgm", "prep", "gasp", "GDEF", "MATH":
		case "GPOS":
			if len(s.tables[tag]) > maxKerning {
				delete(s.tables, tag)
			}
		default:
			delete(s.tables, tag)
		}
	}

	return s, nil
}

// newExcerpt returns the tables of a TrueType face with only the given characters. Unlike a Subset it keeps kerning
// and substitutions, with the glyphs that they may lead to. So text is as wide as in the whole face.
func newExcerpt(face []byte, characters *unicode.RangeTable) (*subset, error) {
	parsed, err := sfnt.Parse(face)
	if err != nil {
		return nil, fmt.Errorf("fonts: %w", err)
	}
	s := &subset{tables: tablesOf(face), keep: map[int]bool{}, mapped: map[rune]int{}}

	for glyph := range parsed.NumGlyphs() {
		s.keep[glyph] = true
	}
	var buffer sfnt.Buffer
	var problem error

	spans(coverage, func(first, last rune) {
		for r := first; r <= last; r++ {
			glyph, err := parsed.GlyphIndex(&buffer, r)
			problem = cmp.Or(problem, err)

			switch {
			case glyph == 0:
			case unicode.Is(characters, r):
				s.mapped[r] = int(glyph)
			default:
				delete(s.keep, int(glyph))
			}
		}
	})

	if problem != nil {
		return nil, fmt.Errorf("fonts: %w", problem)
	}

	// A glyph may serve several characters.
	for _, glyph := range s.mapped {
		s.keep[glyph] = true
	}
	s.reduce()

	return s, nil
}

// reduce removes all but the kept glyphs, the mapped characters, and the names.
func (s *subset) reduce() {
	s.cut()
	s.tables["cmap"] = s.characterMap()
	s.tables["name"] = anonymous()
	post := slices.Clone(s.tables["post"][:32])
	binary.BigEndian.PutUint32(post, 0x00030000) // without names of glyphs

	s.tables["post"] = post
}

// subset is a face while it is reduced to some glyphs.
type subset struct {
	tables map[string][]byte // by tag
	keep   map[int]bool      // the glyphs to keep
	mapped map[rune]int      // the glyph of each character
}

// tablesOf returns the tables of a TrueType face by their tags.
func tablesOf(face []byte) map[string][]byte {
	tables := map[string][]byte{}

	for i := range int(be16(face[4:])) {
		entry := face[12+16*i:]
		at, size := be32(entry[8:]), be32(entry[12:])
		tables[string(entry[:4])] = face[at : at+size]
	}

	return tables
}

// be16 and be32 read a big-endian number, as all numbers of a font file are.
func be16(b []byte) uint16 { return binary.BigEndian.Uint16(b) }
func be32(b []byte) uint32 { return binary.BigEndian.Uint32(b) }

// keepVariants keeps the larger variants of kept glyphs, and the parts from which some are assembled. It reads
// MathVariants of the OpenType table MATH.
func (s *subset) keepVariants() {
	table := s.tables["MATH"]
	if table == nil {
		return
	}
	variants := table[be16(table[8:]):]

	vertical, horizontal := int(be16(variants[6:])), int(be16(variants[8:]))
	for i := range vertical + horizontal {
		coverage, at := variants[be16(variants[2:]):], i
		if i >= vertical {
			coverage, at = variants[be16(variants[4:]):], i-vertical
		}

		if !s.keep[covered(coverage, at)] {
			continue
		}

		construction := variants[be16(variants[10+2*i:]):]
		for n := range int(be16(construction[2:])) {
			s.keep[int(be16(construction[4+4*n:]))] = true
		}

		if assembly := be16(construction); assembly != 0 {
			parts := construction[assembly:]
			for n := range int(be16(parts[4:])) {
				s.keep[int(be16(parts[6+10*n:]))] = true
			}
		}
	}
}

// covered returns the glyph at an index of a Coverage table, or -1 if there is none.
func covered(table []byte, index int) int {
	if be16(table) == 1 {
		return int(be16(table[4+2*index:]))
	}

	for i := range int(be16(table[2:])) {
		entry := table[4+6*i:]

		first, last, begins := int(be16(entry)), int(be16(entry[2:])), int(be16(entry[4:]))
		if index >= begins && index <= begins+last-first {
			return first + index - begins
		}
	}

	return -1
}

// cut removes the outlines and widths of all glyphs that are not kept.
func (s *subset) cut() {
	head, glyf := s.tables["head"], s.tables["glyf"]
	count := int(be16(s.tables["maxp"][4:]))

	offset := func(i int) int { return 2 * int(be16(s.tables["loca"][2*i:])) }
	if be16(head[50:]) == 1 {
		offset = func(i int) int { return int(be32(s.tables["loca"][4*i:])) }
	}

	for _, glyph := range slices.Collect(maps.Keys(s.keep)) {
		s.keepParts(glyf, offset, glyph)
	}

	var outlines, places bytes.Buffer
	for i := range count + 1 {
		places.Write(binary.BigEndian.AppendUint32(nil, uint32(outlines.Len())))

		if i < count && s.keep[i] {
			outlines.Write(glyf[offset(i):offset(i+1)])
			outlines.Write(make([]byte, -outlines.Len()&3))
		}
	}
	s.tables["glyf"], s.tables["loca"] = outlines.Bytes(), places.Bytes()
	head = slices.Clone(head)
	binary.BigEndian.PutUint16(head[50:], 1) // the table loca has offsets of four bytes
	s.tables["head"] = head

	widths := slices.Clone(s.tables["hmtx"])
	for i := range int(be16(s.tables["hhea"][34:])) {
		if !s.keep[i] {
			clear(widths[4*i : 4*i+4])
		}
	}
	s.tables["hmtx"] = widths
}

// keepParts keeps the glyphs that a composite glyph refers to.
func (s *subset) keepParts(glyf []byte, offset func(int) int, glyph int) {
	// Flags of a part (OpenType, glyf table). They say what follows the flags and the number of the glyph. First comes
	// a position of two bytes or of two words, then a scale, two scales or a matrix. After that may come more parts.
	const words, scale, more, scales, matrix = 1, 8, 32, 64, 128

	outline := glyf[offset(glyph):offset(glyph+1)]
	if len(outline) == 0 || int16(be16(outline)) >= 0 { // a composite glyph has a negative number of contours
		return
	}

	for at := 10; ; {
		flags, part := be16(outline[at:]), int(be16(outline[at+2:]))
		if !s.keep[part] {
			s.keep[part] = true
			s.keepParts(glyf, offset, part)
		}

		if flags&more == 0 {
			return
		}

		at += 6
		if flags&words != 0 {
			at += 2
		}

		switch {
		case flags&scale != 0:
			at += 2
		case flags&scales != 0:
			at += 4
		case flags&matrix != 0:
			at += 8
		}
	}
}

// characterMap returns a cmap table with one subtable in format 12, for Unicode on Windows (platform 3, encoding 10).
func (s *subset) characterMap() []byte {
	b := []byte{0, 0, 0, 1, 0, 3, 0, 10, 0, 0, 0, 12, 0, 12, 0, 0}
	b = binary.BigEndian.AppendUint32(b, uint32(16+12*len(s.mapped)))
	b = binary.BigEndian.AppendUint32(b, 0)

	b = binary.BigEndian.AppendUint32(b, uint32(len(s.mapped)))
	for _, r := range slices.Sorted(maps.Keys(s.mapped)) {
		for _, v := range []uint32{uint32(r), uint32(r), uint32(s.mapped[r])} {
			b = binary.BigEndian.AppendUint32(b, v)
		}
	}

	return b
}

// anonymous returns a name table with the name "Subset", in US English for Windows. It is the name of the family, the
// full name and the PostScript name (1, 4 and 6), and the style (2).
func anonymous() []byte {
	var text []byte
	for _, r := range "Subset" {
		text = append(text, 0, byte(r))
	}
	ids := []uint16{1, 2, 4, 6}
	b := binary.BigEndian.AppendUint16([]byte{0, 0}, uint16(len(ids)))

	b = binary.BigEndian.AppendUint16(b, uint16(6+12*len(ids)))
	for _, id := range ids {
		for _, v := range []uint16{3, 1, 0x409, id, uint16(len(text)), 0} {
			b = binary.BigEndian.AppendUint16(b, v)
		}
	}

	return append(b, text...)
}

// woff returns the tables as a WOFF 1.0 file.
func (s *subset) woff() ([]byte, error) {
	tags := slices.Sorted(maps.Keys(s.tables))
	directory := make([]byte, 0, 20*len(tags))
	var body bytes.Buffer
	unpacked := 12 + 16*len(tags)

	start := 44 + 20*len(tags)

	var packed bytes.Buffer
	w := zlib.NewWriter(&packed) // one for all tables: it allocates 800 KB

	for _, tag := range tags {
		table := s.tables[tag]
		if tag == "head" {
			table = slices.Clone(table)
			clear(table[8:12]) // the checksum of the whole file counts as 0
		}
		packed.Reset()
		w.Reset(&packed)

		if _, err := w.Write(table); err != nil {
			return nil, err
		}

		if err := w.Close(); err != nil {
			return nil, err
		}

		data := packed.Bytes()
		if len(data) >= len(table) {
			data = table
		}

		directory = append(directory, tag...)
		for _, v := range []uint32{uint32(start + body.Len()), uint32(len(data)), uint32(len(table)), checksum(table)} {
			directory = binary.BigEndian.AppendUint32(directory, v)
		}
		body.Write(data)
		body.Write(make([]byte, -body.Len()&3))
		unpacked += (len(table) + 3) &^ 3
	}
	out := append([]byte("wOFF"), 0, 1, 0, 0)
	out = binary.BigEndian.AppendUint32(out, uint32(start+body.Len()))
	out = binary.BigEndian.AppendUint16(out, uint16(len(tags)))
	out = append(out, 0, 0)
	out = binary.BigEndian.AppendUint32(out, uint32(unpacked))
	out = append(out, 0, 1, 0, 0)
	out = append(out, make([]byte, 20)...) // no metadata and no private data

	return slices.Concat(out, directory, body.Bytes()), nil
}

// checksum returns the sum of the table's words, as the TrueType format defines it. The last word is filled up with
// zeros.
func checksum(table []byte) (sum uint32) {
	for len(table) > 0 {
		var word [4]byte
		table = table[copy(word[:], table):]
		sum += be32(word[:])
	}

	return sum
}
