package wikilink

import (
	"strings"

	"github.com/yuin/goldmark/ast"

	"presswork/internal/markdown/tree"
)

// Targets describes where the links of a document lead in print.
type Targets struct {
	// Headings are the ids of the headings, by their text in lower case.
	Headings map[string]string
	// Slug returns the fragment for a heading of another document. Required.
	Slug func(heading string) string
	// Document reports whether a link leads to a document that is printed with this one. offset is the
	// place of the link in the source, in bytes. Nil: there is no other document.
	Document func(destination string, offset int) bool
	// Missing is called for each link to a heading that the document does not have. Required.
	Missing func(heading string, offset int)
	// KeepPlain reports whether a plain link that leads nowhere stays as it is in the source: [[Page]].
	KeepPlain bool
}

// Resolve replaces each Link by a link of Markdown if it leads somewhere in print. Other links become their text,
// or their source if KeepPlain applies.
func Resolve(root ast.Node, to Targets) {
	var found []*Link
	tree.Each(root, func(n ast.Node) {
		if l, ok := n.(*Link); ok {
			found = append(found, l)
		}
	})

	for _, n := range found {
		destination := to.destination(n)
		switch {
		case destination != "":
			link := ast.NewLink()
			link.Destination = []byte(destination)
			link.SetPos(n.Source.Start)
			tree.MoveChildren(n, link)
			tree.Replace(n, link)
		case n.Plain && to.KeepPlain:
			tree.Replace(n, ast.NewTextSegment(n.Source))
		default:
			for c := n.FirstChild(); c != nil; c = n.FirstChild() {
				n.Parent().InsertBefore(n.Parent(), n, c)
			}
			n.Parent().RemoveChild(n.Parent(), n)
		}
	}
}

// destination returns the address of a link in print, "" if it leads nowhere.
func (to Targets) destination(n *Link) string {
	// In Obsidian a link may name the headings above as well: [[#Chapter#Section]].
	heading := n.Heading[strings.LastIndexByte(n.Heading, '#')+1:]
	isBlock := strings.HasPrefix(heading, "^") // a block id of Obsidian; PDFs have no anchor for it

	if n.Page == "" {
		if id := to.Headings[strings.ToLower(strings.TrimSpace(heading))]; id != "" {
			return "#" + id
		}

		if !isBlock {
			to.Missing(heading, n.Source.Start)
		}

		return ""
	}

	if to.Document == nil {
		return ""
	}

	fragment := ""
	if heading != "" && !isBlock {
		fragment = "#" + to.Slug(heading)
	}

	for _, name := range []string{n.Page + ".md", n.Page} {
		if to.Document(name+fragment, n.Source.Start) {
			return name + fragment
		}
	}

	return ""
}
