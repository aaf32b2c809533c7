package epub

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// blank reports whether a node is white space or a comment.
func blank(n *html.Node) bool {
	return n.Type == html.TextNode && strings.TrimSpace(n.Data) == "" || n.Type == html.CommentNode
}

// list writes a list. XHTML allows only items in a list, so each other child becomes an item.
func (w *writer) list(n *html.Node, name string, m model) {
	w.start(n, name)
	notes := n.Parent != nil && hasClass(n.Parent, "footnotes")
	items := 0

	for c := range n.ChildNodes() {
		switch {
		case blank(c):
			continue
		case c.DataAtom != atom.Li:
			w.out.WriteString("<li>")
			w.node(c, model{inLink: m.inLink, plain: m.plain})
			w.out.WriteString("</li>\n")
		default:
			var more []string
			if notes {
				more = []string{"epub:type", "footnote"}
			}
			w.start(c, "li", more...)
			w.children(c, model{inLink: m.inLink, plain: m.plain})
			w.out.WriteString("</li>\n")
		}
		items++
	}
	w.out.WriteString("</" + name + ">")
}

// definitions writes a list of terms and meanings. XHTML requires that each term has a meaning; a list that breaks this
// rule becomes text.
func (w *writer) definitions(n *html.Node, m model) {
	proper, last := true, atom.Atom(0)

	for c := range n.ChildNodes() {
		switch {
		case blank(c):
			continue
		case c.DataAtom == atom.Dt:
		case c.DataAtom == atom.Dd && last != 0:
		default:
			proper = false
		}
		last = c.DataAtom
	}
	proper = proper && last == atom.Dd
	names := map[atom.Atom]string{atom.Dt: "dt", atom.Dd: "dd"}

	outer := "dl"
	if !proper {
		outer, names = "div", map[atom.Atom]string{atom.Dt: "div", atom.Dd: "div"}
	}
	w.start(n, outer)

	for c := range n.ChildNodes() {
		name, part := names[c.DataAtom]
		switch {
		case part:
			w.start(c, name)
			w.children(c, model{inLink: m.inLink, plain: m.plain || c.DataAtom == atom.Dt})
			w.out.WriteString("</" + name + ">\n")
		case !blank(c):
			w.node(c, m)
		}
	}
	w.out.WriteString("</" + outer + ">")
}

// table writes a table in the order that XHTML requires: caption, columns, head, bodies, foot. A table has one caption,
// one head and one foot. Further captions are left out; further heads and feet become bodies.
func (w *writer) table(n *html.Node, m model) {
	var captions, columns, heads, bodies, feet []*html.Node
	rows := 0

	for c := range n.ChildNodes() {
		switch c.DataAtom {
		case atom.Caption:
			captions = append(captions, c)
		case atom.Colgroup:
			columns = append(columns, c)
		case atom.Thead:
			heads = append(heads, c)
		case atom.Tfoot:
			feet = append(feet, c)
		case atom.Tbody:
			bodies = append(bodies, c)
		}

		for r := range c.ChildNodes() {
			if r.DataAtom == atom.Tr {
				rows++
			}
		}
	}

	if rows == 0 { // XHTML requires a row, so write the captions only
		w.start(n, "div")

		for _, c := range captions {
			w.element(c, "div", m)
		}
		w.out.WriteString("</div>")

		return
	}
	w.start(n, "table")

	if len(captions) > 0 {
		w.start(captions[0], "caption")
		w.children(captions[0], model{inLink: m.inLink, plain: true})
		w.out.WriteString("</caption>\n")
	}

	for _, c := range columns {
		w.columns(c)
	}

	for i, c := range heads {
		name := "thead"
		if i > 0 {
			name = "tbody"
		}
		w.rows(c, name, m)
	}

	for _, c := range bodies {
		w.rows(c, "tbody", m)
	}

	for i, c := range feet {
		name := "tbody"
		if i == len(feet)-1 {
			name = "tfoot"
		}
		w.rows(c, name, m)
	}
	w.out.WriteString("</table>")
}

// columns writes a group of columns. XHTML allows no col elements in a group that sets their number by span.
func (w *writer) columns(n *html.Node) {
	w.start(n, "colgroup")

	for col := range n.ChildNodes() {
		if col.DataAtom == atom.Col && attribute(n, "span") == "" {
			w.start(col, "col")
		}
	}
	w.out.WriteString("</colgroup>\n")
}

// rows writes a group of rows under this name. It writes nothing for a group without rows.
func (w *writer) rows(n *html.Node, name string, m model) {
	open := false

	for r := range n.ChildNodes() {
		if r.DataAtom != atom.Tr {
			continue
		}

		if !open {
			w.start(n, name)
			open = true
		}
		w.start(r, "tr")

		for c := range r.ChildNodes() {
			if c.DataAtom == atom.Td || c.DataAtom == atom.Th {
				w.start(c, c.Data)
				w.children(c, model{inLink: m.inLink, plain: c.DataAtom == atom.Th})
				w.out.WriteString("</" + c.Data + ">")
			}
		}
		w.out.WriteString("</tr>\n")
	}

	if open {
		w.out.WriteString("</" + name + ">\n")
	}
}

// details writes a folded part of a document unfolded, because reading devices cannot open it.
func (w *writer) details(n *html.Node, m model) {
	w.start(n, "div", "role", "group")

	for c := range n.ChildNodes() {
		if c.DataAtom == atom.Summary {
			w.start(c, "p")
			w.children(c, model{phrasing: true, inLink: m.inLink})
			w.out.WriteString("</p>\n")
			continue
		}
		w.node(c, m)
	}
	w.out.WriteString("</div>")
}

// figure writes a figure with its caption first or last, as XHTML requires. The first caption counts; further ones
// become text.
func (w *writer) figure(n *html.Node, m model) {
	var caption *html.Node
	first := true

	for c := range n.ChildNodes() {
		if c.DataAtom == atom.Figcaption && caption == nil {
			caption = c
			break
		}
		first = first && blank(c)
	}
	writeCaption := func() {
		w.start(caption, "figcaption")
		w.children(caption, model{inLink: m.inLink})
		w.out.WriteString("</figcaption>\n")
	}
	w.start(n, "figure")

	if caption != nil && first {
		writeCaption()
	}

	for c := range n.ChildNodes() {
		if c != caption {
			w.node(c, m)
		}
	}

	if caption != nil && !first {
		writeCaption()
	}
	w.out.WriteString("</figure>")
}

// ruby writes words with their readings. XHTML requires words before each reading; a ruby that breaks this rule becomes
// text.
func (w *writer) ruby(n *html.Node, m model) {
	name, reading := "ruby", "rt"
	last := atom.Rt

	for c := range n.ChildNodes() {
		switch {
		case blank(c) || c.DataAtom == atom.Rp:
			continue
		case c.DataAtom == atom.Rt && last == atom.Rt:
			name = "span"
		}
		last = c.DataAtom
	}

	if last != atom.Rt || name == "span" || n.FirstChild == nil {
		name, reading = "span", "span"
	}
	w.start(n, name)
	inside := model{phrasing: true, inLink: m.inLink}

	for c := range n.ChildNodes() {
		switch {
		case c.DataAtom == atom.Rt:
			w.start(c, reading)
			w.children(c, inside)
			w.out.WriteString("</" + reading + ">")
		case !blank(c):
			w.node(c, inside)
		}
	}
	w.out.WriteString("</" + name + ">")
}
