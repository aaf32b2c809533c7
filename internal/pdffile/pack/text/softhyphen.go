// Package text corrects the text that readers extract from a printed PDF. It handles words with soft hyphens or
// drop caps, Arabic letters, and glyphs without a character.
//
// Each function is a pass over the content streams. It recognises the operations that Chromium writes for its case, and
// adds, changes or removes marks with ActualText around glyphs. The glyphs stay, so pages look the same.
package text

import (
	"bytes"
	"cmp"
	"fmt"

	"presswork/internal/pdffile"
)

const (
	// softHyphenMark is the start of the span that Chromium writes for a soft hyphen. The span contains a glyph
	// without width.
	softHyphenMark = "/Span<</ActualText <FEFF00AD> >> BDC\n"
	// hyphenMark is the start of the span around a hyphen whose glyph also stands for other characters.
	hyphenMark = "/Span<</ActualText <FEFF2010> >> BDC\n"
)

// JoinWords removes soft hyphens within lines, so that copied and searched words are whole. At the end of a line,
// the visible hyphen is read as a soft hyphen (ISO 32000-1, 14.8.2.2.3). Errors wrap pdffile.ErrObject.
func JoinWords(f *pdffile.File) error {
	begin := func(c pdffile.Canvas, r *pdffile.Rewriting) (func(pdffile.Operation) error, error) {
		return (&joiner{file: f, faces: c.Faces, Rewriting: r}).visit, nil
	}

	return f.Rewrite(softHyphenMark, begin)
}

// joiner visits one content stream. Within a line, Chromium writes
//
//	/Span<</ActualText <FEFF00AD> >> BDC  8.1 0 Td <0003> Tj  EMC  0 0 Td <0051> Tj
//
// or, if glyphs have their own spans,
//
//	/Span<</ActualText <FEFF00AD> >> BDC  8.1 0 Td <0003> Tj  EMC  /Span<</ActualText (n) >> BDC  0 0 Td <0051> Tj
//
// or, next to letters of another font,
//
//	BT /Span<</ActualText <FEFF00AD> >> BDC  /F4 14.3 Tf 1 0 0 -1 0 73 Tm 8.1 0 Td <0003> Tj  EMC  ET
//
// The first move is missing if the glyph directly follows the previous one. The second is then relative to an
// earlier place, and stays. At the end of a line it writes the following, perhaps with an underline before the BT:
//
//	/Span<</ActualText <FEFF00AD> >> BDC  8.1 0 Td <0003> Tj  EMC  ET  BT /F4 14.3 Tf 1 0 0 -1 0 73 Tm <0AB1> Tj ET
//
// The hyphen has its own span in fonts that draw several characters alike:
//
//	ET  BT /Span<</ActualText <FEFF2010> >> BDC /F4 14.3 Tf 1 0 0 -1 0 73 Tm <0587> Tj EMC ET
//
// Other forms are not changed.
type joiner struct {
	*pdffile.Rewriting
	file  *pdffile.File
	faces map[string]pdffile.Face
	next  step // nil before a mark begins
	face  pdffile.Face
	// mark, move and hyphen describe the current mark: the offset of its start, the Td within it, and the offset
	// where the hyphen is shown.
	mark, hyphen int
	move         string
	// span is the offset of the ActualText mark around the next glyph; 0 if the glyph has none.
	span int
}

// step handles one operation and returns the step for the next one, or nil if the operation was not the expected
// one.
type step func(pdffile.Operation) step

// visit looks for the span of a soft hyphen, then lets each step check the operation that follows. A step returns nil
// if the operations have another form.
func (j *joiner) visit(op pdffile.Operation) error {
	operator := string(op.Operator)
	if operator == "Tf" && len(op.Operands) == 2 {
		j.face = j.faces[string(op.Operands[0][1:])]
	}

	if j.next != nil {
		j.next = j.next(op)
	}

	if j.next == nil && operator == "BDC" && bytes.HasPrefix(j.In[op.Start:], []byte(softHyphenMark)) {
		j.mark, j.move, j.span, j.next = op.Start, "", 0, j.moved
	}

	return nil
}

// moved expects the move to the glyph of the soft hyphen.
func (j *joiner) moved(op pdffile.Operation) step {
	operator := string(op.Operator)
	if operator == "Tf" || operator == "Tm" {
		return j.moved
	}

	if operator != "Td" || len(op.Operands) != 2 {
		return j.shown(op)
	}
	j.move = fmt.Sprintf("%s %s Td ", op.Operands[0], op.Operands[1])

	return j.shown
}

// shown expects the glyph of the soft hyphen.
func (j *joiner) shown(op pdffile.Operation) step {
	if string(op.Operator) != "Tj" {
		return nil
	}

	return j.ended
}

// ended expects the end of the soft hyphen's span.
func (j *joiner) ended(op pdffile.Operation) step {
	if string(op.Operator) != "EMC" {
		return nil
	}

	return j.followed
}

// followed expects what follows the span: text on the same line, another span, or the end of the text object.
func (j *joiner) followed(op pdffile.Operation) step {
	switch string(op.Operator) {
	case "Td":
		// The soft hyphen has no move of its own, so the next glyph needs no other place.
		if j.move == "" {
			j.leaveOut(cmp.Or(j.span, op.Start))
			return nil
		}

		if len(op.Operands) == 2 && string(op.Operands[0]) == "0" && string(op.Operands[1]) == "0" {
			return j.joined
		}
	case "BDC":
		if j.span == 0 && bytes.HasPrefix(j.In[op.Start:], []byte("/Span<</ActualText ")) {
			j.span = op.Start
			return j.followed
		}
	case "ET":
		j.leaveOut(op.Start)
		return j.lineEnded
	}

	return nil
}

// joined removes the soft hyphen and its moves, because the word continues on the same line.
func (j *joiner) joined(op pdffile.Operation) step {
	if j.span > 0 { // keep the span, without its move
		j.leaveOut(j.span)
		j.CopyTo(j.span + bytes.Index(j.In[j.span:op.Start], []byte("BDC\n")) + len("BDC\n"))
		j.Copied = op.Start
	} else {
		j.leaveOut(op.Start)
	}
	j.Out.WriteString(j.move)

	return nil
}

// lineEnded expects the next text object, after the last text of a line.
func (j *joiner) lineEnded(op pdffile.Operation) step {
	switch string(op.Operator) {
	case "BT":
		return j.begun
	case "BDC", "BMC", "EMC", "Do":
		return nil
	}

	return j.lineEnded
}

// begun expects the visible hyphen of the line's end in its own text object.
func (j *joiner) begun(op pdffile.Operation) step {
	switch string(op.Operator) {
	case "Tf", "Tm":
		return j.begun
	case "BDC":
		if bytes.HasPrefix(j.In[op.Start:], []byte(hyphenMark)) {
			j.CopyTo(op.Start)
			j.Out.WriteString(softHyphenMark)
			j.Copied += len(hyphenMark)
		}
	case "Tj":
		if len(op.Operands) == 1 && j.isHyphen(op.Operands[0]) {
			j.hyphen = op.Start
			return j.hyphened
		}
	}

	return nil
}

// hyphened expects the end of that text object. It marks the visible hyphen as a soft one, so that the word can be
// searched.
func (j *joiner) hyphened(op pdffile.Operation) step {
	if string(op.Operator) == "ET" {
		j.CopyTo(j.hyphen)
		j.Out.WriteString(softHyphenMark)
		j.CopyTo(op.Start)
		j.Out.WriteString("EMC\n")
	}

	return nil
}

// isHyphen reports whether a glyph is a hyphen in the current font.
func (j *joiner) isHyphen(glyph []byte) bool {
	code, ok := pdffile.HexCode(glyph)
	if !ok || j.face.Object == 0 {
		return false
	}
	text := j.file.TextMap(j.face.Object)[code]

	return text == "\u2010" || text == "-"
}

// leaveOut removes the content from the start of the mark to the offset to.
func (j *joiner) leaveOut(to int) {
	j.CopyTo(j.mark)
	j.Copied = to
}
