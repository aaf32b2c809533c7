package pack

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"presswork/internal/pdffile"
)

// archive makes a print PDF/A of the requested level, except for the metadata. It returns an error for content
// that PDF/A forbids and Chromium may write, such as glyph 0.
func archive(f *pdffile.File, catalog *pdffile.Dict, notdef bool) error {
	for n, o := range f.Objects {
		if err := checkArchivable(f, o); err != nil {
			return fmt.Errorf("object %d: %w", n, err)
		}
	}

	if notdef {
		return errNotdef
	}
	profile := f.Add(nil)
	f.SetStream(profile, pdffile.Dict{{Key: "N", Value: []byte("3")}}, srgbProfile())
	catalog.Set(
		"OutputIntents",
		fmt.Sprintf(
			"[<</Type /OutputIntent\n/S /GTS_PDFA1\n"+
				"/OutputConditionIdentifier (sRGB)\n/Info (sRGB IEC61966-2.1)\n/DestOutputProfile %s>>]",
			pdffile.RefTo(profile),
		),
	)

	return nil
}

// forbidden are the names that no PDF/A file may have, as keys or as values.
var forbidden = []string{
	"AA",
	"AcroForm",
	"Crypt",
	"DeviceCMYK",
	"EmbeddedFiles",
	"GoTo3DView",
	"Hide",
	"ImportData",
	"JS",
	"JavaScript",
	"LZWDecode",
	"Launch",
	"Movie",
	"NeedAppearances",
	"OPI",
	"PS",
	"Ref",
	"Rendition",
	"ResetForm",
	"RichMedia",
	"Screen",
	"SetOCGState",
	"Sound",
	"SubmitForm",
	"Trans",
	"XFA",
	"3D",
}

// maxString is the longest string PDF/A allows, in bytes.
const maxString = 32767

var errTooLong = fmt.Errorf("a text or address is longer than %d bytes", maxString)

// checkArchivable looks at one object, the content of a stream excepted.
func checkArchivable(f *pdffile.File, o []byte) error {
	if pdffile.IsStream(o) {
		o, _, _ = bytes.Cut(o, []byte("stream\n"))
	}
	last := ""

	for at := 0; at < len(o); {
		step := 1

		switch o[at] {
		case '(':
			if step = pdffile.StringLength(o[at:]); step == 0 {
				return pdffile.ErrObject
			}

			if step > maxString {
				return errTooLong
			}
		case '<':
			if digits := pdffile.TokenLength(o[at+1:]); digits > 2*maxString { // a dictionary has none
				return errTooLong
			}
		case '/':
			step += pdffile.TokenLength(o[at+1:])
			if last = string(o[at+1 : at+step]); slices.Contains(forbidden, last) {
				return fmt.Errorf("%s is not allowed", last)
			}
		case 't':
			if last == "Interpolate" {
				return errors.New("interpolated images are not allowed")
			}
		}
		at += step
	}

	if bytes.Contains(o, []byte("/Subtype /CIDFontType")) {
		return checkEmbedded(f, o)
	}

	return nil
}

// checkEmbedded makes sure that a font's outlines are in the file.
func checkEmbedded(f *pdffile.File, font []byte) error {
	d, _, err := pdffile.ReadDict(font)
	if err != nil {
		return err
	}

	descriptor, err := f.Dictionary(d.Get("FontDescriptor"))
	if err != nil {
		return err
	}

	if descriptor.Get("FontFile2") == nil && descriptor.Get("FontFile3") == nil {
		return fmt.Errorf("the font %s is not embedded", d.Get("BaseFont"))
	}

	return nil
}
