package pack

import (
	"strings"
	"testing"

	"presswork/internal/pdffile/filetest"
)

func TestForbiddenNamesAreNotArchived(t *testing.T) {
	t.Parallel()
	pack := func(t *testing.T, object string) error {
		t.Helper()
		_, err := Pack(filetest.Build(t, filetest.Pages("", ""), "-- odd --\n"+object+"\n").Data, Meta{},
			Finish{PDFA: "2b"})

		return err
	}
	// The test has its own list, so that it fails for a name that the package omits.
	names := strings.FieldsSeq(
		"AA AcroForm Crypt DeviceCMYK EmbeddedFiles GoTo3DView Hide ImportData JS JavaScript LZWDecode Launch " +
			"Movie NeedAppearances OPI PS Ref Rendition ResetForm RichMedia Screen SetOCGState Sound SubmitForm Trans XFA 3D",
	)
	for name := range names {
		for place, object := range map[string]string{"a key": "<</" + name + " 1>>", "a value": "<</S /" + name + ">>", "deep within": "<</K [<</A [/" + name + "]>>]>>", "a stream's": "<</S /" + name + ">> stream\n"} {
			t.Run(name+" as "+place, func(t *testing.T) {
				t.Parallel()

				if err := pack(t, object); err == nil || !strings.Contains(err.Error(), name+" is not allowed") {
					t.Errorf("got %v, want that %s is not allowed", err, name)
				}
			})
		}
		t.Run(name+" in a text", func(t *testing.T) {
			t.Parallel()

			for form, object := range map[string]string{
				"a string":       "<</T (/" + name + " 1)>>",
				"a longer name":  "<</T /" + name + "s>>",
				"stream content": "<<>> stream\n/" + name + "\n",
			} {
				t.Run(form, func(t *testing.T) {
					if err := pack(t, object); err != nil {
						t.Errorf("got %v, want nil for %s", err, object)
					}
				})
			}
		})
	}

	for name, c := range map[string]struct{ object, want string }{
		"a text of 32767 bytes":           {"(" + strings.Repeat("a", maxString-2) + ")", ""},
		"a text of more":                  {"<</T (" + strings.Repeat("a", maxString) + ")>>", "longer than 32767 bytes"},
		"hexadecimal text of 32767 bytes": {"<" + strings.Repeat("00", maxString) + ">", ""},
		"hexadecimal text of more":        {"<</T <" + strings.Repeat("00", maxString+1) + ">>>", "longer than 32767 bytes"},
		"a text without an end":           {"<</T (a>>", "not written as expected"},
		"an interpolated image":           {"<</Interpolate true>> stream\n", "interpolated images"},
		"an image that is not":            {"<</Interpolate false\n/T true>> stream\n", ""},
		"a font without outlines":         {"<</Type /Font\n/Subtype /CIDFontType2\n/BaseFont /Face\n/FontDescriptor <</Flags 4>>>>", "the font /Face is not embedded"},
		"a font with outlines":            {"<</Type /Font\n/Subtype /CIDFontType2\n/FontDescriptor <</FontFile2 1>>>>", ""},
		"a font with other outlines":      {"<</Type /Font\n/Subtype /CIDFontType0\n/FontDescriptor <</FontFile3 1>>>>", ""},
		"a font without a descriptor":     {"<</Type /Font\n/Subtype /CIDFontType2>>", "not written as expected"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := pack(t, c.object)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestMissingGlyphsAreNotArchived(t *testing.T) {
	t.Parallel()

	for text, missing := range map[string]bool{"<00410042> Tj": false, "<00410000> Tj": true, "[<0041> 5 <0000>] TJ": true, "<4100> Tj": false, "<00000041> Tj": true} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			built := filetest.Build(t, filetest.Pages("/Font <</F1 @f>>", "BT\n/F1 9 Tf\n"+text+"\nET\n"),
				filetest.EmbeddedFont("f", filetest.Latin(), map[int]string{0: "", 'A': "aa"}))

			p, err := Pack(built.Data, Meta{}, Finish{PDFA: "2b"})
			if (err != nil) != missing || err != nil && err.Error() != errNotdef.Error() || p.Pages != 1 {
				t.Errorf("got %d pages, %v; want one page, and an error: %v", p.Pages, err, missing)
			}
		})
	}
}

func TestTheColourProfileIsAValidSRGBProfile(t *testing.T) {
	t.Parallel()
	profile := srgbProfile()

	word := func(at int) int {
		return int(profile[at])<<24 | int(profile[at+1])<<16 | int(profile[at+2])<<8 | int(profile[at+3])
	}
	if word(0) != len(profile) || string(profile[12:24]) != "mntrRGB XYZ " || string(profile[36:40]) != "acsp" {
		t.Errorf("the header is %q, want the size and the signatures of an RGB profile", profile[:128])
	}
	var white, sum [3]float64

	for i := range word(128) {
		at := 132 + 12*i

		name, from, size := string(profile[at:at+4]), word(at+4), word(at+8)
		if from%4 != 0 || from+size > len(profile) {
			t.Fatalf("the tag %s is at %d with %d bytes, want it aligned and in the profile", name, from, size)
		}

		if name == "wtpt" || strings.HasSuffix(name, "XYZ") {
			for axis := range 3 {
				v := float64(word(from+8+4*axis)) / 65536
				if name == "wtpt" {
					white[axis] = v
				} else {
					sum[axis] += v
				}
			}
		}

		if strings.HasSuffix(name, "TRC") && string(profile[from:from+4]) != "para" {
			t.Errorf("the curve %s is %q, want a parametric one", name, profile[from:from+size])
		}
	}

	for axis := range 3 { // the sum of the primaries is white
		if d := white[axis] - sum[axis]; d > .002 || d < -.002 {
			t.Errorf("white is %v and the sum of the primaries is %v, want them equal", white, sum)
		}
	}
}
