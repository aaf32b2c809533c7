package block

import (
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"presswork/internal/lazyregexp"
)

// Attributes returns the attributes of the first tag of a piece of HTML.
func Attributes(source string) map[string]string {
	z := html.NewTokenizer(strings.NewReader(source))
	z.Next()

	attributes := map[string]string{}
	for _, a := range z.Token().Attr {
		attributes[a.Key] = a.Val
	}

	return attributes
}

// TagWithClasses returns the start tag with classes before its own classes, of which it drops those in without.
func (b *Block) TagWithClasses(classes []string, without ...string) string {
	z := html.NewTokenizer(strings.NewReader(b.Tag()))
	z.Next()
	tag := z.Token()

	for _, c := range b.Classes {
		if !slices.Contains(without, c) {
			classes = append(classes, c)
		}
	}

	tag.Attr = slices.DeleteFunc(tag.Attr, func(a html.Attribute) bool { return a.Key == "class" })
	if len(classes) > 0 {
		tag.Attr = append(tag.Attr, html.Attribute{Key: "class", Val: strings.Join(classes, " ")})
	}

	return tag.String()
}

// columnsNoted matches the attribute codeblock.ColumnsAttribute, which Columns is read from.
var columnsNoted = lazyregexp.New(` data-columns="[0-9]*"`)

// TagWithStyle returns the start tag of a code block with a style attribute in place of the attribute for Columns. If
// style is "", it only removes that attribute. style must be escaped.
func (b *Block) TagWithStyle(style string) string {
	if style != "" {
		style = ` style="` + style + `"`
	}

	return columnsNoted().ReplaceAllLiteralString(b.Tag(), style)
}

// Anchors returns the ids in a piece of HTML, and the ids in the same document that its links lead to.
func Anchors(source string) (ids, links []string) {
	z := html.NewTokenizer(strings.NewReader(source))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}

		_, more := z.TagName()
		for more {
			var key, value []byte

			key, value, more = z.TagAttr()
			switch string(key) {
			case "id":
				ids = append(ids, string(value))
			case "href":
				if fragment, ok := strings.CutPrefix(string(value), "#"); ok && fragment != "" {
					if plain, err := url.PathUnescape(fragment); err == nil {
						fragment = plain
					}
					links = append(links, fragment)
				}
			}
		}
	}

	return ids, links
}

// EachTag calls change for every start tag with attributes. It returns the HTML with the tags for which change returns
// true as change left them, and all else unchanged. It skips drawings, because their ids are independent of the page.
func EachTag(source string, change func(*html.Token) (changed bool)) string {
	var out strings.Builder
	out.Grow(len(source))
	drawings := 0

	z := html.NewTokenizer(strings.NewReader(source))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return out.String()
		}

		raw := string(z.Raw())
		switch {
		case kind == html.StartTagToken && strings.HasPrefix(raw, "<svg"):
			drawings++
		case kind == html.EndTagToken && strings.HasPrefix(raw, "</svg") && drawings > 0:
			drawings--
		}

		if kind != html.StartTagToken && kind != html.SelfClosingTagToken || drawings > 0 ||
			!strings.Contains(raw, " ") {
			out.WriteString(raw)
			continue
		}

		token := z.Token()
		if token.DataAtom != atom.Svg && change(&token) {
			raw = token.String()
		}
		out.WriteString(raw)
	}
}
