// Package epub writes books in EPUB 3.3 (https://www.w3.org/TR/epub-33/) from an untrusted HTML body. The output
// conforms to the content models of XHTML for any body.
package epub

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Book is what an EPUB is made of.
type Book struct {
	// Title is mandatory; Lang is a BCP 47 tag, mandatory.
	Title, Lang           string
	Author, Subject, Date string
	Keywords              []string
	// RightToLeft is the direction in which pages follow each other.
	RightToLeft bool
	// Modified is when the book was last changed.
	Modified time.Time
	// ContentsTitle is "Contents" in Lang, CoverTitle "Cover".
	ContentsTitle, CoverTitle string
	// CSS is the stylesheet; it may refer to nothing.
	CSS string
	// Body is the content of an HTML body element. Images are data URIs.
	Body string
	// Headings are the entries of the contents, in reading order, with the
	// anchors that they have in Body.
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

// Left is an image that no book may hold.
type Left struct {
	// Alt stands in its place.
	Alt string
	// Why it was left out, in words.
	Why string
}

// Write makes the file. The same book gives the same bytes. Left are the images
// that were left out.
func Write(b Book) (data []byte, left []Left, err error) {
	nodes, err := html.ParseFragment(
		strings.NewReader(b.Body),
		&html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body},
	)
	if err != nil {
		return nil, nil, fmt.Errorf("epub: %w", err)
	}
	w := &writer{book: b, places: map[string]string{}}

	w.chapters = split(nodes)
	for _, c := range w.chapters {
		w.place(c)
	}

	if lost := w.renderAll(); len(lost) > 0 {
		// Anchors of what has no place in a book: links to them lead nowhere.
		for _, id := range lost {
			delete(w.places, id)
		}
		w.renderAll()
	}
	data, err = w.archive()

	return data, w.left, err
}

// chapter is a part of the body with a file of its own.
type chapter struct {
	nodes []*html.Node
	file  string
	// ids are those that it holds and that are not written yet.
	ids map[string]bool
	// xhtml is the content of its body element.
	xhtml string
	title string
	// svg and maths report what is in it.
	svg, maths bool
}

// split cuts a body where its chapters begin: at headings of the highest level
// that there are several of, below the title.
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
		// A title does not stand on a page by itself.
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

func isPageBreak(n *html.Node) bool { return hasClass(n, "page-break") }

func hasClass(n *html.Node, class string) bool {
	for c := range strings.FieldsSeq(attribute(n, "class")) {
		if c == class {
			return true
		}
	}

	return false
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key && a.Namespace == "" {
			return a.Val
		}
	}

	return ""
}

// place notes which anchors a chapter holds.
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

// identifier names the book by what is in it: a UUID of version 8.
func (b Book) identifier() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %q %q %q", b.Title, b.Author, b.Lang, b.Date, b.CSS, b.Body)
	sum := h.Sum(nil)[:16]
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	id := hex.EncodeToString(sum)

	return "urn:uuid:" + id[:8] + "-" + id[8:12] + "-" + id[12:16] + "-" + id[16:20] + "-" + id[20:]
}

// archive packs the files.
func (w *writer) archive() ([]byte, error) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	const mimetype = "application/epub+zip"
	// First, as it is, and without anything after the name: by it the file is
	// known.
	raw, err := z.CreateRaw(&zip.FileHeader{
		Name: "mimetype", Method: zip.Store, CRC32: crc32.ChecksumIEEE([]byte(mimetype)),
		CompressedSize64: uint64(len(mimetype)), UncompressedSize64: uint64(len(mimetype)),
	})
	if err != nil {
		return nil, err
	}

	if _, err := raw.Write([]byte(mimetype)); err != nil {
		return nil, err
	}
	add := func(name string, data []byte) {
		if err != nil {
			return
		}

		method := zip.Deflate
		if strings.HasSuffix(name, ".png") || strings.HasSuffix(name, ".jpg") || strings.HasSuffix(name, ".webp") ||
			strings.HasSuffix(name, ".gif") {
			method = zip.Store
		}

		f, failed := z.CreateHeader(&zip.FileHeader{Name: name, Method: method, Modified: w.book.Modified.UTC()})
		if err = failed; err == nil {
			_, err = f.Write(data)
		}
	}
	add("META-INF/container.xml", []byte(container))
	add("EPUB/package.opf", []byte(w.packageDocument()))
	add("EPUB/nav.xhtml", []byte(w.navigation()))
	add("EPUB/style.css", []byte(w.book.CSS))

	if w.book.Cover != nil {
		add("EPUB/cover.png", w.book.Cover)
		add("EPUB/cover.xhtml", []byte(w.coverPage()))
	}

	for _, c := range w.chapters {
		add("EPUB/"+c.file, []byte(w.document(c.title, "", "<body>\n"+c.xhtml+"\n</body>")))
	}

	for _, p := range w.order {
		add("EPUB/"+p.file, p.data)
	}

	if err == nil {
		err = z.Close()
	}

	if err != nil {
		return nil, fmt.Errorf("epub: %w", err)
	}

	return out.Bytes(), nil
}

const container = `<?xml version="1.0" encoding="UTF-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="EPUB/package.opf" media-type="application/oebps-package+xml"/></rootfiles>
</container>
`

// packageDocument lists everything, and says what the book is.
func (w *writer) packageDocument() string {
	b := w.book
	var o strings.Builder
	o.WriteString(
		`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="` + text(
			b.Lang,
		) + "\">\n",
	)
	o.WriteString(`<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">` + "\n")
	element := func(name, value string) {
		if value != "" {
			o.WriteString(
				"<" + name + ">" + text(value) + "</dc:" + strings.TrimPrefix(strings.Fields(name)[0], "dc:") + ">\n",
			)
		}
	}
	element(`dc:identifier id="id"`, b.identifier())
	element("dc:title", b.Title)
	element("dc:creator", b.Author)
	element("dc:language", b.Lang)
	element("dc:description", b.Subject)
	element("dc:date", b.Date)

	for _, k := range b.Keywords {
		element("dc:subject", k)
	}
	property := func(name, value string) {
		o.WriteString(`<meta property="` + name + `">` + value + "</meta>\n")
	}
	property("dcterms:modified", b.Modified.UTC().Format("2006-01-02T15:04:05Z"))
	property("schema:accessMode", "textual")

	maths, visual := false, len(w.order) > 0
	for _, c := range w.chapters {
		maths, visual = maths || c.maths, visual || c.svg
	}

	if visual {
		property("schema:accessMode", "visual")
	}

	if maths {
		property("schema:accessibilityFeature", "MathML")
	}

	for _, feature := range []string{"tableOfContents", "readingOrder", "structuralNavigation", "displayTransformability"} {
		property("schema:accessibilityFeature", feature)
	}
	property("schema:accessibilityHazard", "none")

	if b.Cover != nil {
		o.WriteString(`<meta name="cover" content="cover-image"/>` + "\n") // for readers of EPUB 2
	}
	o.WriteString("</metadata>\n<manifest>\n")
	item := func(id, file, media, properties string) {
		o.WriteString(`<item id="` + id + `" href="` + file + `" media-type="` + media + `"`)

		if properties = strings.TrimSpace(properties); properties != "" {
			o.WriteString(` properties="` + properties + `"`)
		}
		o.WriteString("/>\n")
	}
	item("nav", "nav.xhtml", "application/xhtml+xml", "nav")
	item("style", "style.css", "text/css", "")
	var spine strings.Builder

	if b.Cover != nil {
		item("cover-image", "cover.png", "image/png", "cover-image")
		item("cover", "cover.xhtml", "application/xhtml+xml", "")
		spine.WriteString(`<itemref idref="cover"/>` + "\n")
	}

	if b.ShowContents {
		spine.WriteString(`<itemref idref="nav"/>` + "\n")
	}

	for i, c := range w.chapters {
		properties := ""
		if c.maths {
			properties += "mathml "
		}

		if c.svg {
			properties += "svg"
		}
		id := "chapter-" + strconv.Itoa(i+1)
		item(id, c.file, "application/xhtml+xml", properties)
		spine.WriteString(`<itemref idref="` + id + `"/>` + "\n")
	}

	for i, p := range w.order {
		item("image-"+strconv.Itoa(i+1), p.file, p.media, "")
	}

	direction := ""
	if b.RightToLeft {
		direction = ` page-progression-direction="rtl"`
	}
	o.WriteString("</manifest>\n<spine" + direction + ">\n" + spine.String() + "</spine>\n</package>\n")

	return o.String()
}

// document is an XHTML file.
func (w *writer) document(title, head, body string) string {
	if title == "" {
		title = w.book.Title
	}

	direction := ""
	if w.book.RightToLeft {
		direction = ` dir="rtl"`
	}

	return `<?xml version="1.0" encoding="UTF-8"?>` + "\n<!DOCTYPE html>\n" +
		`<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" lang="` + text(w.book.Lang) + `" xml:lang="` + text(w.book.Lang) + `"` + direction + ">\n" +
		"<head>\n<meta charset=\"utf-8\"/>\n<title>" + text(title) + "</title>\n" + `<link rel="stylesheet" type="text/css" href="style.css"/>` + "\n" + head + "</head>\n" + body + "\n</html>\n"
}

func (w *writer) coverPage() string {
	return w.document(
		w.book.CoverTitle,
		"<style>body{margin:0;text-align:center}img{max-width:100%;max-height:100vh}</style>\n",
		`<body epub:type="cover">`+"\n<div><img src=\"cover.png\" alt=\""+text(w.book.Title)+"\"/></div>\n</body>",
	)
}

// navigation is the table of contents that readers show.
func (w *writer) navigation() string {
	var o strings.Builder
	o.WriteString(
		`<body>` + "\n" + `<nav epub:type="toc" role="doc-toc" id="toc">` + "\n<h1>" + text(
			w.book.ContentsTitle,
		) + "</h1>\n",
	)
	var open []int // the levels of the lists that are open

	for _, h := range w.book.Headings {
		file := w.places[h.ID]
		if file == "" || strings.TrimSpace(h.Text) == "" {
			continue
		}

		for len(open) > 1 && h.Level < open[len(open)-1] && h.Level <= open[len(open)-2] {
			o.WriteString("</li>\n</ol>\n")
			open = open[:len(open)-1]
		}

		if len(open) == 0 || h.Level > open[len(open)-1] {
			o.WriteString("<ol>\n")
			open = append(open, h.Level)
		} else {
			o.WriteString("</li>\n")
			open[len(open)-1] = h.Level
		}
		o.WriteString(`<li><a href="` + file + "#" + fragment(h.ID) + `">` + text(h.Text) + "</a>")
	}

	if len(open) == 0 {
		o.WriteString("<ol>\n<li><a href=\"" + w.chapters[0].file + `">` + text(w.book.Title) + "</a>")
		open = append(open, 1)
	}
	o.WriteString(strings.Repeat("</li>\n</ol>\n", len(open)) + "</nav>\n")
	o.WriteString(`<nav epub:type="landmarks" hidden="hidden">` + "\n<ol>\n")

	if w.book.Cover != nil {
		o.WriteString(`<li><a epub:type="cover" href="cover.xhtml">` + text(w.book.CoverTitle) + "</a></li>\n")
	}

	if w.book.ShowContents {
		o.WriteString(`<li><a epub:type="toc" href="nav.xhtml">` + text(w.book.ContentsTitle) + "</a></li>\n")
	}
	o.WriteString(
		`<li><a epub:type="bodymatter" href="` + w.chapters[0].file + `">` + text(
			w.book.Title,
		) + "</a></li>\n</ol>\n</nav>\n</body>",
	)

	return w.document(w.book.ContentsTitle, "", o.String())
}
