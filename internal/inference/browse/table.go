package browse

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

func itoa(n int) string { return strconv.Itoa(n) }

// layoutTables returns the tables that only arrange the page: they contain headings, lists or other tables, or are
// marked so.
func layoutTables(root *html.Node) map[*html.Node]bool {
	found := map[*html.Node]bool{}
	var walk func(n, table *html.Node)
	walk = func(n, table *html.Node) {
		switch n.DataAtom {
		case atom.Table:
			if table != nil {
				found[table] = true
			}

			if role := attr(n, "role"); role == "presentation" || role == "none" {
				found[n] = true
			}
			table = n
		case atom.H1, atom.H2, atom.H3, atom.H4, atom.Ul, atom.Ol, atom.Pre, atom.Form, atom.Blockquote:
			if table != nil {
				found[table] = true
			}
		}

		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c, table)
		}
	}
	walk(root, nil)

	return found
}

// table writes data as rows | a | b |, and a layout table as blocks.
func (w *writer) table(n *html.Node) {
	w.block(2)
	defer w.block(2)

	if w.layout[n] || w.cells > 0 {
		w.children(n)
		return
	}
	first := true
	w.rows(n, func(tr *html.Node) {
		w.block(1)

		cells, heads := w.row(tr)
		if first && cells > 0 && cells == heads {
			w.block(1)
			w.word("|" + strings.Repeat("---|", min(cells, 64)))
		}
		first = first && cells == 0
		w.block(1)
	})
}

// rows calls row for each row below n, and writes other content.
func (w *writer) rows(n *html.Node, row func(*html.Node)) {
	for c := n.FirstChild; c != nil && !w.cut; c = c.NextSibling {
		switch c.DataAtom {
		case atom.Thead, atom.Tbody, atom.Tfoot:
			w.rows(c, row)
		case atom.Tr:
			if !hidden(c) {
				row(c)
			}
		default:
			w.node(c)
		}
	}
}

// row writes one row. It returns the number of its cells and of those that are headings.
func (w *writer) row(tr *html.Node) (cells, heads int) {
	for c := tr.FirstChild; c != nil && !w.cut; c = c.NextSibling {
		if c.DataAtom != atom.Td && c.DataAtom != atom.Th || hidden(c) {
			continue
		}

		if cells++; c.DataAtom == atom.Th {
			heads++
		}
		w.word("|")
		w.space = true
		w.cells++
		w.children(c)
		w.cells--
		w.space = true
	}

	if cells > 0 {
		w.word("|")
	}

	return cells, heads
}
