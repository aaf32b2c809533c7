package document

import (
	"slices"
	"strconv"
	"strings"

	xhtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"presswork/internal/document/cover"
	"presswork/internal/document/markup"
	"presswork/internal/document/sheet"
	"presswork/internal/pdffile"
)

// body writes the slides. With notePages, a page of notes follows each slide that has some.
func (d deck) body(notePages bool) string {
	var w markup.Writer
	if len(d.slides) > 1 {
		w.Open("nav hidden") // Chromium writes the pages of linked elements into the PDF

		for _, s := range d.slides {
			w.Element("a", "", "href", "#"+s.id())
		}
		w.Close("nav").Raw("\n")
	}

	for _, s := range d.slides {
		if s.kind == "cover" {
			d.writeCover(&w, s)
		} else {
			d.write(&w, s)
		}

		if notePages && s.Notes != "" {
			w.Raw(`<section class="slide slide-notes"><div class="slide-head">`).Element("p", strconv.Itoa(s.number))
			w.Raw(`</div><div class="slide-body"><div class="slide-fit">`)

			for paragraph := range strings.SplitSeq(s.Notes, "\n\n") {
				w.Element("p", strings.TrimSpace(paragraph)).Raw("\n")
			}
			w.Close("div", "div", "section").Raw("\n")
		}
	}

	return w.String()
}

// id returns the anchor of a slide.
func (s slide) id() string { return "slide-" + strconv.Itoa(s.number) }

// content returns the slide's content as HTML.
func (s slide) content() string { return rendered(slices.Collect(s.root.ChildNodes())...) }

// write writes a slide: background, heading, content and foot.
func (d deck) write(w *markup.Writer, s slide) {
	classes := append([]string{"slide", "slide-" + s.kind}, s.Classes...)
	if s.side != "" {
		classes = append(classes, "bg-"+s.side)
	}
	w.Open("section", "class", strings.Join(classes, " "), "id", s.id(), "style", s.shareStyle()).Raw("\n" + s.bg)

	if len(s.heading) > 0 {
		w.Raw(`<div class="slide-head">` + rendered(s.heading...) + "</div>\n")
	}

	if !s.empty() {
		w.Raw(`<div class="slide-body"><div class="slide-fit">` + s.content() + "</div></div>\n")
	}
	d.writeFoot(w, s)
	w.Raw("</section>\n")
}

// writeFoot writes the header and the footer as one line, and the number of the slide.
func (d deck) writeFoot(w *markup.Writer, s slide) {
	o := d.page.options
	text := ""

	for _, t := range []*string{o.HeaderText, o.FooterText} {
		if t != nil && *t != "" {
			text = strings.TrimSpace(text + " " + *t)
		}
	}
	text = strings.NewReplacer(
		"{page}", strconv.Itoa(s.number),
		"{total}", strconv.Itoa(len(d.slides)),
		"{title}", d.page.meta.Title,
		"{date}", d.page.date, "{chapter}", "").
		Replace(text)

	hidden := s.Unnumbered || d.marp.Marp == "true" && d.marp.Paginate != "true" || o.FooterText != nil
	if text == "" && hidden {
		return
	}
	w.Raw(`<div class="slide-foot">`)

	if text != "" {
		w.Element("span", pdffile.OneLine(text))
	}

	if !hidden {
		w.Element("span", strconv.Itoa(s.number))
	}
	w.Raw("</div>\n")
}

// writeCover writes the title slide, which is the theme's cover.
func (d deck) writeCover(w *markup.Writer, s slide) {
	p := d.page
	heading := s.heading[0]
	setAttribute(heading, "class", strings.TrimSpace(attributeOf(heading, "class")+" cover-title"))

	w.Open("section", "class", cover.Class(p.sheet, isTrue(p.options.InkSaver))+" slide-cover", "id", s.id(),
		"style", cover.Style(slideCover(p.sheet), textOfNode(heading), textOfNode(s.root)))
	w.Raw("\n<div class=\"cover-head\">\n" + rendered(heading) + "\n")

	if !s.empty() {
		w.Raw(`<div class="cover-subject">` + s.content() + "</div>\n")
	} else if d.head.subtitle != "" {
		w.Raw(`<div class="cover-subject">`).Element("p", d.head.subtitle).Raw("</div>\n")
	}
	cover.WriteFoot(w, p.meta.Author, d.head.date)
}

// slideCover returns the sheet for a cover whose type is as large as that of slides.
func slideCover(s sheet.Sheet) sheet.Sheet {
	const larger = 1.5
	s.Width, s.Height = s.Width*larger, s.Height*larger

	return s
}

// addCover adds a title slide with the title of the front matter.
func (d *deck) addCover() {
	heading := &xhtml.Node{Type: xhtml.ElementNode, Data: "h1", DataAtom: atom.H1}
	heading.AppendChild(&xhtml.Node{Type: xhtml.TextNode, Data: d.page.meta.Title})

	first := slide{
		number:  1,
		kind:    "cover",
		heading: []*xhtml.Node{heading},
		root:    &xhtml.Node{Type: xhtml.ElementNode, Data: "div", DataAtom: atom.Div},
	}
	for i := range d.slides {
		d.slides[i].number++
	}
	d.slides = append([]slide{first}, d.slides...)
}

// attributeOf returns the value of an attribute, or "".
func attributeOf(n *xhtml.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key && a.Namespace == "" {
			return a.Val
		}
	}

	return ""
}

// setAttribute sets an attribute of a node.
func setAttribute(n *xhtml.Node, key, value string) {
	dropAttribute(n, key)
	n.Attr = append(n.Attr, xhtml.Attribute{Key: key, Val: value})
}

// dropAttribute removes an attribute from an element.
func dropAttribute(n *xhtml.Node, key string) {
	var kept []xhtml.Attribute

	for _, a := range n.Attr {
		if a.Key != key {
			kept = append(kept, a)
		}
	}
	n.Attr = kept
}

// textOfNode returns the text of a node and its descendants.
func textOfNode(n *xhtml.Node) string {
	var b strings.Builder

	for d := range n.Descendants() {
		if d.Type == xhtml.TextNode {
			b.WriteString(d.Data)
		}
	}

	return b.String()
}

// rendered returns nodes as HTML.
func rendered(nodes ...*xhtml.Node) string {
	var b strings.Builder
	for _, n := range nodes {
		_ = xhtml.Render(&b, n) // a write to memory cannot fail
	}

	return b.String()
}

// isHeadingNode reports whether an element is a heading of level 1 to 3, which may be the title of a slide.
func isHeadingNode(n *xhtml.Node) bool {
	return n.DataAtom == atom.H1 || n.DataAtom == atom.H2 || n.DataAtom == atom.H3
}

// hasClassOf reports whether an element has a class.
func hasClassOf(n *xhtml.Node, class string) bool {
	return strings.Contains(" "+attributeOf(n, "class")+" ", " "+class+" ")
}
