package pdffile

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// TextMap maps the glyph codes of a font to text.
type TextMap map[int]string

// TextMap returns the ToUnicode map of a font object (ISO 32000-1, 9.10.3) and caches it. Invalid entries are left
// out. The map is nil if the font has none. A caller that changes the map must also change the font's ToUnicode stream.
func (f *File) TextMap(font int) TextMap {
	m, known := f.textMaps[font]
	if !known {
		m = f.readTextMap(font)

		if f.textMaps == nil {
			f.textMaps = map[int]TextMap{}
		}
		f.textMaps[font] = m
	}

	return m
}

// CharSections returns the map as sections of a ToUnicode stream, sorted by code. A code has the given number of
// hexadecimal digits, 2 or 4.
func (m TextMap) CharSections(digits int) []byte {
	var b bytes.Buffer

	const maxLines = 100 // in a section, by the format
	for codes := range slices.Chunk(slices.Sorted(maps.Keys(m)), maxLines) {
		fmt.Fprintf(&b, "%d beginbfchar\n", len(codes))

		for _, code := range codes {
			text := cmp.Or(m[code], "\x00") // Skia writes 0 for a glyph without a character
			fmt.Fprintf(&b, "<%0*X> <%X>\n", digits, code, UTF16(text))
		}
		b.WriteString("endbfchar\n")
	}

	return b.Bytes()
}

// readTextMap reads the ToUnicode map of a font, in the form that Chromium writes. It returns nil if there is none.
func (f *File) readTextMap(font int) TextMap {
	d, _, err := ReadDict(f.Objects[font])
	if err != nil {
		return nil
	}

	n, ok := f.Object(d.Get("ToUnicode"))
	if !ok {
		return nil
	}

	_, content, err := f.Stream(n)
	if err != nil {
		return nil
	}
	m := TextMap{}

	_, content, _ = bytes.Cut(content, []byte("endcodespacerange"))
	for line := range bytes.Lines(content) {
		// "<code> <text>" or "<first> <last> <text of the first>".
		fields := bytes.Fields(line)
		switch {
		case len(fields) == 2 && fields[0][0] == '<':
			if code, ok := HexCode(fields[0]); ok {
				m[code] = mappedText(fields[1], 0)
			}
		case len(fields) == 3 && fields[0][0] == '<':
			first, ok1 := HexCode(fields[0])

			last, ok2 := HexCode(fields[1])
			for code := first; ok1 && ok2 && code <= last; code++ {
				m[code] = mappedText(fields[2], code-first)
			}
		}
	}

	return m
}

// Codes decodes a hexadecimal string of glyph codes, such as <00510046>. ok is false for any other operand and for
// incomplete codes.
func (c Face) Codes(operand []byte) (codes []byte, ok bool) {
	if c.Width == 0 || operand[0] != '<' {
		return nil, false
	}
	codes = make([]byte, hex.DecodedLen(len(operand)-2))
	_, err := hex.Decode(codes, operand[1:len(operand)-1])

	return codes, err == nil && len(codes)%c.Width == 0
}

// TextOf returns the text that the glyph codes of a face stand for. Codes without a text are left out. codes must be
// a result of Face.Codes for the same face.
func (f *File) TextOf(c Face, codes []byte) string {
	var b strings.Builder

	for at := 0; at < len(codes); at += c.Width {
		code := int(codes[at])
		if c.Width == 2 {
			code = code<<8 | int(codes[at+1])
		}
		b.WriteString(f.TextMap(c.Object)[code])
	}

	return b.String()
}

// HexCode reads a code in hexadecimal, such as <00FF>. It has at most two bytes.
func HexCode(field []byte) (code int, ok bool) {
	if len(field) < 3 || len(field) > 6 || field[0] != '<' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(field[1:len(field)-1]), 16, 16)

	return int(n), err == nil
}

// mappedText decodes UTF-16 in hexadecimal and adds offset to its last character. The result is "" for U+0000, which
// Skia writes for a glyph without a character.
func mappedText(field []byte, offset int) string {
	if len(field) < 2 || field[0] != '<' {
		return ""
	}

	text := []rune(DecodeText([]byte("<FEFF" + string(field[1:]))))
	if len(text) == 0 || text[len(text)-1] == 0 {
		return ""
	}
	text[len(text)-1] += rune(offset)

	return string(text)
}

// Widths are the advances of a font's glyphs, in thousandths of the type size.
type Widths struct {
	byCode   []float64
	fallback float64 // width of the codes after those of byCode
}

// Of returns the width of a glyph by its code.
func (w Widths) Of(code int) float64 {
	if code < len(w.byCode) {
		return w.byCode[code]
	}

	return w.fallback
}

// set records the widths of a range of codes that begins with first.
func (w *Widths) set(first int, each ...float64) {
	for len(w.byCode) < first+len(each) {
		w.byCode = append(w.byCode, w.fallback)
	}
	copy(w.byCode[first:], each)
}

// ReadWidths returns the widths of a composite font (ISO 32000-1, 9.7.4.3). The widths are 0 for other fonts and
// for fonts that cannot be read.
func (f *File) ReadWidths(font int) (w Widths) {
	d, _, err := ReadDict(f.Objects[font])
	if err != nil {
		return w
	}

	descendants, err := ReadArray(d.Get("DescendantFonts"))
	if err != nil || len(descendants) != 1 {
		return w
	}

	if d, err = f.Dictionary(descendants[0]); err != nil {
		return w
	}
	w.fallback, _ = Decimal(d.Get("DW")) // 0 if the entry is missing

	list, err := ReadArray(d.Get("W"))
	if err != nil {
		return w
	}
	// Each entry is "first [width…]" or "first last width".
	for len(list) > 1 {
		first, err := strconv.ParseUint(string(list[0]), 10, 16)
		if err != nil {
			return w
		}

		if list[1][0] == '[' {
			each, err := ReadArray(list[1])
			if err != nil || len(each) > maxCode {
				return w
			}

			for n, v := range each {
				width, _ := Decimal(v)
				w.set(int(first)+n, width)
			}
			list = list[2:]
			continue
		}

		last, err := strconv.ParseUint(string(list[1]), 10, 16)
		if err != nil || len(list) < 3 || last < first {
			return w
		}
		width, _ := Decimal(list[2])
		w.set(int(first), slices.Repeat([]float64{width}, int(last-first)+1)...)
		list = list[3:]
	}

	return w
}

// maxCode is the highest glyph code of two bytes.
const maxCode = 1<<16 - 1
