package imagetype

import (
	"bytes"
	"encoding/xml"
	"image/color"
	"io"
	"maps"
	"math"
	"strconv"
	"strings"
)

// paints are the inherited properties that determine how the shapes of an SVG are painted.
type paints struct {
	fill, stroke, color string
	// noFill and noStroke are true if the paint's opacity is 0. hidden is true if the element has opacity 0 or display
	// none.
	noFill, noStroke, hidden bool
	// template is true if the element is drawn only by reference.
	template bool
	// ground is the CSS background of the root element.
	ground string
}

// maxValue is the number of bytes of a value that are read.
const maxValue = 80

// set applies one property. It ignores those that are not about paint.
func (p *paints) set(property, value string) {
	value = strings.ToLower(strings.TrimSpace(value[:min(len(value), maxValue)]))
	if value = strings.TrimSpace(strings.TrimSuffix(value, "!important")); value == "inherit" {
		return
	}
	opacity, err := strconv.ParseFloat(strings.TrimSuffix(value, "%"), 64)
	invisible := err == nil && opacity == 0

	switch property {
	case "fill":
		p.fill = value
	case "stroke":
		p.stroke = value
	case "color":
		p.color = value
	case "fill-opacity":
		p.noFill = invisible
	case "stroke-opacity":
		p.noStroke = invisible
	case "opacity":
		p.hidden = p.hidden || invisible
	case "display":
		p.hidden = p.hidden || value == "none"
	case "background", "background-color":
		p.ground, _, _ = strings.Cut(value, " ")
	}
}

// declarations yields the properties and values of "property: value; …".
func declarations(css string) func(yield func(property, value string) bool) {
	return func(yield func(property, value string) bool) {
		for declaration := range strings.SplitSeq(plainCSS(css), ";") {
			property, value, _ := strings.Cut(declaration, ":")
			if !yield(strings.ToLower(strings.TrimSpace(property)), value) {
				return
			}
		}
	}
}

// The names of dark and of light colours, with a space on both sides of each.
const (
	darkNames = " black navy darkblue mediumblue blue midnightblue indigo maroon darkred purple darkgreen" +
		" darkslategray darkslategrey currentcolor "
	lightNames = " white snow ivory whitesmoke ghostwhite floralwhite gainsboro lightgray lightgrey silver beige" +
		" linen lightyellow lightblue yellow cyan aqua lime "
)

// colour returns the colour of a paint. A gradient or an unknown value counts as a medium tone.
func (p *paints) colour(paint string) color.NRGBA {
	if paint == "currentcolor" {
		paint = p.color
	}
	between := color.NRGBA{0x80, 0x80, 0x80, 0xff}

	switch {
	case paint == "", strings.Contains(darkNames, " "+paint+" "):
		return color.NRGBA{A: 0xff}
	case paint == "none", paint == "transparent":
		return color.NRGBA{}
	case strings.Contains(lightNames, " "+paint+" "):
		return color.NRGBA{0xff, 0xff, 0xff, 0xff}
	case strings.HasPrefix(paint, "#"):
		hex := paint[1:]
		if len(hex) == 3 || len(hex) == 4 {
			double := make([]byte, 0, 8)
			for _, digit := range []byte(hex) {
				double = append(double, digit, digit)
			}
			hex = string(double)
		}

		if len(hex) == 6 {
			hex += "ff"
		}

		n, err := strconv.ParseUint(hex, 16, 32)
		if err != nil || len(hex) != 8 {
			return between
		}

		return color.NRGBA{uint8(n >> 24), uint8(n >> 16), uint8(n >> 8), uint8(n)}
	case strings.HasPrefix(paint, "rgb"):
		_, list, _ := strings.Cut(strings.TrimSuffix(paint, ")"), "(")

		parts := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == '/' || r <= ' ' })
		if len(parts) != 3 && len(parts) != 4 {
			return between
		}
		var c [4]uint8

		for i, part := range append(parts, "1")[:4] {
			n, err := strconv.ParseFloat(strings.TrimSuffix(part, "%"), 64)
			switch {
			case err != nil:
				return between
			case strings.HasSuffix(part, "%"):
				n *= 2.55
			case i == 3: // the opacity, from 0 to 1
				n *= 255
			}
			c[i] = uint8(min(max(n, 0), 255))
		}

		return color.NRGBA{c[0], c[1], c[2], c[3]}
	}

	return between
}

// painting collects the tones of the shapes of an SVG.
type painting struct {
	// rules are the properties in style elements, by the class (".a") or element name at the end of their
	// selectors.
	rules map[string]map[string]string
	open  []paints // of the elements around the current one
	// box is the visible area of the image, in units of the drawing.
	box float64
	// drawn are the tones of the shapes. templates are those of shapes that are drawn only by reference and have
	// their own paints. copies are those of the references; they count only if templates is empty.
	drawn, templates, copies tones
}

// darkSVG reports whether an SVG paints at least as much dark as light and does not fill its background. It
// returns false for an SVG that adapts to the page's colour scheme.
func darkSVG(b []byte) bool {
	if bytes.Contains(b, []byte("color-scheme")) || bytes.Contains(b, []byte("light-dark(")) {
		return false
	}
	d := painting{rules: map[string]map[string]string{}}
	var style strings.Builder
	inStyle := false

	for t := range svgTokens(b) {
		switch t := t.(type) {
		case xml.StartElement:
			inStyle = t.Name.Local == "style"
		case xml.EndElement:
			inStyle = false
		case xml.CharData:
			if inStyle {
				style.Write(t)
			}
		}
	}
	d.sheet(plainCSS(style.String()))

	for t := range svgTokens(b) {
		switch t := t.(type) {
		case xml.StartElement:
			if d.element(t) {
				return false
			}
		case xml.EndElement:
			d.open = d.open[:max(len(d.open)-1, 0)]
		}
	}

	if d.templates.all > 0 {
		d.copies = d.templates
	}
	d.drawn.dark += d.copies.dark
	d.drawn.light += d.copies.light
	d.drawn.all += d.copies.all

	return d.drawn.mostlyDark()
}

// svgTokens yields the XML tokens up to the first error.
func svgTokens(b []byte) func(yield func(xml.Token) bool) {
	return func(yield func(xml.Token) bool) {
		in := xml.NewDecoder(bytes.NewReader(b))
		in.Strict = false

		in.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
		for {
			token, err := in.RawToken()
			if err != nil || !yield(token) {
				return
			}
		}
	}
}

// sheet reads the content of a style element. It keeps only properties of paints, and one value of each for a
// selector. So a repetitive sheet does not slow down the elements.
func (d *painting) sheet(css string) {
	for rule := range strings.SplitSeq(css, "}") {
		selectors, body, _ := cutLast(rule, "{")
		set := map[string]string{}

		for property, value := range declarations(body) {
			switch property {
			case "fill", "stroke", "color", "fill-opacity", "stroke-opacity", "opacity", "display",
				"background", "background-color":
				set[property] = value
			}
		}

		if len(set) == 0 {
			continue
		}

		for s := range strings.SplitSeq(selectors, ",") {
			if f := strings.FieldsFunc(s, func(r rune) bool { return r <= ' ' || r == '>' || r == '{' }); len(f) > 0 {
				last := f[len(f)-1]
				if d.rules[last] == nil {
					d.rules[last] = map[string]string{}
				}
				maps.Copy(d.rules[last], set)
			}
		}
	}
}

// element records the paint of one element. It reports whether that element fills the background of the whole image.
func (d *painting) element(t xml.StartElement) (background bool) {
	name, root := t.Name.Local, len(d.open) == 0

	var p paints
	if !root {
		p = d.open[len(d.open)-1]
	}

	attrs := map[string]string{}
	for _, a := range t.Attr {
		attrs[a.Name.Local] = a.Value
		p.set(a.Name.Local, a.Value)
	}

	for property, value := range d.rules[name] {
		p.set(property, value)
	}

	if len(d.rules) > 0 {
		for class := range strings.FieldsSeq(attrs["class"]) {
			for property, value := range d.rules["."+class] {
				p.set(property, value)
			}
		}
	}

	for property, value := range declarations(attrs["style"]) {
		p.set(property, value)
	}

	switch name {
	case "defs", "symbol":
		p.template = true
	case "clipPath", "mask", "pattern", "marker", "filter", "linearGradient", "radialGradient":
		p.hidden = true
	case "svg":
		if root {
			width, height := attrs["width"], attrs["height"]

			f := strings.FieldsFunc(attrs["viewBox"], func(r rune) bool { return r == ',' || r <= ' ' })
			if len(f) == 4 {
				width, height = f[2], f[3]
			}
			d.box = number(width) * number(height)
			background = p.ground != "" && p.colour(p.ground).A > 0
			p.ground = ""
		}
	}

	d.open = append(d.open, p)
	if p.hidden || background {
		return background
	}

	return d.shape(name, attrs, p)
}

// shape records what an element paints. It reports whether the element covers nearly the whole drawing.
func (d *painting) shape(name string, attrs map[string]string, p paints) (background bool) {
	const (
		nearlyAll = .9
		opaque    = 0xf0 // lower values of alpha let the page show
	)

	fill, stroke := p.colour(p.fill), color.NRGBA{}
	if p.stroke != "" {
		stroke = p.colour(p.stroke)
	}

	if p.noFill {
		fill.A = 0
	}

	if p.noStroke {
		stroke.A = 0
	}
	area := 0.0
	into := &d.drawn

	switch name {
	case "rect":
		area = number(attrs["width"]) * number(attrs["height"])
		if attrs["width"] == "100%" && attrs["height"] == "100%" {
			area = math.Inf(1)
		}
	case "path", "polygon":
		area = areaOf(attrs["d"] + attrs["points"])
	case "image":
		if area = number(attrs["width"]) * number(attrs["height"]); attrs["width"] == "100%" {
			area = math.Inf(1)
		}
		fill, stroke = color.NRGBA{0x80, 0x80, 0x80, 0xff}, color.NRGBA{}
	case "line":
		fill.A = 0
	case "use":
		into = &d.copies
	case "circle", "ellipse", "polyline", "text", "tspan":
	default:
		return false
	}

	if p.template {
		if p.fill == "" && p.stroke == "" {
			return false
		}
		into = &d.templates
	} else if fill.A > opaque && area > 0 && (math.IsInf(area, 1) || d.box > 0 && area >= nearlyAll*d.box) {
		return true
	}
	into.add(fill)
	into.add(stroke)

	return false
}
