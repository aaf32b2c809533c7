package direction

import (
	"bytes"
	"slices"

	"golang.org/x/net/html"
)

// element is an open element of raw HTML.
type element struct {
	name string
	dir  string // its direction or that of the element around it, "" if the source sets none
}

// elements are the open elements of raw HTML among the blocks of a node, the innermost last.
type elements []element

// dir returns the direction that the open elements set, "" for none.
func (e elements) dir() string {
	if len(e) == 0 {
		return ""
	}

	return e[len(e)-1].dir
}

// read adds and removes elements by the tags in a block of raw HTML.
func (e *elements) read(block []byte) {
	const deepest = 50 // the largest number of open elements; further ones are ignored

	for z := html.NewTokenizer(bytes.NewReader(block)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.StartTagToken:
			t := z.Token()
			if len(*e) == deepest ||
				!slices.Contains([]string{"article", "aside", "center", "div", "section"}, t.Data) {
				continue
			}
			opened := element{t.Data, e.dir()}

			for _, a := range t.Attr {
				if a.Key == "dir" && (a.Val == "ltr" || a.Val == "rtl") {
					opened.dir = a.Val
				}
			}
			*e = append(*e, opened)
		case html.EndTagToken:
			name, _ := z.TagName()
			for i, o := range slices.Backward(*e) {
				if o.name == string(name) {
					*e = (*e)[:i]
					break
				}
			}
		}
	}
}
