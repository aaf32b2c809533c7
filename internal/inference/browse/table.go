package browse

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// layoutTables returns the tables that only arrange the page. They contain headings, lists, forms, blocks of code or
// other tables, or have the role presentation or none.
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

// writeTable writes data as rows | a | b |, and a layout table as blocks.
func (w *writer) writeTable(n *html.Node) {
	w.requestBreaks(2)
	defer w.requestBreaks(2)

	if w.layout[n] || w.cells > 0 {
		w.writeChildren(n)
		return
	}
	first := true
	w.writeRows(n, func(tr *html.Node) {
		w.requestBreaks(1)

		cells, heads := w.writeRow(tr)
		if first && cells > 0 && cells == heads {
			w.requestBreaks(1)
			// A hostile row may have any number of cells.
			w.writeWord("|" + strings.Repeat("---|", min(cells, 64)))
		}
		first = first && cells == 0
		w.requestBreaks(1)
	})
}

// writeRows calls row for each row below n, and writes other content.
func (w *writer) writeRows(n *html.Node, row func(*html.Node)) {
	for c := n.FirstChild; c != nil && !w.cut; c = c.NextSibling {
		switch c.DataAtom {
		case atom.Thead, atom.Tbody, atom.Tfoot:
			w.writeRows(c, row)
		case atom.Tr:
			if !hidden(c) {
				row(c)
			}
		default:
			w.writeNode(c)
		}
	}
}

// writeRow writes one row. It returns the number of its cells and of those that are headings.
func (w *writer) writeRow(tr *html.Node) (cells, heads int) {
	for c := tr.FirstChild; c != nil && !w.cut; c = c.NextSibling {
		if c.DataAtom != atom.Td && c.DataAtom != atom.Th || hidden(c) {
			continue
		}

		if cells++; c.DataAtom == atom.Th {
			heads++
		}
		w.writeWord("|")
		w.space = true
		w.cells++
		w.writeChildren(c)
		w.cells--
		w.space = true
	}

	if cells > 0 {
		w.writeWord("|")
	}

	return cells, heads
}
