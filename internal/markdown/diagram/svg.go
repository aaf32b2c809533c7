package diagram

import (
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"strings"

	"presswork/internal/lazyregexp"
)

const (
	// maxElements, maxDepth and maxSVGBytes bound the elements, levels and bytes of a rebuilt picture.
	maxElements = 50_000
	maxDepth    = 100
	maxSVGBytes = 4 << 20
	// maxSide bounds the width and the height of a diagram, in CSS pixels. The page shrinks it in any case.
	maxSide = 50_000
)

// shapes are the elements that are kept. Others are removed with their content. No element may load a resource, run a
// script or contain HTML.
var shapes = set(
	"svg g path rect circle ellipse line polyline polygon text tspan defs marker linearGradient " +
		"radialGradient stop clipPath",
)

// attributes are the attributes that are kept. Ids are kept as well, with new values.
var attributes = set(
	"x y x1 y1 x2 y2 cx cy fx fy r rx ry d points width height viewBox transform dx dy rotate textLength " +
		"lengthAdjust offset gradientUnits gradientTransform spreadMethod markerWidth markerHeight " +
		"markerUnits refX refY orient preserveAspectRatio clipPathUnits clip-rule fill fill-opacity fill-rule stroke " +
		"stroke-width stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin stroke-miterlimit " +
		"stroke-opacity font-family font-size font-weight font-style text-anchor dominant-baseline " +
		"alignment-baseline baseline-shift visibility letter-spacing opacity text-decoration marker-start " +
		"marker-mid marker-end clip-path stop-color stop-opacity",
)

var (
	// plainValue matches numbers, words and colours, fontValue a font stack.
	plainValue = lazyregexp.New(`^[\w\s#%.,+-]*$`)
	fontValue  = lazyregexp.New(`^[\w\s,.'"-]{1,500}$`)
	// callValue matches transforms and colours that are written as calls.
	callValue = lazyregexp.New(
		`^(?:\s*(?:translate|rotate|scale|skewX|skewY|matrix|rgba?|hsla?|color)\([\w\s%.,+/-]*\)\s*,?)+$`,
	)
	// reference matches a reference to an element of the same picture, as of a marker. Other addresses do not match.
	reference = lazyregexp.New(`^url\(["']?#([^"'()\s]{1,200})["']?\)$`)
)

// set returns the set of the words in a list.
func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}

	return m
}

// svgSpace is the namespace of SVG.
const svgSpace = "http://www.w3.org/2000/svg"

// clean rebuilds a drawing from the allow-lists. All ids in the result begin with name, so that two diagrams in a page
// have different ids. Its errors are for the author.
func clean(d drawing, name string) (string, error) {
	if !(d.Width > 0 && d.Height > 0 && d.Width <= maxSide && d.Height <= maxSide) {
		return "", fmt.Errorf("the drawn picture has %.0f × %.0f pixels; sides of 1 to %d pixels are allowed",
			d.Width, d.Height, maxSide)
	}

	// A drawing may be larger than the result, which lacks the removed elements and attributes.
	if len(d.SVG) > 8*maxSVGBytes {
		return "", fmt.Errorf("the drawn picture is larger than %d MB", 8*maxSVGBytes>>20)
	}

	c := &cleaner{name: name, ids: map[string]string{}, defined: map[string]bool{}, drawing: d}
	if err := c.run(); err != nil {
		return "", err
	}

	return c.out.String(), nil
}

// cleaner rebuilds one drawing.
type cleaner struct {
	drawing
	name     string
	out      strings.Builder
	ids      map[string]string // from the ids in the drawing to those in the result
	defined  map[string]bool   // the ids that an element of the result has
	elements int               // written so far
	open     []string          // the names of the open elements
}

// run copies the allowed elements, attributes and texts.
func (c *cleaner) run() error {
	in := xml.NewDecoder(strings.NewReader(c.SVG))

	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			break
		}

		if err != nil {
			return errors.New("the drawn picture is not valid SVG")
		}

		switch t := token.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "a", "switch": // a link around a node, or two forms of a text: keep the allowed content
				t.Name.Local = "g"
			}

			// The root, and only the root, is an svg element.
			if t.Name.Space != svgSpace || !shapes[t.Name.Local] || (t.Name.Local == "svg") != (len(c.open) == 0) {
				if err := in.Skip(); err != nil {
					return errors.New("the drawn picture is not valid SVG")
				}
				continue
			}

			if c.elements++; c.elements > maxElements || len(c.open) >= maxDepth {
				return fmt.Errorf("the drawn picture has over %d elements or %d levels", maxElements, maxDepth)
			}
			c.start(t)
		case xml.EndElement:
			c.out.WriteString("</" + c.open[len(c.open)-1] + ">")
			c.open = c.open[:len(c.open)-1]
		case xml.CharData:
			if n := len(c.open); n > 0 && (c.open[n-1] == "text" || c.open[n-1] == "tspan") {
				c.out.WriteString(html.EscapeString(string(t)))
			}
		}

		if c.out.Len() > maxSVGBytes {
			return fmt.Errorf("the drawn picture is larger than %d MB", maxSVGBytes>>20)
		}
	}

	if c.elements == 0 {
		return errors.New("the drawn picture is empty")
	}

	return nil
}

// start writes a start tag with its allowed attributes.
func (c *cleaner) start(t xml.StartElement) {
	root := len(c.open) == 0
	c.open = append(c.open, t.Name.Local)
	c.out.WriteString("<" + t.Name.Local)

	if root {
		c.attribute("role", "img")
		c.attribute("aria-label", c.label())
		c.attribute("width", number(c.Width))
		c.attribute("height", number(c.Height))

		if c.Text > 0 {
			c.attribute(TextAttribute, number(c.Text))
		}
	}

	for _, a := range t.Attr {
		switch {
		case a.Name.Space != "":
		case a.Name.Local == "id":
			if ours := c.id(a.Value); !c.defined[ours] { // Mermaid repeats some ids
				c.defined[ours] = true
				c.attribute("id", ours)
			}
		case root && (a.Name.Local == "width" || a.Name.Local == "height"):
		case !attributes[a.Name.Local]:
		default:
			if value, ok := c.value(a.Name.Local, a.Value); ok {
				c.attribute(a.Name.Local, value)
			}
		}
	}
	c.out.WriteByte('>')
}

// value returns the value of an attribute, with new ids in references. It returns false for a value that no pattern
// matches.
func (c *cleaner) value(attribute, value string) (string, bool) {
	value = strings.TrimSpace(value)
	if m := reference().FindStringSubmatch(value); m != nil {
		return "url(#" + c.id(m[1]) + ")", true
	}

	if attribute == "font-family" {
		return value, fontValue().MatchString(value)
	}

	return value, plainValue().MatchString(value) || callValue().MatchString(value)
}

// id returns the new id for an id of the drawing, always the same one.
func (c *cleaner) id(theirs string) string {
	ours, ok := c.ids[theirs]
	if !ok {
		ours = fmt.Sprintf("%s-%d", c.name, len(c.ids))
		c.ids[theirs] = ours
	}

	return ours
}

// attribute writes an attribute and escapes its value.
func (c *cleaner) attribute(name, value string) {
	c.out.WriteString(" " + name + `="` + html.EscapeString(value) + `"`)
}

// kindNames maps the first part of Mermaid's name for a kind of diagram to a name for readers.
var kindNames = map[string]string{
	"class":         "class diagram",
	"classDiagram":  "class diagram",
	"dot":           "graph",
	"er":            "entity relationship diagram",
	"flowchart":     "flow chart",
	"gantt":         "Gantt chart",
	"gitGraph":      "Git graph",
	"journey":       "user journey",
	"mindmap":       "mind map",
	"pie":           "pie chart",
	"quadrantChart": "quadrant chart",
	"requirement":   "requirement diagram",
	"sequence":      "sequence diagram",
	"stateDiagram":  "state diagram",
	"timeline":      "timeline",
	"xychart":       "chart",
}

// label returns the alternative text of the diagram: its title, at most 1000 characters, or the name of its kind.
func (c *cleaner) label() string {
	if title := strings.Join(strings.Fields(c.Title), " "); title != "" {
		if r := []rune(title); len(r) > 1000 {
			title = string(r[:1000]) + "…"
		}

		return title
	}

	kind, _, _ := strings.Cut(c.Kind, "-")
	if name := kindNames[kind]; name != "" {
		return "Diagram: " + name
	}

	return "Diagram"
}

// number writes a length with at most one decimal, rounded up.
func number(v float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", math.Ceil(v*10)/10), ".0")
}
