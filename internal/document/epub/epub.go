// Package epub writes books in EPUB 3.3 (https://www.w3.org/TR/epub-33/) from an untrusted HTML body. The output
// conforms to the content models of XHTML for any body.
//
// Write splits the body into chapters at its headings, and notes the file of each anchor. Then it writes each chapter
// as XHTML. It replaces elements where XHTML does not allow them, and stores images as files. At last it packs all
// files into an archive, with the package document and the navigation.
package epub

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Book is the content of an EPUB.
type Book struct {
	// Title and Lang, a BCP 47 tag, are required.
	Title, Lang           string
	Author, Subject, Date string
	Keywords              []string
	// RightToLeft is true if pages follow each other from right to left.
	RightToLeft bool
	// Modified is when the book was last changed.
	Modified time.Time
	// ContentsTitle is "Contents" in Lang, CoverTitle "Cover".
	ContentsTitle, CoverTitle string
	// CSS is the stylesheet. It must not refer to files or addresses.
	CSS string
	// Body is the content of an HTML body element. Images are data URIs.
	Body string
	// Headings are the entries of the contents, in reading order, with the anchors that they have in Body.
	Headings []Heading
	// ShowContents puts the contents among the pages, before the text.
	ShowContents bool
	// Cover is a PNG; nil for none.
	Cover []byte
}

// Heading is an entry of the contents.
type Heading struct {
	// Level is 1 to 6.
	Level    int
	Text, ID string
}

// Omission is an image that was left out, because it was not found or EPUB readers do not show its format.
type Omission struct {
	// Alt is the text that replaces the image.
	Alt string
	// Why is the reason, for a warning.
	Why string
}

// Write returns the EPUB file and the images that were left out. The same book gives the same bytes. Errors: a body
// that is nested too deeply to be read as HTML.
func Write(b Book) (data []byte, omitted []Omission, err error) {
	body := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}

	nodes, err := html.ParseFragment(strings.NewReader(b.Body), body)
	if err != nil {
		return nil, nil, fmt.Errorf("epub: %w", err)
	}
	w := &writer{book: b, places: map[string]string{}}

	w.chapters = split(nodes)
	for _, c := range w.chapters {
		w.place(c)
	}

	// Only rendering shows which anchors remain, but earlier links depend on it. So render twice if any is lost.
	if lost := w.renderAll(); len(lost) > 0 {
		// These anchors were on elements that a book cannot have. Their links are removed.
		for _, id := range lost {
			delete(w.places, id)
		}
		w.renderAll()
	}
	data, err = w.archive()

	return data, w.omitted, err
}

// chapter is a part of the body with a file of its own.
type chapter struct {
	nodes []*html.Node
	file  string
	// ids are the anchors of the chapter that are not written yet. Each id is written once.
	ids map[string]bool
	// xhtml is the content of its body element.
	xhtml string
	title string
	// svg and maths are true if the chapter contains SVG and MathML.
	svg, maths bool
}

// split divides a body into chapters. A chapter begins at each h1, or at each h2 if there are fewer than two h1.
func split(nodes []*html.Node) (chapters []*chapter) {
	count := map[atom.Atom]int{}
	for _, n := range nodes {
		count[n.DataAtom]++
	}

	begins := atom.H1
	if count[atom.H1] < 2 {
		begins = atom.H2
	}
	var current *chapter
	hasText := false

	for _, n := range nodes {
		notes := n.Type == html.ElementNode && hasClass(n, "footnotes")

		starts := n.DataAtom == begins || n.DataAtom == atom.H1 || notes
		if current == nil || starts && hasText {
			current = &chapter{file: fmt.Sprintf("chapter-%03d.xhtml", len(chapters)+1)}
			chapters = append(chapters, current)
			hasText = false
		}
		current.nodes = append(current.nodes, n)
		// A chapter with only a title takes in the next one.
		hasText = hasText || n.Type == html.ElementNode && n.DataAtom != atom.H1 && !isPageBreak(n) ||
			n.Type == html.TextNode && strings.TrimSpace(n.Data) != ""
		if n.DataAtom == begins && begins != atom.H1 {
			hasText = true
		}
	}

	if len(chapters) == 0 {
		chapters = []*chapter{{file: "chapter-001.xhtml"}}
	}

	return chapters
}

// isPageBreak reports whether an element only forces a page break.
func isPageBreak(n *html.Node) bool { return hasClass(n, "page-break") }

// hasClass reports whether an element has a class.
func hasClass(n *html.Node, class string) bool {
	for c := range strings.FieldsSeq(attribute(n, "class")) {
		if c == class {
			return true
		}
	}

	return false
}

// attribute returns the value of an attribute without a namespace, or "".
func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key && a.Namespace == "" {
			return a.Val
		}
	}

	return ""
}

// place records the anchors of a chapter.
func (w *writer) place(c *chapter) {
	for _, n := range c.nodes {
		for d := range descendants(n) {
			id := attribute(d, "id")
			if d.DataAtom == atom.A && id == "" {
				id = attribute(d, "name")
			}

			if id != "" && w.places[id] == "" && !strings.ContainsAny(id, " \t\n\f\r") {
				w.places[id] = c.file
			}
		}
	}
}

// descendants yields a node and all below it.
func descendants(n *html.Node) func(yield func(*html.Node) bool) {
	return func(yield func(*html.Node) bool) {
		if !yield(n) {
			return
		}

		for d := range n.Descendants() {
			if !yield(d) {
				return
			}
		}
	}
}

// identifier returns a UUID of version 8 that is computed from the content of the book.
func (b Book) identifier() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %q %q %q", b.Title, b.Author, b.Lang, b.Date, b.CSS, b.Body)
	sum := h.Sum(nil)[:16]
	// Set the bits of the version and of the variant (RFC 9562).
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	id := hex.EncodeToString(sum)

	return "urn:uuid:" + id[:8] + "-" + id[8:12] + "-" + id[12:16] + "-" + id[16:20] + "-" + id[20:]
}
