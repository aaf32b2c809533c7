package fonts

import (
	"encoding/binary"
	"io"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// face is a font file, with its tables by name.
type face struct {
	tables map[string][]byte
}

// parse reads the tables of a font file.
func parse(t *testing.T, data []byte) face {
	t.Helper()
	f := face{tables: map[string][]byte{}}

	for i := range int(binary.BigEndian.Uint16(data[4:])) {
		entry := data[12+16*i:]
		at, size := binary.BigEndian.Uint32(entry[8:]), binary.BigEndian.Uint32(entry[12:])
		f.tables[string(entry[:4])] = data[at : at+size]
	}

	return f
}

// name returns an English entry of the Windows name table.
func (f face) name(id uint16) string {
	table := f.tables["name"]

	texts := table[binary.BigEndian.Uint16(table[4:]):]
	for i := range int(binary.BigEndian.Uint16(table[2:])) {
		r := table[6+12*i:]
		if binary.BigEndian.Uint16(r) != 3 || binary.BigEndian.Uint16(r[4:]) != 0x409 ||
			binary.BigEndian.Uint16(r[6:]) != id {
			continue
		}
		size, at := binary.BigEndian.Uint16(r[8:]), binary.BigEndian.Uint16(r[10:])

		var units []uint16
		for text := texts[at : at+size]; len(text) > 0; text = text[2:] {
			units = append(units, binary.BigEndian.Uint16(text))
		}

		return string(utf16.Decode(units))
	}

	return ""
}

// characters yields the characters with a glyph. It reads the 32-bit segments of the character map if the font has
// them.
func (f face) characters(yield func(rune)) {
	cmap := f.tables["cmap"]
	var narrow, wide []byte

	for i := range int(binary.BigEndian.Uint16(cmap[2:])) {
		table := cmap[binary.BigEndian.Uint32(cmap[4+8*i+4:]):]
		switch binary.BigEndian.Uint16(table) {
		case 4:
			narrow = table
		case 12:
			wide = table
		}
	}

	if wide != nil {
		for i := range int(binary.BigEndian.Uint32(wide[12:])) {
			group := wide[16+12*i:]
			for c := binary.BigEndian.Uint32(group); c <= binary.BigEndian.Uint32(group[4:]); c++ {
				yield(rune(c))
			}
		}

		return
	}
	// Format 4 has four arrays of n entries. Two bytes of padding follow the first array.
	n := int(binary.BigEndian.Uint16(narrow[6:])) / 2
	lasts, firsts, deltas, offsets := narrow[14:], narrow[16+2*n:], narrow[16+4*n:], narrow[16+6*n:]
	entry := func(array []byte, i int) int { return int(binary.BigEndian.Uint16(array[2*i:])) }

	for i := range n {
		last, first, delta, offset := entry(lasts, i), entry(firsts, i), entry(deltas, i), entry(offsets, i)
		for c := first; c <= last && c != 0xffff; c++ {
			glyph := c
			if offset != 0 { // in bytes, from the offset itself to the glyph of first
				glyph = entry(offsets[2*i+offset:], c-first)
			}

			if offset != 0 && glyph == 0 || (glyph+delta)&0xffff == 0 {
				continue
			}
			yield(rune(c))
		}
	}
}

func TestFacesArePlainTrueTypeOfAListedFamily(t *testing.T) {
	t.Parallel()

	families := map[string]Family{}
	for _, f := range Families() {
		families[f.Name] = f
		if len(f.Weights) == 0 || slices.Contains(f.Weights, 0) {
			t.Errorf("family %s has the weights %v, want at least one and none of 0", f.Name, f.Weights)
		}
	}
	licensed := map[string]bool{}

	for _, file := range open().File {
		if path.Dir(file.Name) == licenseDir {
			licensed[strings.TrimSuffix(path.Base(file.Name), ".txt")] = true
		}
	}
	const last = 0x1ffff // the last character that any face can have
	union := make([]bool, last+1)

	for _, file := range faces() {
		r, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}

		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		f := parse(t, data)
		// Chromium prints variable and CFF fonts as drawings (Type 3).
		if f.tables["glyf"] == nil || f.tables["fvar"] != nil || f.tables["CFF "] != nil {
			t.Errorf("%s is not plain TrueType", file.Name)
		}

		name := f.name(16)
		if name == "" {
			name = f.name(1)
		}

		family, known := families[name]
		if !known || familyOf(catalogue(), path.Base(file.Name)) != name {
			t.Errorf("%s is of the family %q, want a listed one", file.Name, name)
			continue
		}

		if os2 := f.tables["OS/2"]; binary.BigEndian.Uint16(os2[8:]) != 0 {
			t.Errorf("%s may not be embedded: fsType %d", file.Name, binary.BigEndian.Uint16(os2[8:]))
		} else if weight := int(binary.BigEndian.Uint16(os2[4:])); !strings.Contains(file.Name, "Italic") && !slices.Contains(family.Weights, weight) {
			t.Errorf("%s has the weight %d, want one of %v", file.Name, weight, family.Weights)
		}

		license := f.name(13) + f.name(14)
		if family.License == ofl && !strings.Contains(license, "Open Font License") &&
			!strings.Contains(license, "OFL") {
			t.Errorf("%s names the license %q, want the Open Font License", file.Name, license)
		}

		if !licensed[strings.ReplaceAll(name, " ", "")] {
			t.Errorf("the archive has no license of %s", name)
		}
		own := make([]bool, last+1)
		f.characters(func(r rune) { own[r], union[r] = true, true })

		for _, script := range family.Scripts {
			for _, r := range common(t, script) {
				if !own[r] {
					t.Errorf("%s has no %c, but its family lists %s", file.Name, r, script)
					break
				}
			}
		}
	}

	for r := range rune(last + 1) {
		if printable := r >= 0x20 && (r < 0x7f || r >= 0xa0); printable && union[r] != Covers(r) {
			t.Errorf("Covers(%U) = %v, want %v", r, Covers(r), union[r])
		}
	}

	if n := len(coverage.R32); coverage.R32[n-1].Hi > last {
		t.Errorf("Covers goes up to %U, want at most 1FFFF", coverage.R32[n-1].Hi)
	}
}

// common returns letters that every font for the script has.
func common(t *testing.T, script string) string {
	letters, ok := map[string]string{
		"Latin": "AZazÀÉÎÕÜàéîõüßñç“”–—…", "Vietnamese": "ăâđêôơưĂÂĐÊÔƠƯảạắấềỗợửỵỹ",
		"Greek": "ΑΒΓΔΩαβγδωςάέήίόύώϊΐ", "Cyrillic": "АБЯабяёЁіїєґъыэ",
	}[script]
	if !ok {
		t.Fatalf("unknown script %q", script)
	}

	return letters
}
