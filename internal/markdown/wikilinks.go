package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"

	"presswork/internal/fault"
	"presswork/internal/markdown/ext/wikilink"
	"presswork/internal/markdown/tree"
)

// placeWikiLinks makes links of the wiki links that lead somewhere in print: to a
// heading, or to a document that is printed with this one. Others become the words
// they show; brackets around words stay what they are unless the document is
// Obsidian's.
func (d *draft) placeWikiLinks(root ast.Node) {
	var found []*wikilink.Link
	tree.Each(root, func(n ast.Node) {
		if w, ok := n.(*wikilink.Link); ok {
			found = append(found, w)
		}
	})

	if len(found) == 0 {
		return
	}

	ids := map[string]string{}
	for _, h := range d.headings {
		if key := strings.ToLower(h.Text); ids[key] == "" {
			ids[key] = h.ID
		}
	}

	for _, n := range found {
		target := d.wikiTarget(n, ids)
		switch {
		case target != "":
			link := ast.NewLink()
			link.Destination = []byte(target)
			link.SetPos(n.Source.Start)
			tree.MoveChildren(n, link)
			tree.Replace(n, link)
		case n.Plain && d.dialect != Obsidian:
			tree.Replace(n, ast.NewTextSegment(n.Source))
		default:
			for c := n.FirstChild(); c != nil; c = n.FirstChild() {
				n.Parent().InsertBefore(n.Parent(), n, c)
			}
			n.Parent().RemoveChild(n.Parent(), n)
		}
	}
}

// wikiTarget is where a wiki link leads in print, "" if nowhere.
func (d *draft) wikiTarget(n *wikilink.Link, ids map[string]string) string {
	// The last of several is the heading: [[#Chapter#Section]].
	heading := n.Heading[strings.LastIndexByte(n.Heading, '#')+1:]
	if n.Page == "" {
		if id := ids[strings.ToLower(strings.TrimSpace(heading))]; id != "" {
			return "#" + id
		}

		if !strings.HasPrefix(heading, "^") { // else a block that Obsidian has named
			d.warn(
				fault.LinkBroken,
				d.lines.At(n.Source.Start),
				"link to "+clip(`"#`+heading+`"`)+", but no heading is named like that",
			)
		}

		return ""
	}

	if d.options.Links == nil {
		return ""
	}

	fragment := ""
	if heading != "" && !strings.HasPrefix(heading, "^") {
		fragment = "#" + make(anchors).name(heading)
	}

	for _, name := range []string{n.Page + ".md", n.Page} {
		if _, ok := d.options.Links(name+fragment, d.lines.At(n.Source.Start)); ok {
			return name + fragment
		}
	}

	return ""
}
