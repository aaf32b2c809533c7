package pdffile

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// maxContent limits one unpacked content stream, in bytes. Chromium's pages stay below a few megabytes; a drawing
// of a million paths takes 50.
const maxContent = 256 << 20

// Operation is one step of a content stream (ISO 32000-1, 7.8.2): its operands, then its operator.
type Operation struct {
	Operands [][]byte
	Operator []byte
	// Start is the offset of its first operand in the content, in bytes. Without operands it is that of the operator.
	Start int
}

// EachOperation calls visit for each operation of an unpacked content stream of Chromium. The operands are parts of
// content, and their list is reused by the next operation. EachOperation stops at the first error of visit and
// returns it. Other errors wrap ErrObject.
func EachOperation(content []byte, visit func(Operation) error) error {
	var op Operation
	op.Start = -1

	for at := 0; ; {
		for at < len(content) && (content[at] == '\n' || content[at] == ' ') {
			at++
		}

		if at == len(content) {
			return nil
		}

		n := TokenLength(content[at:]) // content streams hold no references
		if n == 0 {
			// A delimiter: a name, string, array or dictionary.
			var err error
			if n, err = valueLength(content[at:]); err != nil {
				return err
			}
		}

		if op.Start < 0 {
			op.Start = at
		}
		value := content[at : at+n]
		at += n

		if !isOperator(value) {
			op.Operands = append(op.Operands, value)
			continue
		}

		op.Operator = value
		if err := visit(op); err != nil {
			return err
		}
		op.Operands, op.Start = op.Operands[:0], -1
	}
}

// isOperator reports whether a token of a content stream is an operator, and not an operand. In ASCII, numbers, names
// and the delimiters "(" and "<" come before the letters.
func isOperator(value []byte) bool {
	switch c := value[0]; {
	case c == '\'' || c == '"':
		return true
	case c < 'A' || c == '[':
		return false
	}

	switch string(value) {
	case "true", "false", "null":
		return false
	}

	return true
}

// Canvas is a page or a form XObject: an object with content and resources.
type Canvas struct {
	Number int // object number
	Dict   Dict
	Form   bool
	// Content is the number of the stream object that holds the content. For a form it equals Number.
	Content int
	// Faces are the fonts in its resources, by name.
	Faces map[string]Face
	// Forms are the object numbers of the tagged forms in its resources, by name.
	Forms map[string]int
	// Tagged is true if the canvas, or a form that it draws, has tagged content.
	Tagged bool
}

// Face is a font in the resources of a canvas.
type Face struct {
	Object int // object number
	Width  int // bytes of one glyph code: 1, or 2 in a composite font
}

// Canvases returns all pages and forms of the file, in the order of their object numbers. The error wraps ErrObject: a
// page without content, or resources that are not as Chromium writes them.
func (f *File) Canvases() ([]Canvas, error) {
	var found []Canvas

	for n, o := range f.Objects {
		page, form := bytes.HasPrefix(o, []byte("<</Type /Page\n")), isForm(o)
		if !page && !form {
			continue
		}

		d, _, err := ReadDict(o)
		if err != nil {
			return nil, err
		}

		c := Canvas{Number: n, Dict: d, Form: form, Content: n, Tagged: d.Get("StructParents") != nil}
		if page {
			contents, err := ReadArray(d.Get("Contents"))
			if err != nil {
				return nil, err
			}

			// Passes add streams for banners and crop marks in pairs, one before and one after the page's own.
			var ok bool
			if len(contents) > 0 {
				c.Content, ok = f.Object(contents[len(contents)/2])
			}

			if !ok {
				return nil, fmt.Errorf("page %d: %w", n, ErrObject)
			}
		}

		if err := f.resources(&c, d.Get("Resources")); err != nil {
			return nil, err
		}
		found = append(found, c)
	}
	spreadTagged(found)

	return found, nil
}

// spreadTagged sets Tagged for canvases that draw a tagged form, at any depth, and removes untagged forms from Forms.
// It repeats until nothing changes, because the file lists forms in any order.
func spreadTagged(all []Canvas) {
	tagged := map[int]bool{}

	for changed := true; changed; {
		changed = false

		for i := range all {
			c := &all[i]
			for _, n := range c.Forms {
				c.Tagged = c.Tagged || tagged[n]
			}

			if c.Tagged && c.Form && !tagged[c.Number] {
				tagged[c.Number], changed = true, true
			}
		}
	}

	for i := range all {
		for name, n := range all[i].Forms {
			if !tagged[n] {
				delete(all[i].Forms, name)
			}
		}
	}
}

// isForm reports whether an object is a form XObject. It compares bytes, because Skia always writes Type and Subtype
// first.
func isForm(o []byte) bool {
	return bytes.HasPrefix(o, []byte("<</Type /XObject\n/Subtype /Form\n")) && IsStream(o)
}

// resources reads which fonts and forms the canvas can name.
func (f *File) resources(c *Canvas, value []byte) error {
	c.Faces, c.Forms = map[string]Face{}, map[string]int{}

	if value == nil {
		return nil
	}

	all, err := f.Dictionary(value)
	if err != nil {
		return err
	}

	for _, kind := range []string{"Font", "XObject"} {
		if all.Get(kind) == nil {
			continue
		}

		named, err := f.Dictionary(all.Get(kind))
		if err != nil {
			return err
		}

		for _, entry := range named {
			n, ok := f.Object(entry.Value)
			if !ok {
				return fmt.Errorf("resource %s: %w", entry.Key, ErrObject)
			}

			switch o := f.Objects[n]; {
			case kind == "XObject":
				if isForm(o) {
					c.Forms[entry.Key] = n
				}
			case bytes.Contains(o, []byte("/Subtype /Type0\n")):
				c.Faces[entry.Key] = Face{n, 2}
			default:
				c.Faces[entry.Key] = Face{n, 1}
			}
		}
	}

	return nil
}

// Dictionary reads value as a dictionary or as a reference to one. Changes to it do not reach the file; see SetEntry.
// Errors: ErrObject.
func (f *File) Dictionary(value []byte) (Dict, error) {
	if n, ok := Reference(value); ok {
		if n >= len(f.Objects) {
			return nil, ErrObject
		}
		value = f.Objects[n]
	}
	d, _, err := ReadDict(value)

	return d, err
}

// Stream returns the dictionary and the unpacked content of a stream object. Content that is not packed is a part of
// the object, so the caller must not change it. Errors: ErrObject for any other object or filter, damaged data, and
// content of more than 256 MiB.
func (f *File) Stream(number int) (d Dict, content []byte, err error) {
	d, rest, err := ReadDict(f.Objects[number])
	if err != nil {
		return nil, nil, err
	}

	content, ok := bytes.CutPrefix(rest, []byte(" stream\n"))
	if ok {
		content, ok = bytes.CutSuffix(content, []byte("\nendstream"))
	}

	if !ok {
		return nil, nil, fmt.Errorf("stream %d: %w", number, ErrObject)
	}

	switch filter := d.Get("Filter"); {
	case filter == nil:
		return d, content, nil
	case string(filter) != "/FlateDecode":
		return nil, nil, fmt.Errorf("stream %d: %w", number, ErrObject)
	}

	if content, err = f.inflate(content); err != nil {
		return nil, nil, fmt.Errorf("stream %d: %w", number, err)
	}

	return d, content, nil
}

// inflate unpacks a stream. All streams share one reader, because creating a reader takes as long as unpacking a
// page.
func (f *File) inflate(packed []byte) ([]byte, error) {
	in := bytes.NewReader(packed)
	if f.unpacker == nil {
		z, err := zlib.NewReader(in)
		if err != nil {
			return nil, err
		}
		f.unpacker = z
	} else if err := f.unpacker.(zlib.Resetter).Reset(in, nil); err != nil { // documented for zlib.NewReader
		return nil, err
	}
	const usual = 6 // a page of text packs to a sixth of its size
	out := bytes.NewBuffer(make([]byte, 0, usual*len(packed)+bytes.MinRead))

	_, err := out.ReadFrom(io.LimitReader(f.unpacker, maxContent+1))
	if err == nil && out.Len() > maxContent {
		err = errors.New("the content is too large")
	}

	return out.Bytes(), err
}

// SetStream replaces an object by a stream with the dictionary d and the given content, which SetStream packs. It sets
// the entries Filter and Length, also in the caller's d.
func (f *File) SetStream(number int, d Dict, content []byte) {
	d.Set("Filter", "/FlateDecode")
	f.Objects[number] = NewStream(d, f.Deflate(content))
}

// NewStream returns a stream object with the dictionary d and its length. The content must be as the Filter of d says,
// and plain if there is none.
func NewStream(d Dict, content []byte) []byte {
	d.Set("Length", strconv.Itoa(len(content)))
	return bytes.Join([][]byte{d.Bytes(), []byte(" stream\n"), content, []byte("\nendstream")}, nil)
}

// ShowsNotdef reports whether the content shows glyph 0. Fonts draw it for a character that they do not have. content
// is the unpacked content of the canvas. Errors: ErrObject.
func (c Canvas) ShowsNotdef(content []byte) (found bool, err error) {
	var face Face
	err = EachOperation(content, func(op Operation) error {
		switch string(op.Operator) {
		case "Tf":
			if len(op.Operands) != 2 {
				return ErrObject
			}
			face = c.Faces[string(op.Operands[0][1:])]
		case "Tj", "TJ":
			if len(op.Operands) != 1 {
				return ErrObject
			}

			values, err := ReadArray(op.Operands[0])
			if err != nil {
				return err
			}

			for _, v := range values {
				zero, err := hasZeroCode(v, face)
				if err != nil {
					return err
				}
				found = found || zero
			}
		}

		return nil
	})

	return found, err
}

// hasZeroCode looks for the code 0 in a hexadecimal string of a Tj or TJ operand. It ignores the numbers of a TJ array,
// and rejects literal strings, which Skia does not write.
func hasZeroCode(text []byte, face Face) (bool, error) {
	switch {
	case text[0] == '(':
		return false, ErrObject
	case text[0] != '<':
		return false, nil
	case face.Width == 0:
		return false, fmt.Errorf("text without a font: %w", ErrObject)
	}

	codes, ok := face.Codes(text)
	if !ok {
		return false, ErrObject
	}

	for i := 0; i < len(codes); i += face.Width {
		if codes[i] == 0 && codes[i+face.Width-1] == 0 {
			return true, nil
		}
	}

	return false, nil
}

// Deflate packs the concatenated parts in the zlib format. All calls share one writer, because creating a writer takes
// as long as packing five pages.
func (f *File) Deflate(parts ...[]byte) []byte {
	var b bytes.Buffer
	if f.packer == nil {
		f.packer = zlib.NewWriter(&b)
	} else {
		f.packer.Reset(&b)
	}

	for _, p := range parts {
		_, _ = f.packer.Write(p) // a write to memory cannot fail
	}
	_ = f.packer.Close()

	return b.Bytes()
}
