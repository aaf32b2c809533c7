package pdffile

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// textMap is what text a font's codes stand for.
type textMap map[int]string

// textMap reads a font's ToUnicode, once. What cannot be read maps to nothing.
func (f *File) textMap(font int) textMap {
	m, known := f.textMaps[font]
	if !known {
		m = f.readTextMap(font)
		f.textMaps[font] = m
	}

	return m
}

func (f *File) readTextMap(font int) textMap {
	d, _, err := readDict(f.objects[font])
	if err != nil {
		return nil
	}

	n, ok := f.object(d.get("ToUnicode"))
	if !ok {
		return nil
	}

	_, content, err := f.stream(n)
	if err != nil {
		return nil
	}
	m := textMap{}

	_, content, _ = bytes.Cut(content, []byte("endcodespacerange"))
	for line := range bytes.Lines(content) {
		// "<code> <text>" or "<first> <last> <text of the first>".
		fields := bytes.Fields(line)
		switch {
		case len(fields) == 2 && fields[0][0] == '<':
			if code, ok := hexCode(fields[0]); ok {
				m[code] = mappedText(fields[1], 0)
			}
		case len(fields) == 3 && fields[0][0] == '<':
			first, ok1 := hexCode(fields[0])

			last, ok2 := hexCode(fields[1])
			for code := first; ok1 && ok2 && code <= last; code++ {
				m[code] = mappedText(fields[2], code-first)
			}
		}
	}

	return m
}

// codes reads a string of the face's codes, <00510046>.
func (c face) codes(operand []byte) (codes []byte, ok bool) {
	if c.width == 0 || operand[0] != '<' {
		return nil, false
	}
	codes = make([]byte, hex.DecodedLen(len(operand)-2))
	_, err := hex.Decode(codes, operand[1:len(operand)-1])

	return codes, err == nil && len(codes)%c.width == 0
}

// textOf is what a face's codes stand for.
func (f *File) textOf(c face, codes []byte) string {
	var b strings.Builder

	for at := 0; at < len(codes); at += c.width {
		code := int(codes[at])
		if c.width == 2 {
			code = code<<8 | int(codes[at+1])
		}
		b.WriteString(f.textMap(c.object)[code])
	}

	return b.String()
}

// hexCode reads <00FF>.
func hexCode(field []byte) (code int, ok bool) {
	if len(field) < 3 || len(field) > 6 || field[0] != '<' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(field[1:len(field)-1]), 16, 16)

	return int(n), err == nil
}

// mappedText reads UTF-16 in hexadecimal; after is added to its last character.
func mappedText(field []byte, after int) string {
	if len(field) < 2 || field[0] != '<' {
		return ""
	}

	text := []rune(decodeText([]byte("<FEFF" + string(field[1:]))))
	if len(text) == 0 || text[len(text)-1] == 0 {
		return ""
	}
	text[len(text)-1] += rune(after)

	return string(text)
}

// widths are the advances of a font's glyphs, in thousandths of its size.
type widths struct {
	by      []float64 // by code
	without float64   // that of the codes above
}

func (w widths) of(code int) float64 {
	if code < len(w.by) {
		return w.by[code]
	}

	return w.without
}

// set notes the widths of a code and those that follow.
func (w *widths) set(first int, each ...float64) {
	for len(w.by) < first+len(each) {
		w.by = append(w.by, w.without)
	}
	copy(w.by[first:], each)
}

// widthsOf reads a composite font's widths, once. Of other fonts, and of what
// cannot be read, glyphs count as having none.
func (i *inspector) widthsOf(font int) widths {
	w, known := i.widths[font]
	if !known {
		w = i.file.readWidths(font)
		i.widths[font] = w
	}

	return w
}

func (f *File) readWidths(font int) (w widths) {
	d, _, err := readDict(f.objects[font])
	if err != nil {
		return w
	}

	descendants, err := readArray(d.get("DescendantFonts"))
	if err != nil || len(descendants) != 1 {
		return w
	}

	if d, err = f.dictionary(descendants[0]); err != nil {
		return w
	}
	w.without, _ = decimal(d.get("DW")) // 0 when it is not there

	list, err := readArray(d.get("W"))
	if err != nil {
		return w
	}
	// "first [width…]" or "first last width".
	for len(list) > 1 {
		first, err := strconv.ParseUint(string(list[0]), 10, 16)
		if err != nil {
			return w
		}

		if list[1][0] == '[' {
			each, err := readArray(list[1])
			if err != nil || len(each) > maxCode {
				return w
			}

			for n, v := range each {
				width, _ := decimal(v)
				w.set(int(first)+n, width)
			}
			list = list[2:]
			continue
		}

		last, err := strconv.ParseUint(string(list[1]), 10, 16)
		if err != nil || len(list) < 3 || last < first {
			return w
		}
		width, _ := decimal(list[2])
		w.set(int(first), slices.Repeat([]float64{width}, int(last-first)+1)...)
		list = list[3:]
	}

	return w
}

// maxCode is the highest code of a glyph.
const maxCode = 1<<16 - 1

// decimal reads a number such as "-12.5". A page has thousands of them, most of
// them short.
func decimal(value []byte) (n float64, ok bool) {
	digits, negative := bytes.CutPrefix(value, []byte("-"))

	const most = 15 // digits that are exact
	switch {
	case len(digits) == 0:
		return 0, false
	case len(digits) > most:
		if bytes.ContainsFunc(digits, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }) {
			return 0, false // ParseFloat reads more than PDF allows, such as 0x1p10
		}
		n, err := strconv.ParseFloat(string(value), 64)

		return n, err == nil
	}
	whole, after := 0, 0.0 // the value of the digits, and ten to the power of those after the point

	for _, c := range digits {
		switch {
		case c == '.' && after == 0:
			after = 1
		case c >= '0' && c <= '9':
			whole, after = whole*10+int(c-'0'), after*10
		default:
			return 0, false
		}
	}

	n = float64(whole) / max(after, 1)
	if negative {
		n = -n
	}

	return n, true
}
