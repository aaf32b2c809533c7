package browse

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	maxText  = 512 << 10 // bytes of a page's text
	maxLinks = 2000      // of a page that have numbers
	maxLabel = 200       // characters of a link's text
	maxHref  = 2048      // bytes of a link's address
	// maxIndent is the longest indentation, in characters: a page may nest lists
	// without bound.
	maxIndent = 16
)

// writer converts HTML to text in one pass with any nesting. Blocks get their own lines. It visits no node twice,
// except for the text of a link.
type writer struct {
	base  *url.URL
	links []string
	ids   map[string]int

	out strings.Builder
	// breaks are the line feeds, and space the space, that are due before the next text. The text does not begin
	// with them.
	breaks int
	space  bool
	// indent begins each line. mark comes before the next text, after outer instead of indent at the beginning of
	// a line. A mark without text is dropped.
	indent      string
	mark, outer string
	pre         int // elements around that keep white space
	cells       int // cells of tables of data around: all in them is one line
	layout      map[*html.Node]bool
	cut         bool // not all of it fits
}

// textOf returns the text of a tree and the addresses of its links. cut means that the text is incomplete.
func textOf(root *html.Node, base *url.URL) (text string, links []string, cut bool) {
	w := &writer{base: base, ids: map[string]int{}, layout: layoutTables(root)}
	w.node(root)

	return w.out.String(), w.links, w.cut
}

// write appends text. It collapses white space unless the text is preformatted.
func (w *writer) write(s string) {
	if w.pre > 0 {
		s = strings.ReplaceAll(s, "\t", "    ")
	}

	s = clean(s)
	if w.pre > 0 && w.cells == 0 {
		for i, line := range strings.Split(s, "\n") {
			if i > 0 {
				w.breaks++
			}
			w.word(line)
		}

		return
	}

	for len(s) > 0 {
		n := strings.IndexAny(s, " \n")
		if n == 0 {
			w.space, s = true, s[1:]
			continue
		}

		if n < 0 {
			n = len(s)
		}
		w.word(s[:n])
		s = s[n:]
	}
}

// word appends text without line feeds, after due line feeds and spaces.
func (w *writer) word(s string) {
	if s == "" || w.cut {
		return
	}

	breaks, start := min(w.breaks, 3), w.indent
	if w.mark != "" {
		start = w.outer
	}

	if w.out.Len()+breaks+len(start)+len(w.mark)+1+len(s) > maxText {
		w.cut = true
		return
	}

	for range breaks {
		w.out.WriteByte('\n')
	}

	switch {
	case breaks > 0 || w.out.Len() == 0:
		w.out.WriteString(start)
	case w.space:
		w.out.WriteByte(' ')
	}
	w.out.WriteString(w.mark)
	w.out.WriteString(s)
	w.breaks, w.space, w.mark = 0, false, ""
}

// block requests line feeds before the next text.
func (w *writer) block(breaks int) {
	switch {
	case w.cells > 0:
		w.space = breaks > 0 || w.space
	case w.mark == "" && w.out.Len() > 0:
		w.breaks = max(w.breaks, breaks)
	}
}

func (w *writer) children(n *html.Node) {
	for c := n.FirstChild; c != nil && !w.cut; c = c.NextSibling {
		w.node(c)
	}
}

func (w *writer) node(n *html.Node) {
	switch n.Type {
	case html.TextNode:
		w.write(n.Data)
	case html.DocumentNode:
		w.children(n)
	case html.ElementNode:
		if !hidden(n) {
			w.element(n)
		}
	}
}

// marked writes the children with a mark before the first line, and indents the others.
func (w *writer) marked(n *html.Node, mark, indent string) {
	before, marks, length := w.indent, w.mark, w.out.Len()
	if w.mark == "" {
		w.outer = w.indent
	}

	if len(w.mark)+len(mark) <= maxIndent {
		w.mark += mark
	}

	if len(w.indent)+len(indent) <= maxIndent {
		w.indent += indent
	}
	w.children(n)

	if w.indent = before; w.out.Len() == length {
		w.mark = marks
	}
}

func (w *writer) element(n *html.Node) {
	switch n.DataAtom {
	case atom.A:
		w.link(n)
	case atom.Br:
		w.block(1)
	case atom.Hr:
		w.block(2)
		w.word("---")
		w.block(2)
	case atom.Img:
		if alt := label(attr(n, "alt"), maxLabel); alt != "" {
			w.write("[Image: " + alt + "]")
		}
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		w.block(2)
		w.marked(n, "######"[:n.Data[1]-'0']+" ", "")
		w.block(2)
	case atom.Ul, atom.Ol, atom.Menu:
		w.list(n)
	case atom.Dd:
		w.block(1)
		w.marked(n, "  ", "  ")
		w.block(1)
	case atom.Blockquote:
		w.block(2)
		w.marked(n, "> ", "> ")
		w.block(2)
	case atom.Pre:
		w.preformatted(n)
	case atom.Table:
		w.table(n)
	case atom.Math:
		if tex := attr(n, "alttext"); tex != "" {
			w.write(tex)
			return
		}
		w.children(n)
	case atom.Sup, atom.Sub:
		w.raised(n)
	default:
		breaks := blocks[n.DataAtom]
		w.block(breaks)
		w.children(n)
		w.block(breaks)
	}
}

// blocks are the elements with lines of their own. 2 means an empty line around them.
var blocks = map[atom.Atom]int{
	atom.P:          2,
	atom.Article:    2,
	atom.Section:    2,
	atom.Figure:     2,
	atom.Details:    2,
	atom.Dl:         2,
	atom.Fieldset:   2,
	atom.Div:        1,
	atom.Main:       1,
	atom.Header:     1,
	atom.Footer:     1,
	atom.Nav:        1,
	atom.Aside:      1,
	atom.Address:    1,
	atom.Form:       1,
	atom.Li:         1,
	atom.Dt:         1,
	atom.Tr:         1,
	atom.Td:         1,
	atom.Th:         1,
	atom.Caption:    1,
	atom.Figcaption: 1,
	atom.Summary:    1,
	atom.Legend:     1,
	atom.Option:     1,
	atom.Center:     1,
}

func (w *writer) list(n *html.Node) {
	around := 2
	if w.indent != "" {
		around = 1
	}
	w.block(around)
	number := 0

	for c := n.FirstChild; c != nil && !w.cut; c = c.NextSibling {
		if c.DataAtom != atom.Li || hidden(c) {
			w.node(c)
			continue
		}
		number++

		mark := "* "
		if n.DataAtom == atom.Ol {
			mark = itoa(number) + ". "
		}
		w.block(1)
		w.marked(c, mark, "  ")
	}
	w.block(around)
}

func (w *writer) preformatted(n *html.Node) {
	if w.cells > 0 {
		w.children(n)
		return
	}
	w.block(2)
	w.word("```")
	w.breaks = 1
	w.pre++
	w.children(n)
	w.pre--
	w.breaks = 1
	w.word("```")
	w.block(2)
}

// raised writes 10^{6} for 10<sup>6</sup>, which would read as 106.
func (w *writer) raised(n *html.Node) {
	c := n.FirstChild
	if c == nil || c.Type != html.TextNode || c.NextSibling != nil || len(c.Data) > 20 {
		w.children(n)
		return
	}
	mark := map[atom.Atom]string{atom.Sup: "^{", atom.Sub: "_{"}[n.DataAtom]
	w.word(mark + inline(c.Data, 20) + "}")
}

// link writes 【id†text†domain】. Links to the same address have the same number.
func (w *writer) link(n *html.Node) {
	text := label(plain(n), maxLabel)
	if text == "" {
		text = label(attr(n, "aria-label")+" "+attr(n, "title"), maxLabel)
	}

	target := w.target(attr(n, "href"))
	switch {
	case text == "":
		return
	case target == nil:
		w.write(text)
		return
	}
	address := target.String()

	id, known := w.ids[address]
	if !known {
		if len(w.links) == maxLinks {
			w.write(text)
			return
		}
		id = len(w.links)
		w.ids[address], w.links = id, append(w.links, address)
	}
	w.word("【" + itoa(id) + "†" + text + "†" + label(target.Hostname(), 80) + "】")
}

// target returns the address of a link, or nil unless it is another web page.
func (w *writer) target(href string) *url.URL {
	href = strings.TrimSpace(href)
	if href == "" || len(href) > maxHref || href[0] == '#' {
		return nil
	}

	u, err := w.base.Parse(href)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return nil
	}
	u.Fragment, u.RawFragment = "", ""

	return u
}
