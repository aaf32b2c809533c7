package epub

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/text/language"
)

// writer is a book being written.
type writer struct {
	book     Book
	chapters []*chapter
	// places has the file of each anchor, by its id.
	places  map[string]string
	images  map[string]*picture // by data URI
	order   []*picture          // the pictures in the order of the text
	omitted []Omission

	chapter *chapter
	out     strings.Builder
}

// model says which elements XHTML allows at a place. The zero value allows all.
type model struct {
	// phrasing forbids blocks, inLink forbids links and forms, plain forbids headings and tables.
	phrasing, inLink, plain bool
}

// renderAll writes the content of all chapters. It returns the anchors of elements that were left out.
func (w *writer) renderAll() (lost []string) {
	w.images, w.order, w.omitted = map[string]*picture{}, nil, nil
	for _, c := range w.chapters {
		c.ids = map[string]bool{}
		for id, file := range w.places {
			if file == c.file {
				c.ids[id] = true
			}
		}
		w.render(c)
		lost = slices.AppendSeq(lost, maps.Keys(c.ids))
	}

	return lost
}

// render writes the content of a chapter into its field xhtml. XHTML allows no text directly in the body, so text
// becomes a paragraph.
func (w *writer) render(c *chapter) {
	w.chapter = c
	w.out.Reset()

	for _, n := range c.nodes {
		if c.title == "" && headingLevel(n.DataAtom) > 0 {
			c.title = strings.Join(strings.Fields(plainText(n)), " ")
		}

		if n.Type == html.TextNode && strings.TrimSpace(n.Data) != "" {
			w.out.WriteString("<p>" + text(n.Data) + "</p>")
			continue
		}
		w.node(n, model{})
	}
	c.xhtml = w.out.String()
}

// headingLevel returns 1 to 6 for a heading, and 0 or -1 for other elements.
func headingLevel(a atom.Atom) int {
	return slices.Index([]atom.Atom{0: atom.Body, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6}, a)
}

// plainText returns the text of a node without its markup.
func plainText(n *html.Node) string {
	var b strings.Builder

	for d := range descendants(n) {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}

	return b.String()
}

// renamed maps elements to those that are written instead. XHTML lacks the first ones. The others have rules about
// their places and content, which the body of a document breaks. They keep their old name as a class.
var renamed = map[string]string{
	"big":     "span",
	"font":    "span",
	"center":  "div",
	"tt":      "code",
	"strike":  "s",
	"menu":    "ul",
	"rb":      "span",
	"time":    "span",
	"dfn":     "i",
	"section": "div",
	"article": "div",
	"aside":   "div",
	"header":  "div",
	"footer":  "div",
	"nav":     "div",
	"main":    "div",
	"address": "div",
}

var (
	blocks  = words("h1 h2 h3 h4 h5 h6 p div blockquote pre hr figure details ul ol dl table")
	inlines = words(
		"span br b strong i em u s del ins mark small sub sup kbd samp var q cite abbr bdi bdo wbr code a img ruby",
	)
	// onlyPhrasing are the elements that cannot contain blocks.
	onlyPhrasing = words(
		"h1 h2 h3 h4 h5 h6 p pre span b strong i em u s del ins mark small sub sup kbd samp var q cite abbr bdi bdo " +
			"code a summary",
	)
	empty = words("br hr img wbr col") // elements without content
)

// words returns the set of the words in list.
func words(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}

	return m
}

// node writes a node at a place with this model.
func (w *writer) node(n *html.Node, m model) {
	switch {
	case n.Type == html.TextNode:
		w.out.WriteString(text(strings.ReplaceAll(n.Data, "\u00ad", ""))) // readers divide words themselves
		return
	case n.Type != html.ElementNode:
		return
	case n.Namespace == "svg" || n.Namespace == "math":
		w.foreign(n)
		return
	}

	name := n.Data
	if other, ok := renamed[name]; ok {
		name = other
	}

	switch {
	case name == "input":
		w.checkbox(n)
		return
	case name == "img":
		w.image(n)
		return
	case hasClass(n, "toc-here") || isPageBreak(n):
		if id := attribute(n, "id"); id != "" && w.chapter.ids[id] {
			w.out.WriteString(`<span id="` + text(id) + `"></span>`)
		}

		return
	case name == "rp": // brackets for readers without ruby
		return
	case name == "a" && (m.inLink || w.href(n) == ""):
		name = "span"
	// A block is not allowed here: within text, or a heading or table where only plain blocks are.
	case blocks[name] && (m.phrasing || m.plain && (headingLevel(n.DataAtom) > 0 || name == "table")):
		name = outOfPlace(name, m)
	case name == "rt":
		name = "span"
	case !blocks[name] && !inlines[name]: // a part of a list or table outside of one
		name = outOfPlace("div", m)
	}

	switch name {
	case "ul", "ol":
		w.list(n, name, m)
	case "dl":
		w.definitions(n, m)
	case "table":
		w.table(n, m)
	case "details":
		w.details(n, m)
	case "figure":
		w.figure(n, m)
	case "ruby":
		w.ruby(n, m)
	default:
		w.element(n, name, m)
	}
}

// outOfPlace returns the element that replaces a block where XHTML does not allow it.
func outOfPlace(name string, m model) string {
	switch {
	case name == "hr":
		return "br"
	case m.phrasing:
		return "span"
	}

	return "div"
}

// element writes an element and its content.
func (w *writer) element(n *html.Node, name string, m model) {
	w.start(n, name)

	if empty[name] {
		return
	}
	m.phrasing = m.phrasing || onlyPhrasing[name]
	m.inLink = m.inLink || name == "a"
	w.children(n, m)
	w.out.WriteString("</" + name + ">")
}

// children writes the content of an element.
func (w *writer) children(n *html.Node, m model) {
	for c := range n.ChildNodes() {
		w.node(c, m)
	}
}

// start writes a start tag. For an empty element this is the whole element.
func (w *writer) start(n *html.Node, name string, more ...string) {
	w.out.WriteString("<" + name)

	if classes := classesOf(n, name); len(classes) > 0 {
		w.write("class", strings.Join(classes, " "))
	}

	id := attribute(n, "id")
	if id == "" && n.DataAtom == atom.A {
		id = attribute(n, "name")
	}

	if w.chapter.ids[id] {
		w.write("id", id)
		delete(w.chapter.ids, id) // an id may occur once in a file
	}

	for _, a := range n.Attr {
		if a.Namespace == "" {
			w.attribute(name, a.Key, a.Val)
		}
	}

	if dir := strings.ToLower(attribute(n, "dir")); name == "bdo" && dir != "ltr" && dir != "rtl" {
		w.write("dir", "ltr")
	}

	if name == "a" {
		w.write("href", w.href(n))

		switch {
		case hasClass(n, "footnote-ref"):
			w.write("epub:type", "noteref")
			w.write("role", "doc-noteref")
		case hasClass(n, "footnote-backref"):
			w.write("epub:type", "backlink")
			w.write("role", "doc-backlink")
		}
	}

	for i := 0; i+1 < len(more); i += 2 {
		w.write(more[i], more[i+1])
	}

	if empty[name] {
		w.out.WriteString("/>")
		return
	}
	w.out.WriteString(">")
}

// classesOf returns the classes of an element that is written under name. By the additional ones, the stylesheet
// replaces attributes that XHTML lacks, and the looks of renamed elements.
func classesOf(n *html.Node, name string) []string {
	classes := strings.Fields(attribute(n, "class"))
	for _, key := range []string{"align", "valign"} {
		if v := strings.ToLower(attribute(n, key)); v != "" && name != "img" {
			classes = append(classes, key+"-"+v)
		}
	}

	if n.Data != name && renamed[n.Data] != "" {
		classes = append(classes, n.Data)
	}

	return classes
}

// write writes an attribute as it is.
func (w *writer) write(key, value string) { w.out.WriteString(" " + key + `="` + text(value) + `"`) }

// attribute writes an attribute of the source if the element name may have it with this value. start writes those that
// depend on others: class, id, href.
func (w *writer) attribute(name, key, value string) {
	number := func(least, most int) bool {
		n, err := strconv.Atoi(value)
		value = strconv.Itoa(n)

		return err == nil && n >= least && n <= most
	}
	cell := name == "td" || name == "th"

	switch key {
	case "title":
	case "dir":
		if value = strings.ToLower(value); value != "ltr" && value != "rtl" && value != "auto" {
			return
		}

		if name == "bdo" && value == "auto" {
			return
		}
	case "lang":
		if _, err := language.Parse(value); err != nil {
			return
		}
		w.write("xml:lang", value)
	case "colspan":
		if !cell || !number(1, 1000) {
			return
		}
	case "rowspan":
		if !cell || !number(0, 65534) {
			return
		}
	case "span":
		if name != "col" && name != "colgroup" || !number(1, 1000) {
			return
		}
	case "start":
		if name != "ol" || !number(-1<<31, 1<<31-1) {
			return
		}
	case "value":
		if name != "li" || !number(-1<<31, 1<<31-1) {
			return
		}
	case "reversed":
		if name != "ol" {
			return
		}
		value = "reversed"
	case "type":
		if name != "ol" || len(value) != 1 || !strings.Contains("1aAiI", value) {
			return
		}
	default:
		return
	}
	w.write(key, value)
}

// text escapes a text for XML. It leaves out characters that XML does not allow.
func text(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		// XML allows these characters (XML 1.0, 2.2).
		case r == '\t' || r == '\n' || r == '\r' || r >= 0x20 && r <= 0xD7FF || r >= 0xE000 && r <= 0xFFFD || r >= 0x10000:
			return r
		}

		return -1
	}, s)

	return html.EscapeString(s)
}

// checkbox writes a box of a task list as a character, because reading devices show no forms.
func (w *writer) checkbox(n *html.Node) {
	mark := "☐"

	for _, a := range n.Attr {
		if a.Key == "checked" {
			mark = "☑"
		}
	}
	w.out.WriteString(`<span class="task">` + mark + "</span> ")
}
