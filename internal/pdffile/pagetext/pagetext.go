// Package pagetext reads the text of PDF pages of any program.
//
// A Reader follows the content stream of a page and of the forms that it draws. It decodes the shown codes by the
// font's ToUnicode map, or else by its encoding and glyph names. The distance between two glyphs decides whether a
// space or a line feed separates them. Files are hostile, so the work for one file is limited.
package pagetext

import (
	"bytes"
	"errors"
	"strings"

	"presswork/internal/pdffile"
	"presswork/internal/pdffile/parse"
)

// Limits of one file.
const (
	maxContent    = 64 << 20   // bytes of the content of one page, and of one form
	maxOperations = 20_000_000 // including the cost of unpacking, see Reader.unpack
	maxText       = 64 << 20   // bytes
	maxForms      = 12         // depth of nested forms
)

// ErrTooMuch is returned for files whose pages draw more than any real document does.
var ErrTooMuch = errors.New("the pages of the PDF draw too much")

// Reader reads the text of the pages of one file. It shares fonts between the pages, and its limits hold for all of
// them together. It is not safe for concurrent use.
type Reader struct {
	file       *pdffile.File
	fonts      map[string]*typeface
	names      glyphTexts
	operations int // so far, see spend
	written    int // bytes of text so far
}

// NewReader returns a Reader for a file, which must not change while the Reader is in use.
func NewReader(f *pdffile.File) *Reader {
	return &Reader{file: f, fonts: map[string]*typeface{}}
}

// Page returns the text of the page object with this number, in the order in which the page draws it. This is the
// reading order in tagged files. Lines end with a line feed. A page without text gives "". Damaged parts of a page
// have no text. Errors: ErrTooMuch, and a damaged page object.
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

// unpack unpacks a stream. 100 bytes count as one operation, because a page may draw one stream many times. Errors:
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

// spend counts operations. It returns ErrTooMuch after maxOperations.
func (r *Reader) spend(operations int) error {
	if r.operations += operations; r.operations > maxOperations {
		return ErrTooMuch
	}

	return nil
}

// tidy removes soft hyphens, spaces at the ends of lines, and empty lines at the start and the end. It ends the text
// with one line feed.
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

// value follows a reference, and references to references up to eight times, because they may form a cycle.
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

// array returns the elements of an array, or nil.
func (r *Reader) array(value []byte) [][]byte {
	if value = r.value(value); value == nil {
		return nil
	}
	values, _ := pdffile.ReadArray(value)

	return values
}

// state is the part of the graphics state that text depends on.
type state struct {
	ctm  matrix // from user space to the page
	font *typeface
	size float64 // of the font
	// char and word are the spacing after characters and spaces, lead is the distance of lines, wide the horizontal
	// scale: 1 is normal.
	char, word, lead, wide float64
}

// painter collects the text of one page.
type painter struct {
	reader *Reader
	out    strings.Builder
	// lastX, lastY is where the last text ended; lastSize is its height. The unit is that of the page.
	lastX, lastY, lastSize float64
	// replaced is the number of open marks whose ActualText replaces the text of their glyphs.
	replaced int
}

// run reads the content of the page.
func (p *painter) run(content []byte, resources pdffile.Dict, depth int) error {
	now := state{ctm: unit, wide: 1}
	return p.runFrom(now, content, resources, depth)
}

// runFrom reads a content stream that begins with the graphics state now. depth is the number of forms around it.
func (p *painter) runFrom(now state, content []byte, resources pdffile.Dict, depth int) error {
	c := &canvas{painter: p, state: now, resources: resources, depth: depth, text: unit, line: unit}
	return parse.EachOperation(content, c.visit)
}
