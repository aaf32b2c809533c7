package join

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/pdffile"
	"presswork/internal/pdffile/filetest"
)

func TestEqualFontsOfSectionsAreMerged(t *testing.T) {
	t.Parallel()
	font := func(texts, outlines map[int]string, replace ...string) *pdffile.File {
		objects := strings.NewReplacer(replace...).Replace(filetest.EmbeddedFont("font", texts, outlines))

		return read(
			t,
			filetest.Build(t, filetest.Pages("/Font <</F1 @font>>", "BT\n/F1 9 Tf\n<0001> Tj\nET\n"), objects).Data,
		)
	}

	first := func() *pdffile.File {
		return font(map[int]string{1: "a", 2: "b"}, map[int]string{0: "zero", 1: "ONE!"})
	}
	for name, c := range map[string]struct {
		second *pdffile.File
		fonts  int
	}{
		"the same glyphs": {first(), 1},
		"other glyphs":    {font(map[int]string{5: "é", 6: ""}, map[int]string{0: "zero", 5: "FIVE"}), 1},
		"another tag of the subset": {
			font(map[int]string{1: "a"}, map[int]string{1: "ONE!"}, "AAAAAA+", "BBBBBB+"),
			1,
		},
		"another outline of a glyph": {font(map[int]string{1: "a"}, map[int]string{1: "UNO!"}), 2},
		"another name":               {font(map[int]string{1: "a"}, map[int]string{1: "ONE!"}, "+Face", "+Other"), 2},
		"another descriptor":         {font(map[int]string{1: "a"}, map[int]string{1: "ONE!"}, "/Flags 4", "/Flags 5"), 2},
		"no outlines": {read(t, filetest.Build(t, filetest.Pages("", ""), filetest.Font("font",
			map[int]string{1: "a"})).Data), 2},
		"outlines of another kind": {font(map[int]string{1: "a"}, nil, "FontFile2", "FontFile3"), 2},
		"no font file":             {font(map[int]string{1: "a"}, nil, "@font-file", "@font-map"), 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			joined, err := Files(filetest.Each(first(), c.second), nil)
			if err != nil {
				t.Fatal(err)
			}
			var fonts []int

			for n, o := range joined.Objects {
				if strings.HasPrefix(string(o), "<</Type /Font\n/Subtype /Type0\n") {
					fonts = append(fonts, n)
				}
			}

			if len(fonts) != c.fonts {
				t.Fatalf("got %d fonts, want %d", len(fonts), c.fonts)
			}

			if name != "other glyphs" {
				return
			}

			if diff := cmp.Diff(pdffile.TextMap{1: "a", 2: "b", 5: "é", 6: ""}, joined.TextMap(fonts[0])); diff != "" {
				t.Errorf("texts (-want +got):\n%s", diff)
			}

			w := joined.ReadWidths(fonts[0])

			for glyph, want := range map[int]float64{1: 501, 2: 502, 5: 505, 6: 506} {
				t.Run(fmt.Sprintf("glyph %d", glyph), func(t *testing.T) {
					if got := w.Of(glyph); got != want {
						t.Errorf("the width is %v, want %v", got, want)
					}
				})
			}
			checkOutlines(t, joined, fonts[0], map[int]string{0: "zero", 1: "ONE!", 5: "FIVE"})
		})
	}
}

// checkOutlines compares the outlines of a font and checks the checksum of its file.
func checkOutlines(t *testing.T, f *pdffile.File, font int, want map[int]string) {
	t.Helper()

	s, err := readSubset(f, font)
	if err != nil || s == nil {
		t.Fatalf("readSubset: got %v, %v; want a font", s, err)
	}

	got := map[int]string{}
	for glyph, outline := range s.outlines.glyphs {
		got[glyph] = string(outline)
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outlines (-want +got):\n%s", diff)
	}

	d, data, err := f.Stream(s.file)
	if err != nil || string(d.Get("Length1")) != fmt.Sprint(len(data)) {
		t.Errorf("the font file has %d bytes, but Length1 is %s, %v", len(data), d.Get("Length1"), err)
	}

	if sum := checksum(data); sum != 0xB1B0AFBA {
		t.Errorf("the checksum of the file is %X, want B1B0AFBA", sum)
	}
}

func TestInvalidFontFilesAreRejected(t *testing.T) {
	t.Parallel()

	valid := string(filetest.TrueType(map[int]string{1: "ONE!", 3: "3333"}))
	if f, err := readTrueType([]byte(valid)); err != nil || f.count != 4 || len(f.glyphs) != 2 {
		t.Fatalf("readTrueType = %+v, %v; want 4 glyphs, two with outlines", f, err)
	}
	// table returns the offset of a table's entry in the directory.
	table := func(name string) int { return strings.Index(valid, name) }
	replaceAt := func(place int, with string) string { return valid[:place] + with + valid[place+len(with):] }

	// body returns the offset of a table, which the directory names.
	body := func(name string) int {
		e := valid[table(name):]
		return int(e[8])<<24 | int(e[9])<<16 | int(e[10])<<8 | int(e[11])
	}
	for name, data := range map[string]string{
		"nothing":                            "",
		"another kind":                       "OTTO" + valid[4:],
		"cut off in the directory":           valid[:40],
		"cut off in a table":                 valid[:len(valid)-1],
		"no head":                            replaceAt(table("head"), "hexx"),
		"no offsets of glyphs":               replaceAt(table("loca"), "loco"),
		"no widths":                          replaceAt(table("hmtx"), "hmtz"),
		"a table past the end":               replaceAt(table("glyf")+8, "\xff\xff\xff\xff"),
		"a table of a huge length":           replaceAt(table("glyf")+12, "\xff\xff\xff\xff"),
		"more glyphs than offsets":           replaceAt(body("maxp")+4, "\xff\xff"),
		"more widths than glyphs":            replaceAt(body("hhea")+34, "\x00\x09"),
		"no complete width":                  replaceAt(body("hhea")+34, "\x00\x00"),
		"a glyph past the others":            replaceAt(body("loca")+8, "\xff\xff"),
		"a glyph that ends before it begins": replaceAt(body("loca")+2, "\x00\x04\x00\x00"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if f, err := readTrueType([]byte(data)); err == nil {
				t.Errorf("got a font of %d glyphs, want an error", f.count)
			}
		})
	}
}
