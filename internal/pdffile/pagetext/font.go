package pagetext

import (
	"bytes"
	"maps"
	"strconv"
	"strings"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"

	"presswork/internal/pdffile"
	"presswork/internal/pdffile/parse"
)

// glyph is one character code of a string, with its text.
type glyph struct {
	text  string
	width float64 // in parts of the font size
	space bool    // it is the one-byte code 32, to which word spacing applies
}

// typeface has the parts of a font that give its text and widths.
type typeface struct {
	wide    bool // codes have two bytes
	utf16   bool // codes are UTF-16
	text    map[int]string
	widths  map[int]float64 // in parts of the font size
	missing float64         // width of codes that widths does not have
	steps   int             // codes that were read, for maxSteps
}

const (
	// maxCodes limits the entries of one map of a font: codes have at most two bytes.
	maxCodes = 1 << 16
	// maxSteps limits the codes that are read for one font, because its maps may name each code many times.
	maxSteps = 8 * maxCodes
)

// font returns the font of a resource name, or nil if there is none. Fonts are cached by the text of the reference.
func (r *Reader) font(resources pdffile.Dict, name []byte) *typeface {
	if len(name) < 2 {
		return nil
	}
	value := r.dict(resources.Get("Font")).Get(string(name[1:]))

	if value == nil {
		return nil
	}

	if f, ok := r.fonts[string(value)]; ok {
		return f
	}
	f := r.readFont(r.dict(value))
	r.fonts[string(value)] = f

	return f
}

// readFont reads the encoding, the widths and the ToUnicode map of a font.
func (r *Reader) readFont(d pdffile.Dict) *typeface {
	f := &typeface{text: map[int]string{}, widths: map[int]float64{}, missing: 0.5}

	if string(d.Get("Subtype")) == "/Type0" {
		f.wide = true
		encoding := string(r.value(d.Get("Encoding")))
		f.utf16 = strings.Contains(encoding, "UTF16") || strings.Contains(encoding, "UCS2")
		f.readWide(r, d)
	} else {
		f.readSimple(r, d)
	}

	if object := r.value(d.Get("ToUnicode")); pdffile.IsStream(object) {
		const maxMap = 8 << 20 // bytes
		if content, err := r.unpack(object, maxMap); err == nil {
			f.readMap(content)
		}
	}

	return f
}

// step counts a code that is read. It reports whether the font has used up maxSteps.
func (f *typeface) step() (tooMany bool) {
	f.steps++
	return f.steps > maxSteps
}

// readWide reads the widths of a composite font (ISO 32000-2, 9.7.4.3).
func (f *typeface) readWide(r *Reader, d pdffile.Dict) {
	kids := r.array(d.Get("DescendantFonts"))
	if len(kids) != 1 {
		return
	}
	font := r.dict(kids[0])

	if f.missing = 1; font.Get("DW") != nil {
		v, _ := pdffile.Decimal(r.value(font.Get("DW")))
		f.missing = v / 1000
	}
	list := r.array(font.Get("W"))

	for len(list) > 1 && !f.step() {
		first, err := strconv.Atoi(string(r.value(list[0])))
		if err != nil || first < 0 || first >= maxCodes {
			return
		}

		if each := r.value(list[1]); bytes.HasPrefix(each, []byte("[")) {
			for i, v := range r.array(each) {
				width, _ := pdffile.Decimal(r.value(v))
				f.widths[first+i] = width / 1000

				if f.step() {
					return
				}
			}
			list = list[2:]
			continue
		}

		if len(list) < 3 {
			return
		}
		last, _ := strconv.Atoi(string(r.value(list[1]))) // 0 if malformed
		width, _ := pdffile.Decimal(r.value(list[2]))

		for code := first; code <= min(last, maxCodes) && !f.step(); code++ {
			f.widths[code] = width / 1000
		}
		list = list[3:]
	}
}

// readSimple reads encoding and widths of a font with codes of one byte (ISO 32000-2, 9.6).
func (f *typeface) readSimple(r *Reader, d pdffile.Dict) {
	base := r.value(d.Get("Encoding"))
	differences := r.dict(base)

	if differences != nil {
		base = r.value(differences.Get("BaseEncoding"))
	}
	f.setEncoding(string(base))
	code := 0

	for _, v := range r.array(differences.Get("Differences")) {
		if n, err := strconv.Atoi(string(v)); err == nil {
			code = n
			continue
		}

		if f.step() {
			return
		}

		if name, ok := bytes.CutPrefix(v, []byte("/")); ok {
			if code >= 0 && code < 256 {
				f.text[code] = r.names.text(string(name))
			}
			code++
		}
	}
	first, _ := strconv.Atoi(string(r.value(d.Get("FirstChar")))) // 0 if malformed
	scale := 0.001

	// Only a Type 3 font sets the units of its widths.
	if m := r.array(d.Get("FontMatrix")); string(d.Get("Subtype")) == "/Type3" && len(m) == 6 {
		scale = number(m, 0)
	}

	for i, v := range r.array(d.Get("Widths")) {
		if code := first + i; code >= 0 && code < 256 {
			width, _ := pdffile.Decimal(r.value(v))
			f.widths[code] = width * scale
		}
	}
}

// setEncoding fills the map of codes with a predefined encoding.
func (f *typeface) setEncoding(name string) {
	table := charmap.Windows1252
	if name == "/MacRomanEncoding" {
		table = charmap.Macintosh
	}

	for code := 32; code < 256; code++ {
		f.text[code] = string(table.DecodeByte(byte(code)))
	}

	if name == "/MacRomanEncoding" || name == "/WinAnsiEncoding" {
		return
	}
	// The standard encoding differs from Windows-1252 in these codes.
	maps.Copy(f.text, standardCodes())
}

// readMap reads a ToUnicode map (ISO 32000-2, 9.10.3). Its entries replace those of the encoding.
func (f *typeface) readMap(content []byte) {
	for body := range mapSections(content, "bfchar") {
		for values := parse.Values(body); len(values) > 1 && !f.step(); values = values[2:] {
			f.text[mapCode(values[0])] = mapText(values[1], 0)
		}
	}

	for body := range mapSections(content, "bfrange") {
		for values := parse.Values(body); len(values) > 2 && !f.step(); values = values[3:] {
			f.readRange(mapCode(values[0]), mapCode(values[1]), values[2])
		}
	}
}

// readRange reads the codes from first to last of a ToUnicode map. texts is either a list with a text for each code, or
// the text of the first code, from which those of the others follow.
func (f *typeface) readRange(first, last int, texts []byte) {
	each, _ := pdffile.ReadArray(texts) // empty if it is not a list

	for c := first; c <= min(last, first+maxCodes) && !f.step(); c++ {
		if i := c - first; texts[0] != '[' {
			f.text[c] = mapText(texts, i)
		} else if i < len(each) {
			f.text[c] = mapText(each[i], 0)
		}
	}
}

// mapSections yields what is between "begin" and "end" of the sections of a ToUnicode map with this name. The map is
// split here because the lexer of content streams limits the operands of an operator.
func mapSections(content []byte, name string) func(yield func(body []byte) bool) {
	return func(yield func(body []byte) bool) {
		for {
			_, after, ok := bytes.Cut(content, []byte("begin"+name))
			if !ok {
				return
			}

			var body []byte
			if body, content, _ = bytes.Cut(after, []byte("end"+name)); !yield(body) {
				return
			}
		}
	}
}

// mapCode returns the code that a string of a ToUnicode map stands for.
func mapCode(v []byte) (code int) {
	for _, b := range pdffile.StringBytes(v) {
		code = code<<8 | int(b)
	}

	return code
}

// mapText decodes a string of a ToUnicode map as UTF-16, or as one byte, and adds add to its last character. It returns
// "" if that character is 0, with which some programs mark glyphs without a text.
func mapText(v []byte, add int) string {
	raw := pdffile.StringBytes(v)
	units := make([]uint16, 0, len(raw)/2)

	for ; len(raw) > 1; raw = raw[2:] {
		units = append(units, uint16(raw[0])<<8|uint16(raw[1]))
	}

	if len(raw) == 1 && len(units) == 0 {
		units = append(units, uint16(raw[0]))
	}
	runes := utf16.Decode(units)

	if len(runes) == 0 || runes[len(runes)-1] == 0 {
		return ""
	}
	runes[len(runes)-1] += rune(add)

	return string(runes)
}

// glyphs splits a string into its codes. A code without a text has the text "".
func (f *typeface) glyphs(raw []byte) []glyph {
	if !f.wide {
		list := make([]glyph, len(raw))
		for i, b := range raw {
			list[i] = glyph{f.text[int(b)], f.width(int(b)), b == ' '}
		}

		return list
	}
	list := make([]glyph, 0, len(raw)/2)

	for ; len(raw) > 1; raw = raw[2:] {
		code := int(raw[0])<<8 | int(raw[1])
		text, known := f.text[code]

		if !known && f.utf16 {
			text = string(utf16.Decode([]uint16{uint16(code)}))
		}
		list = append(list, glyph{text, f.width(code), false})
	}

	return list
}

// width returns the width of a character, in text space.
func (f *typeface) width(code int) float64 {
	if w, ok := f.widths[code]; ok {
		return w
	}

	return f.missing
}
