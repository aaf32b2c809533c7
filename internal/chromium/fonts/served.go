package fonts

import (
	"archive/zip"
	"fmt"
	"path"
	"strings"
	"sync"
	"unicode"
)

const (
	// maxWhole is the size up to which a face is served as one file, in bytes of TrueType. A larger face has a second file
	// with its common characters, which most pages need only.
	maxWhole = 60_000
	// servedVersion is part of the names of served files. Raise it with each change of the code that makes them.
	servedVersion = 1
)

// Served holds the embedded faces as files for browsers.
type Served struct {
	// Stylesheet is CSS with an @font-face rule for each file. A page loads the files whose characters it uses. The
	// addresses are relative to the one of the style sheet.
	Stylesheet string
	files      map[string]func() []byte // by name
}

// Serve returns the files for browsers. Their names depend on their content, so browsers may keep them forever. All
// callers share the result.
func Serve() Served { return served() }

// File returns a file in the format WOFF 2.0, or false if no file has that name. The first call for a name makes the
// file.
func (s Served) File(name string) ([]byte, bool) {
	pack, ok := s.files[name]
	if !ok {
		return nil, false
	}

	return pack(), true
}

// served makes the list of the files on its first call. File makes the files.
var served = sync.OnceValue(func() Served {
	s := Served{files: map[string]func() []byte{}}
	archived := map[string]*zip.File{}

	for _, file := range faces() {
		archived[path.Base(file.Name)] = file
	}
	var sheet strings.Builder

	for _, family := range catalogue() {
		for _, face := range FacesOf(family.Name) {
			file := archived[face.File]
			if file.UncompressedSize64 <= maxWhole {
				sheet.WriteString(face.Rule(family.Name, s.add(file, "", complete)))
				continue
			}

			common := commonText()
			first := func(data []byte) (*subset, error) { return newExcerpt(data, common) }

			if family.Kind == Math {
				common = commonMath()
				first = func(data []byte) (*subset, error) { return newSubset(data, characters(common)) }
			}
			face.Characters = ranges(common, false)
			sheet.WriteString(face.Rule(family.Name, s.add(file, ".common", first)))
			face.Characters = ranges(common, true)
			sheet.WriteString(face.Rule(family.Name, s.add(file, "", complete)))
		}
	}
	s.Stylesheet = sheet.String()

	return s
})

// add lists the file with the part of a face that cut returns, and returns the file's name. part is in the name, ""
// for the whole face.
func (s *Served) add(face *zip.File, part string, cut func([]byte) (*subset, error)) string {
	base := path.Base(face.Name)
	name := fmt.Sprintf("%s%s.%d%08x.woff2", strings.TrimSuffix(base, ".ttf"), part, servedVersion, face.CRC32)

	s.files[name] = sync.OnceValue(func() []byte {
		data, _ := Face(base)

		tables, err := cut(data)
		if err != nil {
			panic(err) // the build is broken
		}

		packed, err := tables.woff2()
		if err != nil {
			panic(err) // a write to memory cannot fail
		}

		return packed
	})

	return name
}

// complete returns all tables of a face.
func complete(face []byte) (*subset, error) { return &subset{tables: tablesOf(face)}, nil }

// commonText returns the characters of most texts in languages with Latin letters.
func commonText() *unicode.RangeTable {
	return &unicode.RangeTable{R16: []unicode.Range16{
		{Lo: 0, Hi: 0x17f, Stride: 1},
		{Lo: 0x192, Hi: 0x192, Stride: 1},
		{Lo: 0x218, Hi: 0x21b, Stride: 1},
		{Lo: 0x2b0, Hi: 0x36f, Stride: 1},
		{Lo: 0x2000, Hi: 0x20cf, Stride: 1},
		{Lo: 0x2100, Hi: 0x214f, Stride: 1},
		{Lo: 0x2190, Hi: 0x2193, Stride: 1},
		{Lo: 0x21a9, Hi: 0x21a9, Stride: 1}, // the way back from a footnote
		{Lo: 0x2212, Hi: 0x2212, Stride: 1},
		{Lo: 0x2248, Hi: 0x2248, Stride: 1},
		{Lo: 0x2260, Hi: 0x2265, Stride: 1},
		{Lo: 0xfb00, Hi: 0xfb06, Stride: 1},
		{Lo: 0xfe0e, Hi: 0xfe0e, Stride: 1},
	}}
}

// commonMath returns the characters of most formulas. Primes are not among them, because they depend on substitutions,
// which a subset lacks.
func commonMath() *unicode.RangeTable {
	return &unicode.RangeTable{R16: []unicode.Range16{
		{Lo: 0, Hi: 0xff, Stride: 1},
		{Lo: 0x2c6, Hi: 0x2dd, Stride: 1},
		{Lo: 0x391, Hi: 0x3f5, Stride: 1},
		{Lo: 0x2000, Hi: 0x2031, Stride: 1},
		{Lo: 0x2061, Hi: 0x2064, Stride: 1},
		{Lo: 0x2190, Hi: 0x2194, Stride: 1},
		{Lo: 0x21a6, Hi: 0x21a6, Stride: 1},
		{Lo: 0x21d0, Hi: 0x21d4, Stride: 1},
		{Lo: 0x2200, Hi: 0x226f, Stride: 1},
		{Lo: 0x2282, Hi: 0x228b, Stride: 1},
		{Lo: 0x2295, Hi: 0x2299, Stride: 1},
		{Lo: 0x22c0, Hi: 0x22c6, Stride: 1},
		{Lo: 0x22ee, Hi: 0x22f1, Stride: 1},
		{Lo: 0x2308, Hi: 0x230b, Stride: 1},
		{Lo: 0x27e8, Hi: 0x27e9, Stride: 1},
	}, R32: []unicode.Range32{
		{Lo: 0x1d434, Hi: 0x1d467, Stride: 1},
		{Lo: 0x1d6e2, Hi: 0x1d71b, Stride: 1},
	}}
}

// spans calls yield with the first and the last character of each range of a table.
func spans(table *unicode.RangeTable, yield func(first, last rune)) {
	for _, r := range table.R16 {
		yield(rune(r.Lo), rune(r.Hi))
	}

	for _, r := range table.R32 {
		yield(rune(r.Lo), rune(r.Hi)) //nolint:gosec // characters fit into a rune
	}
}

// characters returns the characters of a table.
func characters(table *unicode.RangeTable) (list []rune) {
	spans(table, func(first, last rune) {
		for r := first; r <= last; r++ {
			list = append(list, r)
		}
	})

	return list
}

// ranges returns the characters of a table, or all others, as the value of unicode-range in CSS.
func ranges(table *unicode.RangeTable, others bool) string {
	var list []string
	next := rune(0)
	add := func(first, last rune) {
		if first <= last {
			list = append(list, fmt.Sprintf("U+%X-%X", first, last))
		}
	}

	spans(table, func(first, last rune) {
		if others {
			add(next, first-1)
		} else {
			add(first, last)
		}
		next = last + 1
	})

	if others {
		add(next, unicode.MaxRune)
	}

	return strings.Join(list, ",")
}
