// Package pagetext reads the text of PDF pages of any program.
package pagetext

import (
	"bytes"
	"errors"
	"math"
	"strings"

	"presswork/internal/pdffile"
	"presswork/internal/pdffile/parse"
)

// Limits of one file.
const (
	maxContent    = 64 << 20 // bytes of the content of one page
	maxOperations = 20_000_000
	maxText       = 64 << 20 // bytes
	maxForms      = 12       // nested forms
)

// ErrTooMuch is returned for files whose pages draw more than any real document does.
var ErrTooMuch = errors.New("the pages of the PDF draw too much")

// Reader reads the text of the pages of one file.
type Reader struct {
	file       *pdffile.File
	fonts      map[string]*typeface
	names      glyphTexts
	operations int
	written    int
}

// NewReader returns a Reader for a file.
func NewReader(f *pdffile.File) *Reader {
	return &Reader{file: f, fonts: map[string]*typeface{}}
}

// Page returns the text of a page object in the order in which the page draws it, which is the reading order in
// tagged files. Lines end with a line feed. Errors: ErrTooMuch.
func (r *Reader) Page(number int) (string, error) {
	page, _, err := pdffile.ReadDict(r.file.Objects[number])
	if err != nil {
		return "", err
	}
	p := &painter{reader: r}

	var content bytes.Buffer

	for _, part := range r.contents(page.Get("Contents")) {
		stream, err := r.unpack(r.value(part), maxContent-content.Len())
		if errors.Is(err, ErrTooMuch) {
			return "", err
		}

		if err != nil {
			continue // a damaged part has no text
		}
		content.Write(stream)
		content.WriteByte('\n')
	}

	if err := p.run(content.Bytes(), r.dict(page.Get("Resources")), 0); err != nil {
		return "", err
	}

	return tidy(p.out.String()), nil
}

// unpack unpacks a stream. Its size counts as operations, because a page may draw one stream many times. Errors:
// ErrTooMuch, and those of damaged streams.
func (r *Reader) unpack(object []byte, limit int) ([]byte, error) {
	content, err := parse.Unpack(r.file, object, limit)
	if errors.Is(err, parse.ErrTooLarge) {
		return nil, ErrTooMuch
	}

	if spent := r.spend(1 + (len(object)+len(content))/100); spent != nil {
		return nil, spent
	}

	return content, err
}

// spend counts operations.
func (r *Reader) spend(operations int) error {
	if r.operations += operations; r.operations > maxOperations {
		return ErrTooMuch
	}

	return nil
}

// tidy removes spaces at the ends of lines, and soft hyphens.
func tidy(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\u00ad", "")
	lines := strings.Split(text, "\n")

	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t\r")
	}

	if text = strings.Trim(strings.Join(lines, "\n"), "\n"); text == "" {
		return ""
	}

	return text + "\n"
}

// contents returns the content streams of a page.
func (r *Reader) contents(value []byte) [][]byte {
	if pdffile.IsStream(r.value(value)) {
		return [][]byte{value}
	}
	parts, _ := pdffile.ReadArray(r.value(value))

	return parts
}

// value follows a reference.
func (r *Reader) value(value []byte) []byte {
	for range 8 {
		n, ok := r.file.Object(value)
		if !ok {
			break
		}
		value = r.file.Objects[n]
	}

	return value
}

// dict reads a dictionary, the one of a stream included. It is nil for anything else.
func (r *Reader) dict(value []byte) pdffile.Dict {
	d, _, err := pdffile.ReadDict(r.value(value))
	if err != nil {
		return nil
	}

	return d
}

func (r *Reader) array(value []byte) [][]byte {
	if value = r.value(value); value == nil {
		return nil
	}
	values, _ := pdffile.ReadArray(value)

	return values
}

// matrix is a transformation (ISO 32000-2, 8.3.3).
type matrix [6]float64

var unit = matrix{1, 0, 0, 1, 0, 0}

// times returns the transformation that applies m and then n.
func (m matrix) times(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// state is the part of the graphics state that text depends on.
type state struct {
	ctm                          matrix
	font                         *typeface
	size, char, word, lead, wide float64
}

// painter collects the text of one page.
type painter struct {
	reader *Reader
	out    strings.Builder
	// lastX, lastY is where the last text ended; lastSize is its height.
	lastX, lastY, lastSize float64
	// actual is the number of open marks whose text is replaced.
	actual int
}

// run interprets a content stream.
func (p *painter) run(content []byte, resources pdffile.Dict, depth int) error {
	now := state{ctm: unit, wide: 1}
	return p.runFrom(now, content, resources, depth)
}

func (p *painter) runFrom(now state, content []byte, resources pdffile.Dict, depth int) error {
	c := &canvas{painter: p, state: now, resources: resources, depth: depth, text: unit, line: unit}
	return parse.EachOperation(content, c.visit)
}

// canvas is a content stream that is being read.
type canvas struct {
	*painter
	state
	saved      []state
	resources  pdffile.Dict
	depth      int
	text, line matrix
	// marks holds for each open mark whether it replaces its text.
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

func readMatrix(operands [][]byte) (m matrix) {
	for i := range m {
		m[i] = number(operands, i)
	}

	return m
}

func (c *canvas) visit(op parse.Operation) error {
	if err := c.reader.spend(1); err != nil {
		return err
	}
	args := op.Operands

	switch op.Operator {
	case "q":
		if len(c.saved) < 1000 {
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
		c.next(number(args, 0), number(args, 1))
	case "TD":
		c.lead = -number(args, 1)
		c.next(number(args, 0), number(args, 1))
	case "Tm":
		c.line = readMatrix(args)
		c.text = c.line
	case "T*":
		c.next(0, -c.lead)
	case "'":
		c.next(0, -c.lead)
		return c.show(args)
	case "\"":
		c.word, c.char = number(args, 0), number(args, 1)
		c.next(0, -c.lead)

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
				c.actual--
			}
			c.marks = c.marks[:n-1]
		}
	}

	return nil
}

func (c *canvas) next(x, y float64) {
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
			if c.actual == 0 {
				c.place()
				c.write(pdffile.DecodeText(c.reader.value(text)))
			}
			replaces = true
			c.actual++
		}
	}
	c.marks = append(c.marks, replaces)
}

// draw reads a form.
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
		v, _ := pdffile.Decimal(part)
		c.advance(-v / 1000 * c.size * c.wide)
	}

	return nil
}

// advance moves the text position along the line.
func (c *canvas) advance(x float64) { c.text = matrix{1, 0, 0, 1, x, 0}.times(c.text) }

// show writes a string, after the space or line feed that its distance from the last text stands for.
func (c *canvas) show(args [][]byte) error {
	if len(args) != 1 || c.font == nil {
		return nil
	}
	raw := pdffile.StringBytes(args[0])

	for _, g := range c.font.glyphs(raw) {
		if c.actual == 0 && g.text != "" {
			c.place()
			c.write(g.text)
		}
		width := g.width*c.size + c.char

		if g.space {
			width += c.word
		}
		c.advance(width * c.wide)

		if c.actual == 0 || g.text != "" {
			at := c.text.times(c.ctm)
			c.lastX, c.lastY = at[4], at[5]
		}
	}

	if c.reader.written > maxText {
		return ErrTooMuch
	}

	return nil
}

func (c *canvas) write(text string) {
	c.out.WriteString(text)
	c.reader.written += len(text)
}

// place writes a line feed or a space if the next glyph does not follow the last one.
func (c *canvas) place() {
	at := c.text.times(c.ctm)
	// The direction of the line, and the height of the letters.
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

	switch {
	case last == '\n':
	case math.Abs(dy) > 0.6*size:
		c.out.WriteByte('\n')

		const paragraph = 2.2 // line heights
		if math.Abs(dy) > paragraph*size {
			c.out.WriteByte('\n')
		}
	case (dx > 0.16*size || dx < -1.5*size) && last != ' ':
		c.out.WriteByte(' ')
	}
}
