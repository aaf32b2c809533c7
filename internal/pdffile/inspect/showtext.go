package inspect

import (
	"bytes"
	"encoding/hex"
	"math"
	"strings"

	"presswork/internal/pdffile"
)

// matrix is a transformation: x' = a·x + c·y + e, y' = b·x + d·y + f.
type matrix struct{ a, b, c, d, e, f float64 }

var identity = matrix{a: 1, d: 1}

// then is the transformation that does m first.
func (m matrix) then(n matrix) matrix {
	return matrix{
		m.a*n.a + m.b*n.c, m.a*n.b + m.b*n.d,
		m.c*n.a + m.d*n.c, m.c*n.b + m.d*n.d,
		m.e*n.a + m.f*n.c + n.e, m.e*n.b + m.f*n.d + n.f,
	}
}

func (m matrix) moved(x, y float64) matrix { return matrix{1, 0, 0, 1, x, y}.then(m) }

// span is from where to where something reaches, in points from the left.
type span struct{ from, to float64 }

var (
	everywhere = span{math.Inf(-1), math.Inf(1)}
	nowhere    = span{math.Inf(1), math.Inf(-1)}
)

// cuts reports whether an edge of s goes through what reaches over t, so that more
// than overhang points of it are gone.
func (s span) cuts(t span, overhang float64) bool {
	return t.from < s.to && t.to > s.to+overhang || t.to > s.from && t.from < s.from-overhang
}

// view is what q saves and Q restores.
type view struct {
	matrix matrix
	clip   span
}

// reader is the state of going through one content stream.
type reader struct {
	*inspector
	page   int
	faces  map[string]pdffile.Face
	inside *Area // nil: text may lie anywhere

	view  view
	saved []view // by q
	path  span   // what the path being built spans
	line  matrix // of the text
	face  pdffile.Face
	size  float64 // of the font
	marks []mark  // the open ones
	// run is what was shown since the last mark of structure, for messages.
	run     []piece
	outside bool    // some of run lies outside
	tiny    float64 // the size of what of run is too small to read; 0: nothing is
	// shapeCut reports that a shape is cut off where the column ends. Skia leaves out
	// the letters beyond, and maybe all that would be cut.
	shapeCut bool
}

// piece is a glyph's code in a font, or the text of a span.
type piece struct {
	font, code int
	text       string
}

type mark struct {
	text string
	// replaces reports that text stands for what is shown, missing that some of
	// that is glyph 0.
	replaces, missing bool
}

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

// extend widens the path to further points: those of a curve that it does not
// reach as well.
func (r *reader) extend(points [][]byte) error {
	v, err := pdffile.Numbers(points, len(points)&^1)
	for i := 0; i+1 < len(points) && err == nil; i += 2 {
		x := r.view.matrix.moved(v[i], v[i+1]).e
		r.path = span{min(r.path.from, x), max(r.path.to, x)}
	}

	return err
}

// move follows where text is shown, and what clips it. A clip counts as the
// rectangle around it.
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
		const ornament = 10 // points that shapes may hang over on purpose
		if r.view.clip.cuts(r.path, ornament) && r.inside.endsAt(r.view.clip) {
			r.shapeCut = true
		}
	case "BT":
		r.line = identity
	case "ET":
		if len(r.marks) == 0 { // an untagged page: a line is all there is
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

// begin opens a marked content: a piece of the structure, or a span with its
// ActualText.
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

// endRun files what was shown since the last call.
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

	var replaced *mark // whose text stands for the glyphs
	if n := len(r.marks) - 1; n >= 0 && r.marks[n].replaces {
		replaced = &r.marks[n]
	}
	before, along, last := len(r.run), 0.0, 0.0
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

		codes := make([]byte, hex.DecodedLen(len(v)-2))
		if _, err := hex.Decode(codes, v[1:len(v)-1]); err != nil || r.face.Width == 0 || len(codes)%r.face.Width != 0 {
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
		seen := func() bool { return replaced != nil || strings.TrimSpace(r.text(r.run[before:])) != "" }

		r.outside = r.liesOutside(last, along) && seen()
		if size := r.height(); size < r.inside.Smallest && r.tiny == 0 && seen() {
			r.tiny = size
		}
	}

	return nil
}

// liesOutside reports whether text is outside its area. last and end are the start and the end of its last glyph
// from the start of the text, in thousandths of its size. A glyph counts at its start: an overhang of less than
// one glyph is intended.
func (r *reader) liesOutside(last, end float64) bool {
	from := r.line.then(r.view.matrix)
	at := func(along float64) (x, y float64) {
		along *= r.size / 1000
		return from.e + along*from.a, from.f + along*from.b
	}
	lastX, lastY := at(last)
	endX, _ := at(end)
	// Advances do not know of letters set closer than the font has them.
	overhang := max(.3, .06*r.height())

	return r.inside.leaves(from.e, from.f) || r.inside.leaves(lastX, lastY) ||
		r.view.clip.cuts(span{min(from.e, endX), max(from.e, endX)}, overhang)
}

// height is the size of the type on paper, in points.
func (r *reader) height() float64 {
	m := r.line.then(r.view.matrix)
	return r.size * math.Hypot(m.c, m.d)
}

// glyph takes in one glyph. Inside a span with its ActualText, that is the text
// it stands for; else its font's map has it.
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

// text is that of a run.
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

func matrixOf(operands [][]byte) (matrix, error) {
	v, err := pdffile.Numbers(operands, 6)
	if err != nil {
		return matrix{}, err
	}

	return matrix{v[0], v[1], v[2], v[3], v[4], v[5]}, nil
}
