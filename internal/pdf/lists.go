package pdf

import (
	"html"
	"net/url"
	"regexp"
	"strings"

	"presswork"
	"presswork/internal/markdown"
)

// listKinds are the kinds that have a list, in the order in which the lists stand.
func listKinds() []markdown.Kind {
	return []markdown.Kind{markdown.Figure, markdown.Table, markdown.Listing}
}

// listed reports whether the options ask for the list of a kind.
func listed(o presswork.Options, kind markdown.Kind) bool {
	return isTrue(map[markdown.Kind]*bool{markdown.Figure: o.LOF, markdown.Table: o.LOT, markdown.Listing: o.LOL}[kind])
}

// numberedKinds are those of which all elements with a caption are numbered.
func numberedKinds(o presswork.Options) []markdown.Kind {
	var kinds []markdown.Kind
	for _, kind := range listKinds() {
		if o.Numbering != "" || listed(o, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// placeLists puts the lists of figures, tables and listings where the source has
// them; others that the options ask for become part of what stands before the
// text, behind the table of contents.
func placeLists(d markdown.Document, o presswork.Options, lang string) (body, before string) {
	body = d.HTML
	var b strings.Builder
	for _, kind := range listKinds() {
		list := listHTML(d.Captions, kind, lang)
		if start, rest, asked := strings.Cut(body, markdown.ListPlace(kind)); asked {
			body = start + list + strings.ReplaceAll(rest, markdown.ListPlace(kind), "")
		} else if listed(o, kind) {
			b.WriteString(list)
		}
	}
	return body, b.String()
}

// listHTML is the list of a kind, "" if it has no entries. It looks like the table
// of contents.
func listHTML(captions []markdown.Caption, kind markdown.Kind, lang string) string {
	var b strings.Builder
	title := html.EscapeString(markdown.ListTitle(kind, lang))
	for _, c := range captions {
		if c.Kind != kind {
			continue
		}
		if b.Len() == 0 {
			b.WriteString(`<nav class="toc toc-list" aria-label="` + title + "\">\n<p class=\"toc-title\">" + title + "</p>\n<ul>\n")
		}
		b.WriteString(`<li><a href="#` + url.PathEscape(c.ID) + `"><span class="toc-number">` + html.EscapeString(c.Number) + `</span><span class="toc-text">` +
			html.EscapeString(c.Text) + `</span><span class="toc-leader"></span><span class="toc-page" data-fill></span></a></li>` + "\n")
	}
	if b.Len() == 0 {
		return ""
	}
	return b.String() + "</ul>\n</nav>\n"
}

// entry is the link of an entry of the contents or of a list, or a place in the
// index. No document can write one: their classes are ours.
var entry = regexp.MustCompile(`<li><a href="#([^"]*)">(?:<span class="toc-number">[^<]*</span>)?<span class="toc-text">|<a class="toc-at( toc-first)?" href="#([^"]*)" data-fill></a>`)

// pageOf is an element that the page number of an anchor goes into.
type pageOf struct {
	anchor string
	// indexed reports whether it is a place in the index, begins whether it is the
	// first of an entry.
	indexed, begins bool
}

// pagesIn are the elements of a body that page numbers go into, in order.
func pagesIn(body string) []pageOf {
	var all []pageOf
	for _, m := range entry.FindAllStringSubmatch(body, -1) {
		if id, err := url.PathUnescape(m[1] + m[3]); err == nil {
			all = append(all, pageOf{anchor: id, indexed: m[3] != "", begins: m[2] != ""})
		}
	}
	return all
}
