package inspect

import (
	"bytes"
	"math"
	"strings"

	"presswork/internal/pdffile"
)

// matrix is a transformation: x' = a·x + c·y + e, y' = b·x + d·y + f.
type matrix struct{ a, b, c, d, e, f float64 }

// identity is the matrix that changes nothing.
var identity = matrix{a: 1, d: 1}

// then returns the transformation that applies m first and n second.
func (m matrix) then(n matrix) matrix {
	return matrix{
		m.a*n.a + m.b*n.c, m.a*n.b + m.b*n.d,
		m.c*n.a + m.d*n.c, m.c*n.b + m.d*n.d,
		m.e*n.a + m.f*n.c + n.e, m.e*n.b + m.f*n.d + n.f,
	}
}

// moved returns the transformation that moves by x, y first and applies m second.
func (m matrix) moved(x, y float64) matrix { return matrix{1, 0, 0, 1, x, y}.then(m) }

// span is a horizontal extent, in points from the left.
type span struct{ from, to float64 }

var (
	everywhere = span{math.Inf(-1), math.Inf(1)}
	nowhere    = span{math.Inf(1), math.Inf(-1)}
)

// cuts reports whether an edge of s cuts more than overhang points off t.
func (s span) cuts(t span, overhang float64) bool {
	return t.from < s.to && t.to > s.to+overhang || t.to > s.from && t.from < s.from-overhang
}

// view is the part of the graphics state that q saves and Q restores.
type view struct {
	matrix matrix
	clip   span
}

// reader holds the state while one content stream is read.
type reader struct {
	*inspector
	page   int
	faces  map[string]pdffile.Face
	inside *Area // nil allows any place

	view  view
	saved []view // by q
	path  span   // extent of the path under construction
	line  matrix // text matrix
	face  pdffile.Face
	size  float64 // font size
	marks []mark  // open marked content
	// run is the text shown since the last structural mark. Messages quote it.
	run     []piece
	outside bool    // a part of run lies outside its area
	tiny    float64 // size of the type in run that is too small to read; 0 if none is
	// shapeCut is true if the end of the column cuts off a shape, such as the background of a table. Skia omits letters
	// beyond the clip, so the shape may be the only trace of cut text.
	shapeCut bool
}

// piece is a glyph code with its font, or the ActualText of a span.
type piece struct {
	font, code int
	text       string
}

// mark is an open marked-content sequence.
type mark struct {
	text string
	// replaces is true if the mark's ActualText replaces the glyphs. missing is true if one of the glyphs is glyph 0.
	replaces, missing bool
}

// operation follows the font, the position, marked content and shown text.
func (r *reader) operation(op pdffile.Operation) error {
	switch string(op.Operator) {
	case "Tf":
		if len(op.Operands) != 2 {
			return pdffile.ErrObject
		}
		r.face = r.faces[string(op.Operands[0][1:])]

		var ok bool
		if r.size, ok = pdffile.Decimal(op.Operands[1]); !ok {
			return pdffile.ErrObject
		}
	case "Tj", "TJ":
		return r.show(op.Operands)
	case "BDC", "BMC":
		return r.begin(op.Operands)
	case "EMC":
		r.end()
	default:
		if r.inside != nil {
			return r.move(op)
		}
	}

	return nil
}

// extend widens the path to more points. The control points of a curve count, although the curve does not reach
// them. An odd number of operands is an error.
func (r *reader) extend(points [][]byte) error {
	v, err := pdffile.Numbers(points, len(points)&^1) // clears the lowest bit: x and y come in pairs
	for i := 0; i+1 < len(points) && err == nil; i += 2 {
		x := r.view.matrix.moved(v[i], v[i+1]).e
		r.path = span{min(r.path.from, x), max(r.path.to, x)}
	}

	return err
}

// move tracks the position of text and its clip. A clip counts as its bounding rectangle.
func (r *reader) move(op pdffile.Operation) (err error) {
	switch string(op.Operator) {
	case "q":
		r.saved = append(r.saved, r.view)
	case "Q":
		if n := len(r.saved) - 1; n >= 0 {
			r.view, r.saved = r.saved[n], r.saved[:n]
		}
	case "cm":
		var m matrix
		m, err = matrixOf(op.Operands)
		r.view.matrix = m.then(r.view.matrix)
	case "m":
		r.path = nowhere
		err = r.extend(op.Operands)
	case "l", "c", "v", "y":
		err = r.extend(op.Operands)
	case "re":
		var v [6]float64
		v, err = pdffile.Numbers(op.Operands, 4)
		one, other := r.view.matrix.moved(v[0], v[1]).e, r.view.matrix.moved(v[0]+v[2], v[1]+v[3]).e
		r.path = span{min(one, other), max(one, other)}
	case "W", "W*":
		r.view.clip = span{max(r.view.clip.from, r.path.from), min(r.view.clip.to, r.path.to)}
	case "f", "f*":
		const ornament = 10 // points by which decorative shapes may overhang
		if r.view.clip.cuts(r.path, ornament) && r.inside.endsAt(r.view.clip) {
			r.shapeCut = true
		}
	case "BT":
		r.line = identity
	case "ET":
		if len(r.marks) == 0 { // an untagged page has no marks, so each line is a run
			r.endRun()
		}
	case "Tm":
		r.line, err = matrixOf(op.Operands)
	case "Td":
		var v [6]float64
		v, err = pdffile.Numbers(op.Operands, 2)
		r.line = r.line.moved(v[0], v[1])
	}

	return err
}

// begin opens marked content: a structural mark, which ends the run, or a span with ActualText, which is a part of it.
func (r *reader) begin(operands [][]byte) error {
	m := mark{}

	if len(operands) == 2 && bytes.HasPrefix(operands[1], []byte("<<")) {
		d, _, err := pdffile.ReadDict(operands[1])
		if err != nil {
			return err
		}

		if text := d.Get("ActualText"); text != nil {
			m.text, m.replaces = pdffile.DecodeText(text), true
		}
	}

	if !m.replaces {
		r.endRun()
	}
	r.marks = append(r.marks, m)

	return nil
}

// end ends the innermost marked content. Replacement text takes the place of what it covers.
func (r *reader) end() {
	n := len(r.marks) - 1
	if n < 0 {
		return
	}
	m := r.marks[n]

	r.marks = r.marks[:n]
	if !m.replaces {
		r.endRun()
		return
	}
	r.run = append(r.run, piece{text: m.text})
	r.note(m.text, m.missing)
}

// endRun records a misfit if the run contains one, and begins the next run.
func (r *reader) endRun() {
	if (r.outside || r.tiny > 0) && len(r.misfits) < maxFindings {
		m := Misfit{Page: r.page, Text: strings.TrimSpace(r.text(r.run))}
		if !r.outside {
			m.Size = r.tiny
		}
		r.misfits = append(r.misfits, m)
	}
	r.run = r.run[:0]
	r.outside, r.tiny = false, 0
}

// show reads the operands of Tj and TJ.
func (r *reader) show(operands [][]byte) error {
	if len(operands) != 1 {
		return pdffile.ErrObject
	}

	values := operands
	if operands[0][0] == '[' {
		var err error
		if values, err = pdffile.ReadArray(operands[0]); err != nil {
			return err
		}
	}

	var replaced *mark // the innermost mark, if it has ActualText
	if n := len(r.marks) - 1; n >= 0 && r.marks[n].replaces {
		replaced = &r.marks[n]
	}
	before := len(r.run)
	along, last := 0.0, 0.0 // the position and the start of the last glyph, in thousandths of the type size
	font := r.widthsOf(r.face.Object)

	for _, v := range values {
		if v[0] != '<' {
			shift, ok := pdffile.Decimal(v)
			if !ok {
				return pdffile.ErrObject
			}
			along -= shift
			continue
		}

		codes, ok := r.face.Codes(v)
		if !ok {
			return pdffile.ErrObject
		}

		for at := 0; at < len(codes); at += r.face.Width {
			code := int(codes[at])
			if r.face.Width == 2 {
				code = code<<8 | int(codes[at+1])
			}
			r.glyph(code, replaced)

			if r.inside != nil {
				last = along
				along += font.Of(code)
			}
		}
	}

	if r.inside != nil && !r.outside {
		visible := func() bool { return replaced != nil || strings.TrimSpace(r.text(r.run[before:])) != "" }

		r.outside = r.liesOutside(last, along) && visible()
		if size := r.height(); size < r.inside.Smallest && r.tiny == 0 && visible() {
			r.tiny = size
		}
	}

	return nil
}

// liesOutside reports whether text is outside its area. last and end are the start and the end of its last glyph.
// Both count from the start of the text, in thousandths of the type size. The start of a glyph decides: an
// overhang of less than one glyph is intended.
func (r *reader) liesOutside(last, end float64) bool {
	from := r.line.then(r.view.matrix)
	at := func(along float64) (x, y float64) {
		along *= r.size / 1000
		return from.e + along*from.a, from.f + along*from.b
	}
	lastX, lastY := at(last)
	endX, _ := at(end)
	// The advances ignore letter spacing. Negative spacing makes text narrower than they say, so allow an
	// overhang of 6 % of the type size, or 0.3 points.
	overhang := max(.3, .06*r.height())

	return r.inside.leaves(from.e, from.f) || r.inside.leaves(lastX, lastY) ||
		r.view.clip.cuts(span{min(from.e, endX), max(from.e, endX)}, overhang)
}

// height returns the type size on paper, in points.
func (r *reader) height() float64 {
	m := r.line.then(r.view.matrix)
	return r.size * math.Hypot(m.c, m.d)
}

// glyph records one glyph. Its text is the ActualText of the mark around it, or comes from the font's map.
func (r *reader) glyph(code int, replaced *mark) {
	if replaced != nil {
		replaced.missing = replaced.missing || code == 0
		return
	}

	r.run = append(r.run, piece{font: r.face.Object, code: code})
	if code == 0 || len(r.wanted) > 0 {
		r.note(r.file.TextMap(r.face.Object)[code], code == 0)
	}
}

// text returns the text of a run.
func (r *reader) text(run []piece) string {
	var b strings.Builder
	for _, p := range run {
		b.WriteString(p.text)

		if p.font > 0 {
			b.WriteString(r.file.TextMap(p.font)[p.code])
		}
	}

	return b.String()
}

// matrixOf reads the six operands of a matrix.
func matrixOf(operands [][]byte) (matrix, error) {
	v, err := pdffile.Numbers(operands, 6)
	if err != nil {
		return matrix{}, err
	}

	return matrix{v[0], v[1], v[2], v[3], v[4], v[5]}, nil
}
