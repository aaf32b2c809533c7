package contents

import (
	"net/url"
	"slices"
	"strconv"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"presswork/internal/markdown/ext/bookindex"
	"presswork/internal/markdown/ext/typography"
)

// indexNode is one term of an index, with those below it.
type indexNode struct {
	term, sortBy string
	places       []string              // anchors
	see, also    []string              // terms that "see" and "see also" name
	below        []*indexNode          // entries of the next level
	byTerm       map[string]*indexNode // finds an entry of below
}

// child returns the node of a term below n. It adds the node if there is none.
func (n *indexNode) child(term, sortBy string) *indexNode {
	c := n.byTerm[term]
	if c == nil {
		c = &indexNode{term: term, sortBy: sortBy}

		if n.byTerm == nil {
			n.byTerm = map[string]*indexNode{}
		}
		n.byTerm[term] = c
		n.below = append(n.below, c)
	}

	return c
}

// Index returns the index of a document, or nil if there are no entries. On paper its page numbers are filled in after
// the layout pass. On a screen each entry has links numbered 1, 2, 3.
func Index(entries []bookindex.Entry, lang string, paper bool) []Piece {
	if len(entries) == 0 {
		return nil
	}

	root := &indexNode{}
	for _, e := range entries {
		n := root
		for i, term := range e.Terms {
			n = n.child(term, e.SortBy[i])
		}

		switch {
		case e.See == "":
			n.places = append(n.places, e.ID)
		case e.Also:
			n.also = append(n.also, e.See)
		default:
			n.see = append(n.see, e.See)
		}
	}
	tag, _ := language.Parse(lang) // the order of an unknown language is that of Unicode
	w := indexWriter{order: collate.New(tag, collate.IgnoreCase), lang: lang, paper: paper}
	w.out.Open("nav", "class", "toc-index", "role", "doc-index", "aria-label", bookindex.Title(lang)).Raw("\n")
	w.list(root.below)
	w.out.Raw("</nav>\n")

	return []Piece{w.done()}
}

// indexWriter writes an index in the alphabetical order of its language.
type indexWriter struct {
	writer
	order *collate.Collator
	lang  string
	paper bool // with page numbers
}

// list writes the entries in alphabetical order with their places, their references and the entries below them.
func (w *indexWriter) list(nodes []*indexNode) {
	slices.SortStableFunc(nodes, func(a, b *indexNode) int { return w.order.CompareString(a.sortBy, b.sortBy) })
	w.out.Raw("<ul>\n")

	for _, n := range nodes {
		w.out.Open("li").Text(typography.SetLine(n.term, w.lang))

		for i, id := range n.places {
			w.place(i, id)
		}

		for _, refers := range []struct {
			word string
			to   []string
		}{{"see", n.see}, {"see also", n.also}} {
			for _, to := range refers.to {
				w.out.Raw(" (").Element("em", bookindex.Word(refers.word, w.lang))
				w.out.Text(" " + typography.SetLine(to, w.lang) + ")")
			}
		}

		if len(n.below) > 0 {
			w.out.Raw("\n")
			w.list(n.below)
		}
		w.out.Raw("</li>\n")
	}
	w.out.Raw("</ul>\n")
}

// place writes the link of one place.
func (w *indexWriter) place(i int, id string) {
	class := "toc-at"
	if i == 0 {
		class += " toc-first"
		w.out.Raw(" ")
	} else if !w.paper {
		w.out.Raw(", ")
	}
	href := "#" + url.PathEscape(id)

	if w.paper {
		w.out.Open(`a class="` + class + `" href="` + href + `" data-fill`)
		w.number(PageOf{Anchor: id, indexed: true, begins: i == 0})
	} else {
		w.out.Open("a", "class", class, "href", href).Text(strconv.Itoa(i + 1))
	}
	w.out.Raw("</a>")
}
