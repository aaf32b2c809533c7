package pdf

import (
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// block is a child of the main element, or a note.
type block struct {
	html string
	// ids are the anchors in it, links those that it points to.
	ids, links []string
	// heading is its level if it is one, else 0.
	heading int
	// breaks reports that a page ends with it in any case, chapter that one begins.
	breaks, chapter bool
	// leaf reports that it is a white page that may be wanted before a chapter.
	leaf bool
	// unsound reports that tags in it are missing or too many.
	unsound bool
}

// paragraph reports whether it is one.
func (b block) paragraph() bool {
	return strings.HasPrefix(b.html, "<p>") || strings.HasPrefix(b.html, "<p ")
}

// voids are the elements without an end tag.
var voids = []string{"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"}

// cutBlocks cuts HTML into its topmost elements. What stands between them, spaces,
// belongs to the one before.
func cutBlocks(body string) []block {
	var blocks []block
	var b block
	start, at := 0, 0
	var open []string // elements
	end := func() {
		if b.html = body[start:at]; b.html != "" {
			blocks = append(blocks, b)
		}
		start, b = at, block{}
	}
	z := html.NewTokenizer(strings.NewReader(body))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		length := len(z.Raw())
		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			outer := len(open) == 0
			if outer {
				end()
			}
			name, hasAttr := z.TagName()
			if kind == html.StartTagToken && !slices.Contains(voids, string(name)) {
				open = append(open, string(name))
			}
			if outer && len(name) == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6' {
				b.heading = int(name[1] - '0')
			}
			for hasAttr {
				var key, value []byte
				key, value, hasAttr = z.TagAttr()
				b.note(string(key), string(value), outer)
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			before := len(open)
			open = closed(open, string(name))
			b.unsound = b.unsound || len(open) != before-1
		}
		at += length
	}
	end()
	return blocks
}

// implied are the elements that end with their parent.
var implied = []string{"p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot"}

// closed is what an end tag leaves open of some elements. One that ends none of them is
// ignored, as it is by browsers. So is one that would end others: browsers open some of
// these anew behind it, so that all the rest is one block.
func closed(open []string, name string) []string {
	for i, last := range slices.Backward(open) {
		if last == name {
			return open[:i]
		}
		if !slices.Contains(implied, last) {
			break
		}
	}
	return open
}

// note takes what matters of an attribute: of the block's own tag, or of one
// within.
func (b *block) note(key, value string, own bool) {
	switch key {
	case "id":
		b.ids = append(b.ids, value)
	case "href":
		if fragment, ok := strings.CutPrefix(value, "#"); ok && fragment != "" {
			if plain, err := url.PathUnescape(fragment); err == nil {
				fragment = plain
			}
			b.links = append(b.links, fragment)
		}
	case "data-chapter":
		b.chapter = b.chapter || own
	case "class":
		b.breaks = b.breaks || own && (value == "page-break" || value == "turned" || strings.HasSuffix(value, "toc-own-page"))
	}
}
