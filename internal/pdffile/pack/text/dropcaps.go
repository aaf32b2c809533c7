package text

import (
	"bytes"
	"fmt"

	"presswork/internal/pdffile"
)

// dropCapSize is the least ratio between the type sizes of a drop cap and of the line next to it.
const dropCapSize = 2.2

// JoinDropCaps joins a drop cap and the text that follows it into one word (ISO 32000-1, 14.9.4). The letter is on
// the line of another word, so readers would copy, search and read it alone. The letter gets an empty text, and
// the next glyph gets the text of both. Errors wrap pdffile.ErrObject.
func JoinDropCaps(f *pdffile.File) error {
	return f.Rewrite("", func(c pdffile.Canvas, r *pdffile.Rewriting) (func(pdffile.Operation) error, error) {
		return (&capJoiner{file: f, faces: c.Faces, Rewriting: r}).visit, nil
	})
}

// capJoiner visits one content stream. Chromium writes a drop cap in its own text object before that of its line.
// The glyphs of the line may be in spans with their text, for example in small capitals:
//
//	BT  /F5 70.9 Tf 1 0 0 -1 5 116 Tm <0032> Tj  ET  0 0 0 rg  BT  /F4 16 Tf 1 0 0 -1 58 80 Tm <0051> Tj …
//	BT  /F5 70.9 Tf 1 0 0 -1 5 116 Tm <0032> Tj  ET  BT  /Span<</ActualText (n) >> BDC /F4 16 Tf … <0051> Tj EMC …
type capJoiner struct {
	*pdffile.Rewriting
	file  *pdffile.File
	faces map[string]pdffile.Face
	face  pdffile.Face // the current font
	size  float64      // of the current font
	shows int          // Tj operations in the current text object
	// letter is the possible drop cap of the current text object, before is that of the previous text object.
	letter, before shown
	span           textSpan // the open span with ActualText, or the zero value
}

// shown is a piece of shown text: its offsets in the content, its text and its type size.
type shown struct {
	start, end int
	text       string
	size       float64
}

// textSpan is a mark with ActualText: its offsets in the content and the text.
type textSpan struct {
	start, end int
	text       string
}

// visit looks for a large letter that is shown alone, followed by the rest of its word.
func (j *capJoiner) visit(op pdffile.Operation) error {
	switch string(op.Operator) {
	case "Tf":
		if len(op.Operands) != 2 {
			return pdffile.ErrObject
		}
		j.face = j.faces[string(op.Operands[0][1:])]

		size, ok := pdffile.Decimal(op.Operands[1])
		if !ok {
			return pdffile.ErrObject
		}
		j.size = size
	case "BT":
		j.before, j.letter, j.shows = j.letter, shown{}, 0
	case "BDC", "BMC":
		return j.begin(op)
	case "EMC":
		if j.span == (textSpan{}) {
			j.letter = shown{}
		}
		j.span = textSpan{}
	case "Do":
		j.letter = shown{}
	case "Tj":
		j.shows++
		if len(op.Operands) == 1 {
			j.show(op)
		}
		// Only the first glyph after the letter may be joined with it.
		j.before = shown{}
	}

	return nil
}

// begin notes the replacement text of a span.
func (j *capJoiner) begin(op pdffile.Operation) error {
	j.span = textSpan{}

	if len(op.Operands) == 2 && bytes.HasPrefix(op.Operands[1], []byte("<<")) {
		d, _, err := pdffile.ReadDict(op.Operands[1])
		if err != nil {
			return err
		}

		if text := d.Get("ActualText"); text != nil {
			end := op.Start + bytes.Index(j.In[op.Start:], op.Operands[1]) + len(op.Operands[1])
			j.span = textSpan{op.Start, end, pdffile.DecodeText(text)}

			return nil
		}
	}
	j.letter = shown{}

	return nil
}

// show records a possible drop cap. If one is recorded already, show joins it with the first glyph after it.
func (j *capJoiner) show(op pdffile.Operation) {
	const maxGlyphs = 2 // of a drop cap: a quotation mark and a letter

	codes, ok := j.face.Codes(op.Operands[0])
	if !ok || len(codes) == 0 {
		return
	}
	end := op.Start + len(op.Operands[0])

	end += bytes.Index(j.In[end:], op.Operator) + len(op.Operator)
	if j.before.end > 0 && j.before.size >= dropCapSize*j.size {
		j.join(shown{op.Start, end, j.file.TextOf(j.face, codes[:j.face.Width]), j.size}, codes)
		return
	}

	switch here := (shown{op.Start, end, j.file.TextOf(j.face, codes), j.size}); {
	case j.shows == 1 && len(codes) <= maxGlyphs*j.face.Width:
		if j.span != (textSpan{}) {
			here.text = j.span.text
		}
		j.letter = here
	// A quotation mark stands before the letter.
	case j.shows == 2 && j.letter.end > 0 && j.span == (textSpan{}) && len(codes) == j.face.Width:
		j.letter = shown{j.letter.start, end, j.letter.text + here.text, j.size}
	default:
		j.letter = shown{}
	}
}

// join gives the drop cap an empty text, and puts its letters before the text of the first glyph of the line. line is
// that line with the text of its first glyph; codes are all of its glyphs.
func (j *capJoiner) join(line shown, codes []byte) {
	if j.before.start < j.Copied { // an earlier join has rewritten this letter
		return
	}
	j.CopyTo(j.before.start)
	j.Out.WriteString("/Span<</ActualText <FEFF> >> BDC\n")
	j.CopyTo(j.before.end)
	j.Out.WriteString("\nEMC\n")

	if j.span != (textSpan{}) {
		j.CopyTo(j.span.start)
		fmt.Fprintf(&j.Out, "/Span<</ActualText <FEFF%X> >>", pdffile.UTF16(j.before.text+j.span.text))
		j.Copied = j.span.end

		return
	}
	j.CopyTo(line.start)
	first := j.face.Width
	fmt.Fprintf(&j.Out, "/Span<</ActualText <FEFF%X> >> BDC\n<%X> Tj\nEMC\n", pdffile.UTF16(j.before.text+line.text),
		codes[:first])

	if first < len(codes) {
		fmt.Fprintf(&j.Out, "<%X> Tj\n", codes[first:])
	}
	j.Copied = line.end
}
