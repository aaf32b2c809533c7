package pdf

import (
	"bytes"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
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

var everywhere = span{math.Inf(-1), math.Inf(1)}

// cuts tells whether an edge of s goes through what reaches over t, leaving some
// of it; a point of overhang does not count.
func (s span) cuts(t span) bool {
	return t.from < s.to && t.to > s.to+1 || t.to > s.from && t.from < s.from-1
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
	faces  map[string]face
	inside *area // nil: nobody asks where text lies

	view  view
	saved []view // by q
	path  span   // what the path being built spans
	line  matrix // of the text
	face  face
	size  float64 // of the font
	marks []mark  // the open ones
	// run is the text since the last mark of structure, for messages.
	run     strings.Builder
	outside bool // some of run lies outside
}

type mark struct {
	text string
	// replaces says that text stands for what is shown, missing that some of
	// that is glyph 0.
	replaces, missing bool
}

func (r *reader) operation(op operation) error {
	switch op.operator {
	case "Tf":
		if len(op.operands) != 2 {
			return errObject
		}
		r.face = r.faces[string(op.operands[0][1:])]
		size, err := strconv.ParseFloat(string(op.operands[1]), 64)
		if err != nil {
			return errObject
		}
		r.size = size
	case "Tj", "TJ":
		return r.show(op.operands)
	case "BDC", "BMC":
		return r.begin(op.operands)
	case "EMC":
		r.end()
	default:
		if r.inside != nil {
			return r.move(op)
		}
	}
	return nil
}

// move follows where text is shown, and what clips it. Only a clip that is a
// rectangle is known by its sides.
func (r *reader) move(op operation) (err error) {
	switch op.operator {
	case "q":
		r.saved = append(r.saved, r.view)
	case "Q":
		if n := len(r.saved) - 1; n >= 0 {
			r.view, r.saved = r.saved[n], r.saved[:n]
		}
	case "cm":
		var m matrix
		m, err = matrixOf(op.operands)
		r.view.matrix = m.then(r.view.matrix)
	case "m":
		r.path = everywhere
	case "re":
		var v [6]float64
		v, err = numbers(op.operands, 4)
		one, other := r.view.matrix.moved(v[0], v[1]).e, r.view.matrix.moved(v[0]+v[2], v[1]+v[3]).e
		r.path = span{min(one, other), max(one, other)}
	case "W", "W*":
		r.view.clip = span{max(r.view.clip.from, r.path.from), min(r.view.clip.to, r.path.to)}
	case "BT":
		r.line = identity
	case "Tm":
		r.line, err = matrixOf(op.operands)
	case "Td":
		var v [6]float64
		v, err = numbers(op.operands, 2)
		r.line = r.line.moved(v[0], v[1])
	}
	return err
}

// begin opens a marked content: a piece of the structure, or a span with its
// ActualText.
func (r *reader) begin(operands [][]byte) error {
	m := mark{}
	if len(operands) == 2 && bytes.HasPrefix(operands[1], []byte("<<")) {
		d, _, err := readDict(operands[1])
		if err != nil {
			return err
		}
		if text := d.get("ActualText"); text != nil {
			m.text, m.replaces = decodeText(text), true
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
	r.run.WriteString(m.text)
	r.note(m.text, m.missing)
}

// endRun files what was shown since the last call.
func (r *reader) endRun() {
	if r.outside && len(r.beyond) < maxFindings {
		r.inspector.beyond = append(r.inspector.beyond, beyond{r.page, strings.TrimSpace(r.run.String())})
	}
	r.run.Reset()
	r.outside = false
}

// show reads the operands of Tj and TJ.
func (r *reader) show(operands [][]byte) error {
	if len(operands) != 1 {
		return errObject
	}
	values := operands
	if operands[0][0] == '[' {
		var err error
		if values, err = readArray(operands[0]); err != nil {
			return err
		}
	}
	var told *mark // what tells the text in place of the glyphs
	if n := len(r.marks) - 1; n >= 0 && r.marks[n].replaces {
		told = &r.marks[n]
	}
	before, along, last := r.run.Len(), 0.0, 0.0
	for _, v := range values {
		if v[0] != '<' {
			shift, err := strconv.ParseFloat(string(v), 64)
			if err != nil {
				return errObject
			}
			along -= shift
			continue
		}
		codes := make([]byte, hex.DecodedLen(len(v)-2))
		if _, err := hex.Decode(codes, v[1:len(v)-1]); err != nil || r.face.width == 0 || len(codes)%r.face.width != 0 {
			return errObject
		}
		for at := 0; at < len(codes); at += r.face.width {
			code := int(codes[at])
			if r.face.width == 2 {
				code = code<<8 | int(codes[at+1])
			}
			r.glyph(code, told)
			if r.inside != nil {
				last = along
				along += r.widthsOf(r.face.object).of(code)
			}
		}
	}
	if r.inside == nil || told == nil && strings.TrimSpace(r.run.String()[before:]) == "" {
		return nil
	}
	r.place(last, along)
	return nil
}

// place tells whether text lies where it should, given how far from its start
// its last glyph begins and ends, in thousandths of its size. A glyph counts as
// where it begins: what hangs over its area by less than one does so on purpose.
func (r *reader) place(last, end float64) {
	from := r.line.then(r.view.matrix)
	at := func(along float64) (x, y float64) {
		along *= r.size / 1000
		return from.e + along*from.a, from.f + along*from.b
	}
	lastX, lastY := at(last)
	endX, _ := at(end)
	r.outside = r.outside || r.inside.leaves(from.e, from.f) || r.inside.leaves(lastX, lastY) ||
		r.view.clip.cuts(span{min(from.e, endX), max(from.e, endX)})
}

// glyph takes in one glyph. Inside a span with its ActualText, that tells what
// it stands for; else its font's map does.
func (r *reader) glyph(code int, told *mark) {
	if told != nil {
		told.missing = told.missing || code == 0
		return
	}
	text := r.textMap(r.face.object)[code]
	r.run.WriteString(text)
	r.note(text, code == 0)
}

func matrixOf(operands [][]byte) (matrix, error) {
	v, err := numbers(operands, 6)
	if err != nil {
		return matrix{}, err
	}
	return matrix{v[0], v[1], v[2], v[3], v[4], v[5]}, nil
}

func numbers(operands [][]byte, want int) (values [6]float64, err error) {
	if len(operands) != want {
		return values, errObject
	}
	for i, o := range operands {
		if values[i], err = strconv.ParseFloat(string(o), 64); err != nil {
			return values, errObject
		}
	}
	return values, nil
}
