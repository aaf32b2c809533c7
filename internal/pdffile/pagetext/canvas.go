package pagetext

import (
	"bytes"
	"errors"
	"math"

	"presswork/internal/pdffile"
	"presswork/internal/pdffile/parse"
)

// matrix is a transformation (ISO 32000-2, 8.3.3).
type matrix [6]float64

// unit is the matrix that changes nothing.
var unit = matrix{1, 0, 0, 1, 0, 0}

// times returns the transformation that applies m and then n.
func (m matrix) times(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// maxSaved limits the states that q saves in one content stream.
const maxSaved = 1000

// canvas is a content stream that is being read.
type canvas struct {
	*painter
	state
	saved      []state // states that q has saved
	resources  pdffile.Dict
	depth      int    // of nested forms
	text, line matrix // the text matrix and the line matrix
	// marks holds for each open mark whether its ActualText replaces the text of its glyphs.
	marks []bool
}

// number reads an operand; it is 0 if missing or malformed.
func number(operands [][]byte, i int) float64 {
	if i >= len(operands) {
		return 0
	}
	v, _ := pdffile.Decimal(operands[i])

	return v
}

// readMatrix reads a matrix. Missing operands are 0.
func readMatrix(operands [][]byte) (m matrix) {
	for i := range m {
		m[i] = number(operands, i)
	}

	return m
}

// visit follows an operation of the content stream. Malformed operations are ignored.
func (c *canvas) visit(op parse.Operation) error {
	if err := c.reader.spend(1); err != nil {
		return err
	}
	args := op.Operands

	switch op.Operator {
	case "q":
		// Limit the memory of a stream that only repeats q. A deeper q is ignored.
		if len(c.saved) < maxSaved {
			c.saved = append(c.saved, c.state)
		}
	case "Q":
		if n := len(c.saved); n > 0 {
			c.state, c.saved = c.saved[n-1], c.saved[:n-1]
		}
	case "cm":
		c.ctm = readMatrix(args).times(c.ctm)
	case "BT":
		c.text, c.line = unit, unit
	case "Tf":
		if len(args) == 2 {
			c.font, c.size = c.reader.font(c.resources, args[0]), number(args, 1)
		}
	case "Tc":
		c.char = number(args, 0)
	case "Tw":
		c.word = number(args, 0)
	case "Tz":
		c.wide = number(args, 0) / 100
	case "TL":
		c.lead = number(args, 0)
	case "Td":
		c.nextLine(number(args, 0), number(args, 1))
	case "TD":
		c.lead = -number(args, 1)
		c.nextLine(number(args, 0), number(args, 1))
	case "Tm":
		c.line = readMatrix(args)
		c.text = c.line
	case "T*":
		c.nextLine(0, -c.lead)
	case "'":
		c.nextLine(0, -c.lead)
		return c.show(args)
	case "\"":
		c.word, c.char = number(args, 0), number(args, 1)
		c.nextLine(0, -c.lead)

		if len(args) == 3 {
			return c.show(args[2:])
		}
	case "Tj":
		return c.show(args)
	case "TJ":
		return c.showAll(args)
	case "Do":
		return c.draw(args)
	case "BMC", "BDC":
		c.begin(args)
	case "EMC":
		if n := len(c.marks); n > 0 {
			if c.marks[n-1] {
				c.replaced--
			}
			c.marks = c.marks[:n-1]
		}
	}

	return nil
}

// nextLine moves to the start of the next line, which is x, y from the start of this one.
func (c *canvas) nextLine(x, y float64) {
	c.line = matrix{1, 0, 0, 1, x, y}.times(c.line)
	c.text = c.line
}

// begin opens a mark. A mark with ActualText shows that text instead of its own.
func (c *canvas) begin(args [][]byte) {
	replaces := false

	if len(args) == 2 {
		properties := c.reader.dict(args[1])
		if name, ok := bytes.CutPrefix(args[1], []byte("/")); ok {
			properties = c.reader.dict(c.reader.dict(c.resources.Get("Properties")).Get(string(name)))
		}

		if text := properties.Get("ActualText"); text != nil {
			if c.replaced == 0 {
				c.separate()
				c.write(pdffile.DecodeText(c.reader.value(text)))
			}
			replaces = true
			c.replaced++
		}
	}
	c.marks = append(c.marks, replaces)
}

// draw reads the text of a form (ISO 32000-2, 8.10). It ignores forms that are damaged, or nested more than maxForms
// deep. Errors: ErrTooMuch.
func (c *canvas) draw(args [][]byte) error {
	if len(args) != 1 || c.depth >= maxForms || len(args[0]) < 2 {
		return nil
	}
	object := c.reader.value(c.reader.dict(c.resources.Get("XObject")).Get(string(args[0][1:])))
	form := c.reader.dict(object)

	if !pdffile.IsStream(object) || string(form.Get("Subtype")) != "/Form" {
		return nil
	}

	content, err := c.reader.unpack(object, maxContent)
	if errors.Is(err, ErrTooMuch) {
		return err
	}

	if err != nil {
		return nil
	}
	inner := c.state

	if m := c.reader.array(form.Get("Matrix")); len(m) == 6 {
		inner.ctm = readMatrix(m).times(inner.ctm)
	}
	resources := c.resources

	if own := form.Get("Resources"); own != nil {
		resources = c.reader.dict(own)
	}

	return c.runFrom(inner, content, resources, c.depth+1)
}

// showAll shows the strings of a TJ array, with the moves between them.
func (c *canvas) showAll(args [][]byte) error {
	if len(args) != 1 {
		return nil
	}

	parts, err := pdffile.ReadArray(args[0])
	if err != nil {
		return nil
	}

	for _, part := range parts {
		if len(part) > 0 && (part[0] == '(' || part[0] == '<') {
			if err := c.show([][]byte{part}); err != nil {
				return err
			}
			continue
		}
		// A number moves back by thousandths of the font size.
		v, _ := pdffile.Decimal(part)
		c.advance(-v / 1000 * c.size * c.wide)
	}

	return nil
}

// advance moves the text position along the line.
func (c *canvas) advance(x float64) { c.text = matrix{1, 0, 0, 1, x, 0}.times(c.text) }

// show writes a string. Before a glyph that does not follow the last one, it writes a space or a line feed.
func (c *canvas) show(args [][]byte) error {
	if len(args) != 1 || c.font == nil {
		return nil
	}
	raw := pdffile.StringBytes(args[0])

	for _, g := range c.font.glyphs(raw) {
		if c.replaced == 0 && g.text != "" {
			c.separate()
			c.write(g.text)
		}
		width := g.width*c.size + c.char

		if g.space {
			width += c.word
		}
		c.advance(width * c.wide)

		// A mark with ActualText ends where its last glyph with text ends.
		if c.replaced == 0 || g.text != "" {
			at := c.text.times(c.ctm)
			c.lastX, c.lastY = at[4], at[5]
		}
	}

	if c.reader.written > maxText {
		return ErrTooMuch
	}

	return nil
}

// write appends text and counts it. Separators are not counted.
func (c *canvas) write(text string) {
	c.out.WriteString(text)
	c.reader.written += len(text)
}

// separate writes a line feed or a space if the next glyph does not follow the last one.
func (c *canvas) separate() {
	at := c.text.times(c.ctm)
	// The height of the letters, and the length of a unit along the line.
	height := math.Hypot(at[2], at[3]) * math.Abs(c.size)
	along := math.Hypot(at[0], at[1])
	dx, dy := at[4]-c.lastX, at[5]-c.lastY

	if along > 0 {
		dx, dy = (dx*at[0]+dy*at[1])/along, (dy*at[0]-dx*at[1])/along
	}
	size := max(height, c.lastSize)
	c.lastSize = height

	if c.out.Len() == 0 || size == 0 {
		return
	}
	text := c.out.String()
	last := text[len(text)-1]

	// A step of more than 0.6 letter heights across the line begins a new line. A gap of more than 0.16 heights along the
	// line is a space. So is a step back by 1.5 heights, for example between cells of a table; kerning moves back by less.
	switch {
	case last == '\n':
	case math.Abs(dy) > 0.6*size:
		c.out.WriteByte('\n')

		const paragraph = 2.2 // letter heights
		if math.Abs(dy) > paragraph*size {
			c.out.WriteByte('\n')
		}
	case (dx > 0.16*size || dx < -1.5*size) && last != ' ':
		c.out.WriteByte(' ')
	}
}
