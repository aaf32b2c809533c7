package join

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"presswork/internal/pdffile"
)

// fontPool merges the subsets of one face that the sections embed. Skia keeps glyph numbers in a subset, so the
// text of the pages stays valid.
type fontPool struct {
	byFace map[string]*subset
	order  []*subset
}

// subset is the embedded part of a face.
type subset struct {
	// face identifies the face: equal values in two sections may be the same face.
	face string
	// These are object numbers: of the font and of its parts. They are numbers of the section until fontPool.take
	// changes them to those of the joined file.
	number, descendant, descriptor, file, texts int
	outlines                                    *trueType
	widths                                      map[int]float64 // by glyph, in thousandths of the size
	characters                                  pdffile.TextMap
	sections                                    int // that use the face
}

// take adds the fonts of a section. A face that the pool already has replaces the section's own; take then removes the
// section's objects. Faces that are not embedded as TrueType stay as they are.
func (p *fontPool) take(m *member) error {
	f := m.file
	for n, o := range f.Objects {
		if !bytes.HasPrefix(o, []byte("<</Type /Font\n/Subtype /Type0\n")) {
			continue
		}

		s, err := readSubset(f, n)
		if err != nil {
			return fmt.Errorf("font %d: %w", n, err)
		}

		if s == nil {
			continue
		}

		known := p.byFace[s.face]
		switch {
		case known == nil:
			// write needs the numbers in the joined file, after the section's own numbers are gone.
			for _, n := range []*int{&s.number, &s.descendant, &s.descriptor, &s.file, &s.texts} {
				*n = m.number(*n)
			}
			p.byFace[s.face] = s
			p.order = append(p.order, s)
		// If the outlines differ, the section keeps its own font.
		case known.outlines.add(s.outlines):
			known.sections++
			known.takeWidths(s)
			maps.Copy(known.characters, s.characters)

			// Pages refer only to the font itself, so only its number needs a replacement.
			m.moved[n] = known.number
			for _, own := range []int{n, s.descendant, s.descriptor, s.file, s.texts} {
				f.Objects[own] = nil
			}
		}
	}

	return nil
}

// takeWidths adds the widths of another subset. Its width of a glyph is reliable only if its text shows the glyph,
// not if the glyph is merely part of a composite one.
func (s *subset) takeWidths(other *subset) {
	for glyph, width := range other.widths {
		_, known := s.widths[glyph]
		if _, shown := other.characters[glyph]; shown || !known {
			s.widths[glyph] = width
		}
	}
}

// readSubset reads the font object n with an embedded TrueType face. It returns nil for any other kind of font.
func readSubset(f *pdffile.File, n int) (*subset, error) {
	font, _, err := pdffile.ReadDict(f.Objects[n])
	if err != nil {
		return nil, err
	}
	s := &subset{number: n, characters: pdffile.TextMap{}, widths: map[int]float64{}, sections: 1}

	descendants, err := pdffile.ReadArray(font.Get("DescendantFonts"))
	if err != nil || len(descendants) != 1 {
		return nil, pdffile.ErrObject
	}
	var ok [2]bool
	s.descendant, ok[0] = f.Object(descendants[0])

	s.texts, ok[1] = f.Object(font.Get("ToUnicode"))
	if !ok[0] || !ok[1] {
		return nil, nil
	}

	descendant, err := f.Dictionary(descendants[0])
	if err != nil {
		return nil, err
	}

	descriptor, err := f.Dictionary(descendant.Get("FontDescriptor"))
	if err != nil {
		return nil, err
	}

	s.descriptor, ok[0] = f.Object(descendant.Get("FontDescriptor"))
	if s.file, ok[1] = f.Object(descriptor.Get("FontFile2")); !ok[0] || !ok[1] {
		return nil, nil
	}

	_, data, err := f.Stream(s.file)
	if err != nil {
		return nil, err
	}

	if s.outlines, err = readTrueType(data); err != nil {
		return nil, nil //nolint:nilerr // the font stays as it is
	}
	maps.Copy(s.characters, f.TextMap(n))
	widths := f.ReadWidths(n)

	s.widths[0] = widths.Of(0)
	for glyph := range s.outlines.glyphs {
		s.widths[glyph] = widths.Of(glyph)
	}

	for glyph := range s.characters {
		s.widths[glyph] = widths.Of(glyph)
	}
	_, name, _ := bytes.Cut(font.Get("BaseFont"), []byte("+")) // without the tag of the subset
	// The name and the file differ between subsets of one face. All other properties must be equal.
	descriptor.Remove("FontName")
	descriptor.Remove("FontFile2")
	s.face = string(name) + "\n" + string(descriptor.Bytes())

	return s, nil
}

// write stores the merged subsets in the joined file. It leaves faces of a single section as they are.
func (p *fontPool) write(f *pdffile.File) error {
	for _, s := range p.order {
		if s.sections == 1 {
			continue
		}
		data := s.outlines.bytes()
		f.SetStream(s.file, pdffile.Dict{{Key: "Length1", Value: []byte(strconv.Itoa(len(data)))}}, data)
		f.SetStream(s.texts, nil, s.toUnicode())

		d, _, err := pdffile.ReadDict(f.Objects[s.descendant])
		if err != nil {
			return err
		}
		d.Set("W", s.widthList())
		f.Objects[s.descendant] = d.Bytes()
	}

	return nil
}

// widthList returns the W array (ISO 32000-1, 9.7.4.3). Consecutive glyphs share one list.
func (s *subset) widthList() string {
	var b strings.Builder
	last := -2 // no glyph yet

	for _, glyph := range slices.Sorted(maps.Keys(s.widths)) {
		switch {
		case glyph != last+1 && last >= 0:
			fmt.Fprintf(&b, "] %d [", glyph)
		case last < 0:
			fmt.Fprintf(&b, "[%d [", glyph)
		default:
			b.WriteByte(' ')
		}
		b.WriteString(strconv.FormatFloat(s.widths[glyph], 'f', -1, 64))
		last = glyph
	}

	return b.String() + "]]"
}

// toUnicode returns the content of the ToUnicode stream in Skia's form.
func (s *subset) toUnicode() []byte {
	var b bytes.Buffer
	b.WriteString("/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n" +
		"/CIDSystemInfo\n<<  /Registry (Adobe)\n/Ordering (UCS)\n/Supplement 0\n>> def\n" +
		"/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n")
	b.Write(s.characters.CharSections(4))
	b.WriteString("endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend")

	return b.Bytes()
}
