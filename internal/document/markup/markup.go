// Package markup writes HTML whose texts and attribute values are escaped by construction. Only Raw, and the names of
// elements and attributes, are written as they are, so they must be constants or finished HTML.
package markup

import (
	"html"
	"strings"
)

// Writer writes HTML. Its zero value is empty.
type Writer struct{ out strings.Builder }

// Open writes a start tag. tag is the name of the element, and may be followed by attributes that are constants:
// "nav hidden". attrs are names of further attributes, each followed by its value. Those with the value "" are left
// out.
func (w *Writer) Open(tag string, attrs ...string) *Writer {
	w.Raw("<" + tag)

	for i := 0; i < len(attrs); i += 2 {
		if attrs[i+1] != "" {
			w.Raw(" " + attrs[i] + `="` + html.EscapeString(attrs[i+1]) + `"`)
		}
	}

	return w.Raw(">")
}

// Close writes the end tags of elements, the innermost first.
func (w *Writer) Close(names ...string) *Writer {
	for _, name := range names {
		w.Raw("</" + name + ">")
	}

	return w
}

// Text writes text.
func (w *Writer) Text(text string) *Writer { return w.Raw(html.EscapeString(text)) }

// Element writes an element with text. name and attrs are as in Open, but name has no attributes.
func (w *Writer) Element(name, text string, attrs ...string) *Writer {
	return w.Open(name, attrs...).Text(text).Close(name)
}

// Line writes an element with text and a line feed. It writes nothing if the text is empty.
func (w *Writer) Line(name, text string, attrs ...string) *Writer {
	if text == "" {
		return w
	}

	return w.Element(name, text, attrs...).Raw("\n")
}

// Raw writes finished HTML. It must not contain a text from outside that is not escaped.
func (w *Writer) Raw(html string) *Writer {
	w.out.WriteString(html)
	return w
}

// Grow makes room for this number of further bytes.
func (w *Writer) Grow(bytes int) { w.out.Grow(bytes) }

// Len returns the number of bytes written.
func (w *Writer) Len() int { return w.out.Len() }

// String returns the HTML.
func (w *Writer) String() string { return w.out.String() }
