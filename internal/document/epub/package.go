package epub

import (
	"archive/zip"
	"bytes"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
)

// archive returns the EPUB file with all its parts.
func (w *writer) archive() ([]byte, error) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	const mimetype = "application/epub+zip"
	// This entry must be the first, uncompressed and without extra fields: programs recognise an EPUB by its bytes
	// (EPUB 3.3, OCF).
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
	// add writes a file, unless an earlier one has failed.
	add := func(name string, data []byte) {
		if err != nil {
			return
		}

		method := zip.Deflate
		// These formats are compressed already.
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

// container is the file that leads a reading device to the package document.
const container = `<?xml version="1.0" encoding="UTF-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="EPUB/package.opf" media-type="application/oebps-package+xml"/></rootfiles>
</container>
`

// packageDocument returns the package document: metadata, a list of all files, and the order of the chapters.
func (w *writer) packageDocument() string {
	var o strings.Builder
	o.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
		`<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="` +
		text(w.book.Lang) + "\">\n")
	w.writeMetadata(&o)
	w.writeFiles(&o)
	o.WriteString("</package>\n")

	return o.String()
}

// writeMetadata writes the element metadata: what the book states about itself, and what readers with disabilities can
// expect (the EPUB Accessibility vocabulary).
func (w *writer) writeMetadata(o *strings.Builder) {
	b := w.book
	o.WriteString(`<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">` + "\n")
	o.WriteString(`<dc:identifier id="id">` + b.identifier() + "</dc:identifier>\n")

	element := func(name, value string) {
		if value != "" {
			o.WriteString("<dc:" + name + ">" + text(value) + "</dc:" + name + ">\n")
		}
	}
	element("title", b.Title)
	element("creator", b.Author)
	element("language", b.Lang)
	element("description", b.Subject)
	element("date", b.Date)

	for _, k := range b.Keywords {
		element("subject", k)
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

	for _, feature := range []string{
		"tableOfContents", "readingOrder", "structuralNavigation", "displayTransformability",
	} {
		property("schema:accessibilityFeature", feature)
	}
	property("schema:accessibilityHazard", "none")

	if b.Cover != nil {
		o.WriteString(`<meta name="cover" content="cover-image"/>` + "\n") // for readers of EPUB 2
	}
	o.WriteString("</metadata>\n")
}

// writeFiles writes the elements manifest, the list of all files, and spine, the order of the pages.
func (w *writer) writeFiles(o *strings.Builder) {
	var spine strings.Builder
	item := func(id, file, media, properties string) {
		o.WriteString(`<item id="` + id + `" href="` + file + `" media-type="` + media + `"`)

		if properties = strings.TrimSpace(properties); properties != "" {
			o.WriteString(` properties="` + properties + `"`)
		}
		o.WriteString("/>\n")
	}
	o.WriteString("<manifest>\n")
	item("nav", "nav.xhtml", "application/xhtml+xml", "nav")
	item("style", "style.css", "text/css", "")

	if w.book.Cover != nil {
		item("cover-image", "cover.png", "image/png", "cover-image")
		item("cover", "cover.xhtml", "application/xhtml+xml", "")
		spine.WriteString(`<itemref idref="cover"/>` + "\n")
	}

	if w.book.ShowContents {
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
	if w.book.RightToLeft {
		direction = ` page-progression-direction="rtl"`
	}
	o.WriteString("</manifest>\n<spine" + direction + ">\n" + spine.String() + "</spine>\n")
}

// document returns an XHTML file. An empty title becomes that of the book, because XHTML requires one.
func (w *writer) document(title, head, body string) string {
	if title == "" {
		title = w.book.Title
	}

	direction := ""
	if w.book.RightToLeft {
		direction = ` dir="rtl"`
	}

	return `<?xml version="1.0" encoding="UTF-8"?>` + "\n<!DOCTYPE html>\n" +
		`<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" lang="` +
		text(w.book.Lang) + `" xml:lang="` + text(w.book.Lang) + `"` + direction + ">\n" +
		"<head>\n<meta charset=\"utf-8\"/>\n<title>" + text(title) + "</title>\n" +
		`<link rel="stylesheet" type="text/css" href="style.css"/>` + "\n" + head + "</head>\n" + body + "\n</html>\n"
}

// coverPage returns the page with the picture of the cover.
func (w *writer) coverPage() string {
	return w.document(w.book.CoverTitle,
		"<style>body{margin:0;text-align:center}img{max-width:100%;max-height:100vh}</style>\n",
		`<body epub:type="cover">`+"\n<div><img src=\"cover.png\" alt=\""+text(w.book.Title)+"\"/></div>\n</body>")
}

// navigation returns the table of contents, which reading devices show in a menu. EPUB requires an entry, so a book
// without headings has one for its text.
func (w *writer) navigation() string {
	var o strings.Builder
	o.WriteString(`<body>` + "\n" + `<nav epub:type="toc" role="doc-toc" id="toc">` + "\n<h1>" +
		text(w.book.ContentsTitle) + "</h1>\n")
	var open []int // the levels of the lists that are open

	for _, h := range w.book.Headings {
		file := w.places[h.ID]
		if file == "" || strings.TrimSpace(h.Text) == "" {
			continue
		}

		// Return to the list of the level of this heading. A skipped level opens only one list.
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
	o.WriteString(`<li><a epub:type="bodymatter" href="` + w.chapters[0].file + `">` +
		text(w.book.Title) + "</a></li>\n</ol>\n</nav>\n</body>")

	return w.document(w.book.ContentsTitle, "", o.String())
}
