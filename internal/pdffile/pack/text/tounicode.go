package text

import (
	"bytes"
	"fmt"
	"regexp"

	"presswork/internal/pdffile"
)

// nothing matches a glyph that Skia maps to U+0000: one that stands for no
// character of its own, such as a part of a tall bracket or of a syllable.
var nothing = regexp.MustCompile(`(?m)^(<[0-9A-F]+>) <0000>$`)

// MapAllGlyphs maps the glyphs that stand for no character to U+FFFD: PDF/A-2u
// and PDF/UA want a character for each. What such glyphs mean together is given
// by the text of the span or formula they are in.
func MapAllGlyphs(f *pdffile.File) error {
	for _, o := range f.Objects {
		if !bytes.HasPrefix(o, []byte("<</Type /Font\n")) || !bytes.Contains(o, []byte("/ToUnicode ")) {
			continue
		}

		font, _, err := pdffile.ReadDict(o)
		if err != nil {
			return err
		}

		n, ok := f.Object(font.Get("ToUnicode"))
		if !ok {
			return fmt.Errorf("font %s: %w", font.Get("BaseFont"), pdffile.ErrObject)
		}

		d, content, err := f.Stream(n)
		if err != nil {
			return err
		}

		if nothing.Match(content) {
			f.SetStream(n, d, nothing.ReplaceAll(content, []byte("$1 <FFFD>")))
		}
	}

	return nil
}
