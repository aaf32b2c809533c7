package filetest

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf16"
)

// Font returns a font without outlines, as Skia writes it. A glyph's code is two bytes, and each glyph is half as
// wide as the type size. texts maps codes to characters; "" means that the glyph has none. The objects are name,
// name-cid, name-descriptor and name-map.
func Font(name string, texts map[int]string) string {
	return composite(name, texts, "")
}

// EmbeddedFont is Font with outlines by glyph. An outline may be any bytes. Glyph n has the width 500+n, in
// thousandths of the type size.
func EmbeddedFont(name string, texts, outlines map[int]string) string {
	data := string(TrueType(outlines))

	return composite(name, texts, "\n/FontFile2 @"+name+"-file") +
		fmt.Sprintf("-- %s-file --\n<</Length1 %d\n/Filter /FlateDecode>> stream\n%s\n", name, len(data), data)
}

// composite returns the objects of a font with glyph numbers as codes. file is the font file's entry, "" for none.
func composite(name string, texts map[int]string, file string) string {
	var widths strings.Builder

	if file != "" {
		for _, glyph := range slices.Sorted(maps.Keys(texts)) {
			fmt.Fprintf(&widths, "%d [%d] ", glyph, 500+glyph)
		}
	}

	return fmt.Sprintf("-- %[1]s --\n<</Type /Font\n/Subtype /Type0\n/BaseFont /AAAAAA+Face\n/Encoding /Identity-H\n"+
		"/DescendantFonts [@%[1]s-cid]\n/ToUnicode @%[1]s-map>>\n"+
		"-- %[1]s-cid --\n<</Type /Font\n/FontDescriptor @%[1]s-descriptor\n/BaseFont /AAAAAA+Face\n"+
		"/Subtype /CIDFontType2\n/CIDToGIDMap /Identity\n"+
		"/CIDSystemInfo <</Registry (Adobe)\n/Ordering (Identity)\n/Supplement 0>>\n/DW 500\n/W [%[2]s]>>\n"+
		"-- %[1]s-descriptor --\n<</Type /FontDescriptor\n/FontName /AAAAAA+Face\n/Flags 4%[3]s>>\n"+
		"-- %[1]s-map --\n<<>> stream\n%[4]s\n",
		name, strings.TrimSpace(widths.String()), file, toUnicode(texts))
}

// toUnicode returns a ToUnicode map from codes to texts.
func toUnicode(texts map[int]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n%d beginbfchar\n", len(texts))

	for _, code := range slices.Sorted(maps.Keys(texts)) {
		units := utf16.Encode([]rune(texts[code]))
		if len(units) == 0 {
			units = []uint16{0}
		}
		fmt.Fprintf(&b, "<%04X> <", code)

		for _, u := range units {
			fmt.Fprintf(&b, "%04X", u)
		}
		b.WriteString(">\n")
	}

	return b.String() + "endbfchar\nendcmap"
}

// TrueType returns a font file with outlines by glyph. An outline may be any even number of bytes. Glyph n has the
// advance 500+n.
func TrueType(outlines map[int]string) []byte {
	count := 1
	for glyph := range outlines {
		count = max(count, glyph+1)
	}

	var places, glyphs, metrics []byte
	for glyph := range count {
		places = binary.BigEndian.AppendUint16(places, uint16(len(glyphs)/2))
		glyphs = append(glyphs, outlines[glyph]...)
		metrics = binary.BigEndian.AppendUint16(metrics, uint16(500+glyph))
		metrics = append(metrics, 0, byte(glyph))
	}
	places = binary.BigEndian.AppendUint16(places, uint16(len(glyphs)/2))
	horizontal := make([]byte, 36)
	binary.BigEndian.PutUint16(horizontal[34:], uint16(count))
	maxp := binary.BigEndian.AppendUint16([]byte("\x00\x01\x00\x00"), uint16(count))
	tables := map[string][]byte{
		"glyf": glyphs,
		"head": make([]byte, 54),
		"hhea": horizontal,
		"hmtx": metrics,
		"loca": places,
		"maxp": maxp,
	}
	// Version 1.0 and six tables. The other fields help a binary search; pdffile does not read them.
	out := []byte("\x00\x01\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00")
	var body []byte

	for _, name := range slices.Sorted(maps.Keys(tables)) {
		out = append(out, name+"\x00\x00\x00\x00"...)
		out = binary.BigEndian.AppendUint32(out, uint32(12+16*len(tables)+len(body)))
		out = binary.BigEndian.AppendUint32(out, uint32(len(tables[name])))
		body = append(body, tables[name]...)
	}

	return append(out, body...)
}
