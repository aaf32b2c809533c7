package pack

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"presswork/internal/pdffile"
)

// archive converts a printed PDF to PDF/A, except for the metadata. notdef is true if a page shows glyph 0. Errors:
// content that PDF/A forbids and Chromium may write, such as glyph 0.
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
	catalog.Set("OutputIntents", fmt.Sprintf("[<</Type /OutputIntent\n/S /GTS_PDFA1\n"+
		"/OutputConditionIdentifier (sRGB)\n/Info (sRGB IEC61966-2.1)\n/DestOutputProfile %s>>]", pdffile.RefTo(profile)))

	return nil
}

// forbidden are names that PDF/A forbids as keys and as values.
var forbidden = []string{
	"AA", "AcroForm", "Crypt", "DeviceCMYK", "EmbeddedFiles", "GoTo3DView", "Hide", "ImportData", "JS", "JavaScript",
	"LZWDecode", "Launch", "Movie", "NeedAppearances", "OPI", "PS", "Ref", "Rendition", "ResetForm", "RichMedia",
	"Screen", "SetOCGState", "Sound", "SubmitForm", "Trans", "XFA", "3D",
}

// maxString is the longest string that PDF/A allows, in bytes (ISO 19005-2, 6.1.13).
const maxString = 32767

var errTooLong = fmt.Errorf("a text or address is longer than %d bytes", maxString)

// checkArchivable returns an error if an object has something that PDF/A forbids. It does not read the content of
// a stream.
func checkArchivable(f *pdffile.File, o []byte) error {
	if pdffile.IsStream(o) {
		// The content of a stream may contain the forbidden names as data.
		o, _, _ = bytes.Cut(o, []byte("stream\n"))
	}
	last := "" // the last name

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
			if digits := pdffile.TokenLength(o[at+1:]); digits > 2*maxString { // no digits follow the < of a dictionary
				return errTooLong
			}
		case '/':
			step += pdffile.TokenLength(o[at+1:])
			if last = string(o[at+1 : at+step]); slices.Contains(forbidden, last) {
				return fmt.Errorf("%s is not allowed", last)
			}
		case 't': // of true
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

// checkEmbedded returns an error if the file does not embed the font's outlines.
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
