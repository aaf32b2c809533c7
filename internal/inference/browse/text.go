package browse

import (
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	maxText  = 512 << 10 // bytes of a page's text
	maxLinks = 2000      // of a page that have numbers
	maxLabel = 200       // characters of a link's text
	maxHref  = 2048      // bytes of a link's address
	// maxIndent is the longest indentation, in characters, because a page may nest lists to any depth.
	maxIndent = 16
)

// writer converts HTML to text in one pass. Blocks have lines of their own. It visits no node twice, except in the
// text of a link, so its time does not depend on the nesting.
type writer struct {
	base  *url.URL
	links []string
	ids   map[string]int // numbers of links by address

	out strings.Builder
	// breaks is the number of line feeds to write before the next text. space reports whether to write a space
	// instead if there are none. The first text has nothing before it.
	breaks int
	space  bool
	// indent begins each line. mark, such as the number of a list item, is written once, before the next text. A line
	// that begins with a mark has outer before it instead of indent. A mark without text is dropped.
	indent      string
	mark, outer string
	pre         int // nesting depth of elements that keep white space
	cells       int // nesting depth of cells of data tables, whose text stays on one line
	layout      map[*html.Node]bool
	cut         bool // text beyond maxText was dropped
}

// textOf returns the text of a tree and the addresses of its links. cut means that the text is incomplete.
func textOf(root *html.Node, base *url.URL) (text string, links []string, cut bool) {
	w := &writer{base: base, ids: map[string]int{}, layout: layoutTables(root)}
	w.writeNode(root)

	return w.out.String(), w.links, w.cut
}

// writeText appends text. It collapses white space unless the text is preformatted.
func (w *writer) writeText(s string) {
	if w.pre > 0 {
		s = strings.ReplaceAll(s, "\t", "    ")
	}

	s = clean(s)
	if w.pre > 0 && w.cells == 0 {
		for i, line := range strings.Split(s, "\n") {
			if i > 0 {
				w.breaks++
			}
			w.writeWord(line)
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
		w.writeWord(s[:n])
		s = s[n:]
	}
}

// writeWord appends text without line feeds, after due line feeds and spaces.
func (w *writer) writeWord(s string) {
	if s == "" || w.cut {
		return
	}

	breaks, start := min(w.breaks, 3), w.indent // at most two empty lines
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

// requestBreaks requests at least this many line feeds before the next text. In the cell of a table they become a
// space.
func (w *writer) requestBreaks(breaks int) {
	switch {
	case w.cells > 0:
		w.space = breaks > 0 || w.space
	case w.mark == "" && w.out.Len() > 0:
		w.breaks = max(w.breaks, breaks)
	}
}

// writeChildren writes the children of a node, until the text is cut.
func (w *writer) writeChildren(n *html.Node) {
	for c := n.FirstChild; c != nil && !w.cut; c = c.NextSibling {
		w.writeNode(c)
	}
}

// writeNode writes the text of a node. Hidden elements are left out.
func (w *writer) writeNode(n *html.Node) {
	switch n.Type {
	case html.TextNode:
		w.writeText(n.Data)
	case html.DocumentNode:
		w.writeChildren(n)
	case html.ElementNode:
		if !hidden(n) {
			w.writeElement(n)
		}
	}
}

// writeMarked writes the children with a mark before the first line, and indents the others.
func (w *writer) writeMarked(n *html.Node, mark, indent string) {
	outerIndent, outerMark, length := w.indent, w.mark, w.out.Len()
	if w.mark == "" {
		w.outer = w.indent
	}

	if len(w.mark)+len(mark) <= maxIndent {
		w.mark += mark
	}

	if len(w.indent)+len(indent) <= maxIndent {
		w.indent += indent
	}
	w.writeChildren(n)

	// No text was written, so the added mark is dropped.
	if w.indent = outerIndent; w.out.Len() == length {
		w.mark = outerMark
	}
}

// writeElement writes a visible element.
func (w *writer) writeElement(n *html.Node) {
	switch n.DataAtom {
	case atom.A:
		w.writeLink(n)
	case atom.Br:
		w.requestBreaks(1)
	case atom.Hr:
		w.requestBreaks(2)
		w.writeWord("---")
		w.requestBreaks(2)
	case atom.Img:
		if alt := label(attr(n, "alt"), maxLabel); alt != "" {
			w.writeText("[Image: " + alt + "]")
		}
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		w.requestBreaks(2)
		w.writeMarked(n, "######"[:n.Data[1]-'0']+" ", "")
		w.requestBreaks(2)
	case atom.Ul, atom.Ol, atom.Menu:
		w.writeList(n)
	case atom.Dd:
		w.requestBreaks(1)
		w.writeMarked(n, "  ", "  ")
		w.requestBreaks(1)
	case atom.Blockquote:
		w.requestBreaks(2)
		w.writeMarked(n, "> ", "> ")
		w.requestBreaks(2)
	case atom.Pre:
		w.writePreformatted(n)
	case atom.Table:
		w.writeTable(n)
	case atom.Math:
		if tex := attr(n, "alttext"); tex != "" {
			w.writeText(tex)
			return
		}
		w.writeChildren(n)
	case atom.Sup, atom.Sub:
		w.writeRaised(n)
	default:
		breaks := blocks[n.DataAtom]
		w.requestBreaks(breaks)
		w.writeChildren(n)
		w.requestBreaks(breaks)
	}
}

// blocks maps the elements that have lines of their own to the line feeds around them. 2 means an empty line.
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

// writeList writes a list with a mark for each item. A nested list has no empty lines around it.
func (w *writer) writeList(n *html.Node) {
	around := 2
	if w.indent != "" {
		around = 1
	}
	w.requestBreaks(around)
	number := 0

	for c := n.FirstChild; c != nil && !w.cut; c = c.NextSibling {
		if c.DataAtom != atom.Li || hidden(c) {
			w.writeNode(c)
			continue
		}
		number++

		mark := "* "
		if n.DataAtom == atom.Ol {
			mark = strconv.Itoa(number) + ". "
		}
		w.requestBreaks(1)
		w.writeMarked(c, mark, "  ")
	}
	w.requestBreaks(around)
}

// writePreformatted writes a code block, or plain text in the cell of a table.
func (w *writer) writePreformatted(n *html.Node) {
	if w.cells > 0 {
		w.writeChildren(n)
		return
	}
	w.requestBreaks(2)
	w.writeWord("```")
	w.breaks = 1
	w.pre++
	w.writeChildren(n)
	w.pre--
	w.breaks = 1
	w.writeWord("```")
	w.requestBreaks(2)
}

// writeRaised writes 10<sup>6</sup> as 10^{6}, because without a mark it would be 106.
func (w *writer) writeRaised(n *html.Node) {
	c := n.FirstChild
	if c == nil || c.Type != html.TextNode || c.NextSibling != nil || len(c.Data) > 20 {
		w.writeChildren(n)
		return
	}
	mark := map[atom.Atom]string{atom.Sup: "^{", atom.Sub: "_{"}[n.DataAtom]
	w.writeWord(mark + inline(c.Data, 20) + "}")
}

// writeLink writes 【id†text†domain】. Links to the same address have the same number.
func (w *writer) writeLink(n *html.Node) {
	text := label(inlineText(n), maxLabel)
	if text == "" {
		text = label(attr(n, "aria-label")+" "+attr(n, "title"), maxLabel)
	}

	target := w.target(attr(n, "href"))
	switch {
	case text == "":
		return
	case target == nil:
		w.writeText(text)
		return
	}
	address := target.String()

	id, known := w.ids[address]
	if !known {
		if len(w.links) == maxLinks {
			w.writeText(text)
			return
		}
		id = len(w.links)
		w.ids[address], w.links = id, append(w.links, address)
	}
	w.writeWord("【" + strconv.Itoa(id) + "†" + text + "†" + label(target.Hostname(), 80) + "】")
}

// target returns the address of a link, or nil unless it is another web page.
func (w *writer) target(href string) *url.URL {
	href = strings.TrimSpace(href)
	if href == "" || len(href) > maxHref || href[0] == '#' {
		return nil
	}

	u, err := w.base.Parse(href)
	// Only absolute web addresses without a user are shown to the model.
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return nil
	}
	u.Fragment, u.RawFragment = "", ""

	return u
}
