package text

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"presswork/internal/pdffile"
)

// ReadRightToLeft makes Arabic text readable for programs that order the glyphs of a line by position. Chromium
// maps glyphs to presentation forms and puts a span with the letter around each glyph. Programs then join letters
// in the wrong order. ReadRightToLeft maps the glyphs to letters and removes the spans. Errors wrap pdffile.ErrObject.
func ReadRightToLeft(f *pdffile.File) error {
	mapped := map[int]bool{} // fonts

	begin := func(c pdffile.Canvas, r *pdffile.Rewriting) (func(pdffile.Operation) error, error) {
		for _, face := range c.Faces {
			if mapped[face.Object] {
				continue
			}
			mapped[face.Object] = true

			if err := mapLetters(f, face.Object); err != nil {
				return nil, err
			}
		}

		return (&rightToLeft{file: f, faces: c.Faces, Rewriting: r}).visit, nil
	}

	return f.Rewrite("/ActualText", begin)
}

// mapLetters replaces presentation forms by letters in a font's ToUnicode map.
func mapLetters(f *pdffile.File, font int) error {
	text := f.TextMap(font)
	changed := false

	for code, t := range text {
		if letters := lettersOf(t); letters != t {
			text[code], changed = letters, true
		}
	}

	if !changed {
		return nil
	}

	d, _, err := pdffile.ReadDict(f.Objects[font])
	if err != nil {
		return err
	}

	n, ok := f.Object(d.Get("ToUnicode"))
	if !ok {
		return fmt.Errorf("font %d: %w", font, pdffile.ErrObject)
	}

	stream, content, err := f.Stream(n)
	if err != nil {
		return err
	}
	before, rest, ok := bytes.Cut(content, []byte("endcodespacerange\n"))

	_, after, ok2 := bytes.Cut(rest, []byte("endcmap"))
	if !ok || !ok2 {
		return fmt.Errorf("font %d: %w", font, pdffile.ErrObject)
	}

	digits := 2 // of a code
	if bytes.Contains(before, []byte("<0000>")) {
		digits = 4
	}
	var out bytes.Buffer
	out.Write(before)
	out.WriteString("endcodespacerange\n")
	out.Write(text.CharSections(digits))
	out.WriteString("endcmap")
	out.Write(after)
	f.SetStream(n, stream, out.Bytes())

	return nil
}

// lettersOf replaces Arabic presentation forms by their letters, in the order of the glyphs. poppler, PDFium,
// pdf.js and MuPDF reverse a line together with the letters of its ligatures, so the letters of a ligature are
// reversed here.
func lettersOf(text string) string {
	form := func(r rune) bool { return r >= 0xFB50 && r <= 0xFDFF || r >= 0xFE70 && r <= 0xFEFC }
	if !strings.ContainsFunc(text, form) {
		return text
	}

	return reversed(strings.TrimSpace(norm.NFKC.String(text))) // NFKC writes a mark alone on a space
}

// rightToLeft visits one content stream and removes spans whose text equals that of their glyphs.
type rightToLeft struct {
	*pdffile.Rewriting
	file  *pdffile.File
	faces map[string]pdffile.Face
	face  pdffile.Face // the current font
	marks []rtlMark    // the open marked-content sequences
}

// rtlMark is open marked content. For a span with ActualText, end is the offset after the operation that begins
// it, and shown is the text of its glyphs.
type rtlMark struct {
	start, end  int
	text, shown string
}

// visit compares the replacement text of each span with the text that its glyphs have. If they are equal, it leaves out
// the operations that begin and end the span.
func (r *rightToLeft) visit(op pdffile.Operation) error {
	switch string(op.Operator) {
	case "Tf":
		if len(op.Operands) == 2 {
			r.face = r.faces[string(op.Operands[0][1:])]
		}
	case "BDC", "BMC":
		m := rtlMark{start: op.Start}
		if len(op.Operands) == 2 && bytes.HasPrefix(op.Operands[1], []byte("<</ActualText")) {
			d, _, err := pdffile.ReadDict(op.Operands[1])
			if err != nil {
				return err
			}
			m.text = pdffile.DecodeText(d.Get("ActualText"))
			m.end = op.Start + bytes.Index(r.In[op.Start:], []byte("BDC\n")) + len("BDC\n")
		}
		r.marks = append(r.marks, m)
	case "Tj":
		if n := len(r.marks); n > 0 && r.marks[n-1].end > 0 && len(op.Operands) == 1 {
			if codes, ok := r.face.Codes(op.Operands[0]); ok {
				r.marks[n-1].shown += r.file.TextOf(r.face, codes)
			}
		}
	case "EMC":
		n := len(r.marks) - 1
		if n < 0 {
			return pdffile.ErrObject
		}

		if m := r.marks[n]; m.end > 0 && m.shown != "" && reversed(m.shown) == m.text {
			r.CopyTo(m.start)
			r.Out.Write(r.In[m.end:op.Start])
			r.Copied = op.Start + len("EMC\n")
		}
		r.marks = r.marks[:n]
	}

	return nil
}

// reversed returns the characters of text in reverse order.
func reversed(text string) string {
	letters := []rune(text)
	slices.Reverse(letters)

	return string(letters)
}
