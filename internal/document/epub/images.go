package epub

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"presswork/internal/imagetype"
	"presswork/internal/lazyregexp"
)

// picture is an image with a file of its own.
type picture struct {
	file, media string
	data        []byte
}

// image writes an img element. An image that cannot be in a book is replaced by its alternative text and noted in
// omitted.
func (w *writer) image(n *html.Node) {
	alt := attribute(n, "alt")

	p, err := w.pictureOf(attribute(n, "src"))
	if err != nil {
		w.omitted = append(w.omitted, Omission{alt, err.Error()})
		if alt == "" {
			alt = "image"
		}
		w.out.WriteString(`<span class="image-missing">` + text(alt) + "</span>")

		return
	}
	more := []string{"src", p.file, "alt", alt}

	for _, key := range []string{"width", "height"} {
		// XHTML allows whole pixels only, so other lengths are dropped.
		if size, err := strconv.Atoi(strings.TrimSuffix(attribute(n, key), "px")); err == nil && size > 0 {
			more = append(more, key, strconv.Itoa(size))
		}
	}
	w.start(n, "img", more...)
}

// pictureOf puts an image into the book, once. Errors are reasons for a warning.
func (w *writer) pictureOf(uri string) (*picture, error) {
	if p := w.images[uri]; p != nil {
		return p, nil
	}

	// The document has inlined every image that it could read.
	if !strings.HasPrefix(uri, "data:") {
		return nil, errors.New("it was not found")
	}

	data, err := imagetype.ReadDataURI(uri)
	if err != nil {
		return nil, errors.New("it was not found")
	}

	info, err := imagetype.Inspect(data)
	if err != nil {
		return nil, err
	}

	extension := map[string]string{
		"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/svg+xml": ".svg",
	}[info.ContentType]
	switch extension {
	case "":
		return nil, fmt.Errorf("an EPUB cannot have %s; allowed: PNG, JPEG, GIF, WebP, SVG", info.ContentType)
	case ".svg":
		if data, err = drawing(data); err != nil {
			return nil, fmt.Errorf("the SVG cannot be in an EPUB: %w", err)
		}
	}
	p := &picture{file: fmt.Sprintf("image-%03d%s", len(w.order)+1, extension), media: info.ContentType, data: data}
	w.images[uri], w.order = p, append(w.order, p)

	return p, nil
}

// shapes are the elements that an SVG in a book may have. Others are left out with their content.
var shapes = words(
	"svg g path rect circle ellipse line polyline polygon text tspan defs marker linearGradient radialGradient " +
		"stop clipPath symbol use title desc mask pattern style",
)

// outside matches values and stylesheets that refer to something outside of the drawing, or run code. A backslash could
// hide such a text.
var outside = lazyregexp.New(`(?i)url\(\s*["']?[^"'#)\s]|@import|expression|javascript:|\\`)

// The namespaces of SVG, and of links in SVG 1.1.
const svgSpace, linkSpace = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"

var (
	errMalformed = errors.New("it is not well-formed")
	errOutside   = errors.New("it refers to something outside of it")
)

// drawing returns an SVG with shapes and plain attributes only, without the additions of drawing programs. It rejects
// an SVG that is malformed, contains scripts, pictures or HTML, or refers to something outside. Errors are reasons for
// a warning.
func drawing(data []byte) ([]byte, error) {
	decoder := xml.NewDecoder(bytes.NewReader(data))
	decoder.Entity = map[string]string{}
	c := svgCleaner{ids: map[string]bool{}}
	c.out.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")

	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}

		if err != nil {
			return nil, errMalformed
		}

		switch t := token.(type) {
		case xml.StartElement:
			err = c.start(t)
		case xml.EndElement:
			c.end(t)
		case xml.CharData:
			err = c.text(t)
		}

		if err != nil {
			return nil, err
		}
	}

	if c.depth != 0 || !strings.Contains(c.out.String(), "<svg") {
		return nil, errMalformed
	}

	return []byte(c.out.String()), nil
}

// svgCleaner writes the allowed parts of an SVG.
type svgCleaner struct {
	out     strings.Builder
	depth   int // open elements
	skipped int // open elements of which the outermost is left out
	ids     map[string]bool
}

// start writes the start tag of a shape. It begins to skip any other element.
func (c *svgCleaner) start(t xml.StartElement) error {
	if c.skipped > 0 || t.Name.Space != svgSpace && t.Name.Space != "" || !shapes[t.Name.Local] {
		if c.depth == 0 {
			return errors.New("it is not SVG")
		}

		if t.Name.Local == "foreignObject" || t.Name.Local == "image" || t.Name.Local == "script" {
			return fmt.Errorf("it contains the element %s", t.Name.Local)
		}
		c.skipped++

		return nil
	}
	c.out.WriteString("<" + t.Name.Local)

	if c.depth == 0 {
		c.out.WriteString(` xmlns="` + svgSpace + `" xmlns:xlink="` + linkSpace + `"`)
	}
	c.depth++

	for _, a := range t.Attr {
		if err := c.attribute(a); err != nil {
			return err
		}
	}
	c.out.WriteString(">")

	return nil
}

// attribute writes an attribute, or leaves it out if it has no meaning in a book or is not valid there.
func (c *svgCleaner) attribute(a xml.Attr) error {
	name := a.Name.Local

	switch {
	case name == "href" && (a.Name.Space == linkSpace || a.Name.Space == ""):
		if name = "xlink:href"; !strings.HasPrefix(a.Value, "#") {
			return errOutside
		}
	case a.Name.Space != "" || name == "xmlns" || strings.HasPrefix(name, "on") ||
		strings.HasPrefix(name, "data-") || strings.HasPrefix(name, "aria-"):
		return nil
	case name == "id":
		if c.ids[a.Value] || a.Value == "" || strings.ContainsAny(a.Value, " \t\n") {
			return nil
		}
		c.ids[a.Value] = true
	}

	if outside().MatchString(a.Value) {
		return errOutside
	}
	c.out.WriteString(" " + name + `="` + text(a.Value) + `"`)

	return nil
}

// end writes the end tag of an element that was not skipped.
func (c *svgCleaner) end(t xml.EndElement) {
	if c.skipped > 0 {
		c.skipped--
		return
	}
	c.depth--
	c.out.WriteString("</" + t.Name.Local + ">")
}

// text writes the text of an element, which may be a stylesheet.
func (c *svgCleaner) text(t xml.CharData) error {
	if c.depth == 0 || c.skipped > 0 {
		return nil
	}

	if outside().Match(t) {
		return errOutside
	}
	c.out.WriteString(text(string(t)))

	return nil
}

// foreign writes a formula or a drawing that is a part of the page. Both come from package markdown, which has cleaned
// them.
func (w *writer) foreign(n *html.Node) {
	space := "http://www.w3.org/1998/Math/MathML"

	switch n.Data {
	case "math":
		w.chapter.maths = true
	case "svg":
		w.chapter.svg = true
		space = svgSpace
	default:
		return
	}
	w.part(n, ` xmlns="`+space+`"`)
}

// part writes an element of another namespace and its content. namespace is its declaration, or "" below the first one.
func (w *writer) part(n *html.Node, namespace string) {
	switch {
	case n.Type == html.TextNode:
		w.out.WriteString(text(n.Data))
		return
	case n.Type != html.ElementNode:
		return
	// XHTML allows no HTML element here, such as the span around the number of an equation. Its content stays.
	case n.Namespace == "", !xmlName().MatchString(n.Data):
		for c := range n.ChildNodes() {
			w.part(c, "")
		}

		return
	}

	name := n.Data
	switch {
	case name == "menclose": // a stylesheet draws its notation, not the element
		name = "mrow"
	case name == "mrow" && (attribute(n, "scriptlevel") != "" || attribute(n, "displaystyle") != ""):
		name = "mstyle"
	}
	w.out.WriteString("<" + name + namespace)

	for _, a := range n.Attr {
		if a.Namespace == "" &&
			(n.Namespace == "svg" && drawingAttribute(a) || n.Namespace == "math" && mathAttribute(name, a.Key)) {
			w.write(a.Key, a.Val)
		}
	}
	w.out.WriteString(">")

	for c := range n.ChildNodes() {
		w.part(c, "")
	}
	w.out.WriteString("</" + name + ">")
}

// xmlName matches an XML name without a prefix.
var xmlName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// drawingAttribute reports whether a drawing within the text keeps an attribute.
func drawingAttribute(a html.Attribute) bool {
	return xmlName().MatchString(a.Key) && a.Key != "xmlns" && a.Key != "href" && a.Key != "src" &&
		!strings.HasPrefix(strings.ToLower(a.Key), "on") &&
		!outside().MatchString(a.Val)
}

// mathAttribute reports whether an element of MathML 3 has an attribute
// (https://www.w3.org/TR/MathML3/appendixa.html).
func mathAttribute(name, key string) bool {
	switch key {
	case "class", "mathcolor", "mathbackground":
		return true
	case "mathvariant", "mathsize":
		return name == "mi" || name == "mn" || name == "mo" || name == "mtext" || name == "mstyle"
	case "fence",
		"separator",
		"stretchy",
		"symmetric",
		"maxsize",
		"minsize",
		"largeop",
		"movablelimits",
		"form",
		"rspace":
		return name == "mo"
	case "lspace":
		return name == "mo" || name == "mpadded"
	case "width", "height", "depth":
		return name == "mspace" || name == "mpadded" || key == "width" && name == "mtable"
	case "voffset":
		return name == "mpadded"
	case "linethickness":
		return name == "mfrac"
	case "accent":
		return name == "mo" || name == "mover" || name == "munderover"
	case "accentunder":
		return name == "munder" || name == "munderover"
	case "columnalign":
		return name == "mtable" || name == "mtr" || name == "mtd"
	case "rowspacing":
		return name == "mtable"
	case "displaystyle":
		return name == "math" || name == "mstyle" || name == "mtable"
	case "scriptlevel":
		return name == "mstyle"
	case "display", "alttext":
		return name == "math"
	}

	return false
}
