package text

import (
	"bytes"
	"fmt"

	"presswork/internal/lazyregexp"
	"presswork/internal/pdffile"
)

// unmappedGlyph matches a ToUnicode entry that maps a glyph to U+0000. Skia writes it for glyphs without a character,
// such as a part of a tall bracket or of a syllable.
var unmappedGlyph = lazyregexp.New(`(?m)^(<[0-9A-F]+>) <0000>$`)

// MapAllGlyphs maps glyphs without a character to U+FFFD, because PDF/A-2u and PDF/UA require a character for each
// glyph. Their real text is that of the span or formula around them. Errors: a font or a ToUnicode stream that cannot
// be read.
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

		if unmappedGlyph().Match(content) {
			f.SetStream(n, d, unmappedGlyph().ReplaceAll(content, []byte("$1 <FFFD>")))
		}
	}

	return nil
}
