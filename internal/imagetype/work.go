package imagetype

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

// MaxWork is the limit on the total Work of a document's SVG images. At the limit Chromium takes about ten seconds
// and half a gigabyte.
const MaxWork = 120_000

// MaxDepth limits the nesting of elements. References may be nested twice as deeply.
const MaxDepth = 1000

// The costs of the parts of an SVG, in units of one plain element.
const (
	maxStyled = 10 * MaxWork // references that style sheets may add to elements
	useWork   = 5            // work of a copy, in addition to that of its original
	textBytes = 12           // bytes of text that count as one element
	dataBytes = 80           // bytes of attributes that count as one element
	dashes    = 25           // dashes of a line that count as one element
	maxDashes = 1 << 20      // Skia draws lines with more dashes as solid lines
	// Each step of a filter, and each mask, is drawn into a layer of pixels.
	layerWork   = 10        // work of a layer without pixels
	layerArea   = 80        // CSS pixels of a layer that count as one element
	leastPixels = 10_000    // CSS pixels that each image is assumed to have, at least
	pagePixels  = 1_000_000 // CSS pixels of a page: A4 has 0.9 million
	imagePixels = 500       // pixels of an embedded image that count as one element

	maxImageDepth = 4 // levels of images within images
	// The end of a data URI depends on its reader, so data URIs can seem to overlap. All embedded data may be read
	// this many times.
	maxOverlap = 8
)

// ErrDeep is returned for an SVG whose elements or references are nested too deeply. It is public.
var ErrDeep = fmt.Errorf("the SVG nests elements or references deeper than %d levels", MaxDepth)

var errStyles = errors.New("SVG images may not load style sheets from data URIs")

// Work returns the number of elements that a browser draws for an SVG, with all references. Expensive elements
// count several times. The result is roughly an upper bound; it is math.MaxUint64 if it overflows. scaled means
// that the image is not shown in its own size. The work of other types is 0. Errors: ErrDeep and others, all
// public.
func Work(b []byte, contentType string, scaled bool) (uint64, error) {
	if contentType != "image/svg+xml" {
		return 0, nil
	}

	return svgWork(b, scaled, 0, new(maxOverlap*len(b)))
}

// svgWork is Work for an SVG at the given depth of images within images. It subtracts the bytes of embedded images
// from unread.
func svgWork(b []byte, scaled bool, depth int, unread *int) (uint64, error) {
	if depth > maxImageDepth {
		return 0, fmt.Errorf("the SVG nests images deeper than %d levels", maxImageDepth)
	}

	d := &drawing{
		ids:    map[string]*element{},
		style:  styles{classes: map[string][]reference{}},
		depth:  depth,
		unread: unread,
	}
	if err := d.read(b); err != nil {
		return 0, err
	}

	if !d.measure(scaled) {
		return math.MaxUint64, nil
	}

	return d.count()
}

// drawing collects what determines the cost of an SVG.
type drawing struct {
	root     *element
	ids      map[string]*element
	elements []*element
	style    styles
	// dash is the shortest period of a dashed line; 0 if there is none.
	dash float64
	// geometry is the length of all path data, in bytes.
	geometry uint64
	// transformed is true if an element is scaled. Then its layers may have any size.
	transformed bool
	inner       uint64 // work of embedded images
	depth       int
	unread      *int // bytes of embedded images that may still be read
	// area is the size of the image on paper, in CSS pixels. box is the visible area in units of the drawing.
	area, box float64
}

// element is an element of an SVG image, with what it costs to draw.
type element struct {
	name     string
	children []*element
	refs     []reference
	classes  []string
	own      uint64          // work without children and references
	text     strings.Builder // content of a style element
	// region is the area that a filter or mask declares, in units of the drawing; 0 if it is unknown.
	region float64
	path   string  // path data
	sides  float64 // outline length of other shapes, too long rather than too short
	total  uint64  // work with children and references
	state  byte    // of total; 0: not counted, 1: being counted, 2: counted
}

// reference is another element that an element draws, or a number of CSS filter functions.
type reference struct {
	id      string
	filters uint64
}

// read builds the tree of elements and then reads the style sheets.
func (d *drawing) read(b []byte) error {
	if !utf8.Valid(b) { // markup is the same in all character sets that XML may use
		b = []byte(string(bytesToRunes(b)))
	}

	if bytes.Contains(b, []byte("<!ATTLIST")) {
		return errEntities
	}
	in := xml.NewDecoder(bytes.NewReader(b))
	in.Strict = false
	in.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	var open []*element

	for {
		token, err := in.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}

		if err != nil {
			return errDamaged
		}

		switch t := token.(type) {
		case xml.StartElement:
			if len(open) >= MaxDepth {
				return ErrDeep
			}

			var parent *element
			if len(open) > 0 {
				parent = open[len(open)-1]
			}

			e, err := d.element(t, parent)
			if err != nil {
				return err
			}
			open = append(open, e)
		case xml.EndElement:
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		case xml.CharData:
			if len(open) > 0 {
				open[len(open)-1].addText(t)
			}
		case xml.ProcInst:
			if t.Target == "xml-stylesheet" && bytes.ContainsAny(t.Inst, "#:") {
				return errStyles
			}
		}
	}

	if d.root == nil {
		return errDamaged
	}

	return d.sheets()
}

// sheets reads the style elements.
func (d *drawing) sheets() error {
	for _, e := range d.elements {
		if e.name == "style" {
			if err := d.sheet(e.text.String()); err != nil {
				return err
			}
		}
	}

	return nil
}

// addText adds text to an element: it is a style sheet or work.
func (e *element) addText(text []byte) {
	if e.name == "style" {
		e.text.Write(text)
	} else {
		e.own = add(e.own, uint64(len(bytes.TrimSpace(text)))/textBytes)
	}
}

// bytesToRunes returns each byte as a character, as ISO 8859-1 defines them.
func bytesToRunes(b []byte) []rune {
	runes := make([]rune, len(b))
	for i, c := range b {
		runes[i] = rune(c)
	}

	return runes
}

// element reads one start tag and adds the element to the tree. parent is nil for the root.
func (d *drawing) element(t xml.StartElement, parent *element) (*element, error) {
	e := &element{name: t.Name.Local, own: 1}

	// An animation changes its parent, so its values are references of that.
	refer := func(r reference) { e.refs = append(e.refs, r) }
	if (e.name == "set" || strings.HasPrefix(e.name, "animate")) && parent != nil {
		refer = func(r reference) { parent.refs = append(parent.refs, r) }
	}
	var width, height float64
	inDrawing := false // whether the size is in units of the drawing

	for _, a := range t.Attr {
		switch a.Name.Local {
		case "width":
			width = number(a.Value)
		case "height":
			height = number(a.Value)
		case "filterUnits", "maskUnits":
			inDrawing = a.Value == "userSpaceOnUse"
		}

		if err := d.attribute(e, a, refer); err != nil {
			return nil, err
		}
	}

	e.sides += 2 * (width + height)
	if inDrawing {
		e.region = width * height
	}

	switch e.name {
	case "use", "feImage":
		e.own += useWork
	case "svg", "symbol":
		d.transformed = d.transformed || len(d.elements) > 0
	}

	if len(d.elements) == 0 && width > 0 && height > 0 {
		d.area = width * height
	}
	d.elements = append(d.elements, e)

	if d.root == nil {
		d.root = e
	} else if parent != nil {
		parent.children = append(parent.children, e)
	}

	return e, nil
}

// attribute reads one attribute of e. It passes what the attribute refers to to refer.
func (d *drawing) attribute(e *element, a xml.Attr, refer func(reference)) error {
	value := a.Value
	e.own = add(e.own, uint64(len(value))/dataBytes)

	switch a.Name.Local {
	case "id":
		if d.ids[value] == nil {
			d.ids[value] = e
		}
	case "class":
		e.classes = strings.Fields(value)
	case "href", "to", "from", "by", "values":
		for part := range strings.SplitSeq(value, ";") {
			if id, ok := strings.CutPrefix(strings.TrimSpace(part), "#"); ok && e.name != "a" {
				refer(reference{id: id})
			}
		}
		d.calls(value, refer)
	case "d", "points":
		e.path = value
		d.geometry += uint64(len(value))
	case "x1", "y1", "x2", "y2", "r", "rx", "ry":
		e.sides += 7 * number(value) // more than a circle of this radius
	case "width", "height", "filterUnits", "maskUnits": // element reads them
	case "viewBox":
		d.viewBox(value)
	case "transform", "patternTransform":
		d.transformed = d.transformed || scaling().MatchString(value)
	case "style":
		value = plainCSS(value)
		d.readDeclarations(value, refer)
	case "stroke-dasharray":
		d.dashed(value)
	default:
		d.calls(value, refer)
	}

	return d.embedded(value)
}

// viewBox reads the attribute of that name, if it belongs to the root. The last two of its numbers are the size.
func (d *drawing) viewBox(value string) {
	f := strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r <= ' ' })
	if len(f) == 4 && d.box == 0 && len(d.elements) == 0 {
		d.box = number(f[2]) * number(f[3])
	}
}

// embedded adds the work of the data URIs in a value. It ignores those that a browser cannot show either. Errors, all
// public: for a style sheet, for images that exceed a limit, and those of svgWork.
func (d *drawing) embedded(value string) error {
	for rest := value; strings.Contains(rest, ":"); {
		at := dataURI().FindStringIndex(rest)
		if at == nil {
			return nil
		}
		rest = rest[at[0]:]

		end := strings.IndexAny(rest, `"')`)
		if end < 0 {
			end = len(rest)
		}
		uri := rest[:end]

		rest = rest[len("data:"):]
		if len(rest) >= 5 && strings.EqualFold(rest[:5], "text/") {
			return errStyles
		}

		if *d.unread -= len(uri); *d.unread < 0 {
			return errors.New("the SVG nests too many data URIs")
		}

		data, err := ReadDataURI(uri)
		if err != nil {
			continue // the browser cannot read it either
		}

		info, err := Inspect(data)
		if err != nil {
			continue
		}

		if info.Pixels() > MaxPixels {
			return fmt.Errorf("the SVG holds an image of %d × %d pixels; at most %d million are allowed",
				info.Width, info.Height, MaxPixels/1_000_000)
		}

		if n := Frames(data, info.ContentType); n > MaxFrames {
			return fmt.Errorf("the SVG holds an image of %d frames; at most %d are allowed", n, MaxFrames)
		}

		work := info.Pixels() / imagePixels
		if info.ContentType == "image/svg+xml" {
			if work, err = svgWork(data, true, d.depth+1, d.unread); err != nil {
				return err
			}
		}
		d.inner = add(d.inner, work)
	}

	return nil
}
