package browse

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// inlineText returns the visible text of a tree on one line, somewhat more than maxLabel characters of it.
func inlineText(n *html.Node) string {
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		switch {
		case b.Len() > 16*maxLabel: // label uses no more
			return
		case n.Type == html.TextNode:
			b.WriteString(n.Data)
			return
		case n.Type == html.ElementNode && hidden(n):
			return
		case n.DataAtom == atom.Img:
			b.WriteString(" " + attr(n, "alt") + " ")
		}

		if blocks[n.DataAtom] > 0 || n.DataAtom == atom.Br {
			b.WriteByte(' ')
		}

		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}

		if blocks[n.DataAtom] > 0 {
			b.WriteByte(' ')
		}
	}
	walk(n)

	return b.String()
}

// invisibleElements are elements whose content is not shown.
var invisibleElements = []atom.Atom{
	atom.Head,
	atom.Script,
	atom.Style,
	atom.Template,
	atom.Iframe,
	atom.Frame,
	atom.Object,
	atom.Embed,
	atom.Canvas,
	atom.Svg,
	atom.Audio,
	atom.Video,
	atom.Select,
	atom.Datalist,
	atom.Input,
	atom.Textarea,
	atom.Noembed,
	atom.Noframes,
	atom.Button,
}

// hidden reports whether an element is invisible by its name or its own attributes. Text that people do not see could
// mislead the model.
func hidden(n *html.Node) bool {
	if slices.Contains(invisibleElements, n.DataAtom) {
		return true
	}

	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return true
		case "aria-hidden":
			if a.Val == "true" {
				return true
			}
		case "style":
			if hidesElement(a.Val) {
				return true
			}
		}
	}

	return false
}

// hidesElement reports whether an inline style makes an element invisible. It reads the first 4096 bytes of the style.
func hidesElement(style string) bool {
	for d := range strings.SplitSeq(strings.ToLower(style[:min(len(style), 4096)]), ";") {
		switch strings.TrimSuffix(strings.Join(strings.Fields(d), ""), "!important") {
		case "display:none", "visibility:hidden", "visibility:collapse", "opacity:0", "font-size:0", "font-size:0px":
			return true
		}
	}

	return false
}

// attr returns the value of an attribute, or "" if the element does not have it.
func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val
		}
	}

	return ""
}
