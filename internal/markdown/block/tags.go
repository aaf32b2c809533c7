package block

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Attributes are those of the first tag of some HTML.
func Attributes(source string) map[string]string {
	z := html.NewTokenizer(strings.NewReader(source))
	z.Next()

	attributes := map[string]string{}
	for _, a := range z.Token().Attr {
		attributes[a.Key] = a.Val
	}

	return attributes
}

// TagWithClasses is the start tag with classes before those that it has, of which some
// go.
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

var columnsNoted = regexp.MustCompile(` data-columns="[0-9]*"`)

// TagWithStyle is the start tag of a code block with a style in place of the columns that
// it wants, "" for none.
func (b *Block) TagWithStyle(style string) string {
	if style != "" {
		style = ` style="` + style + `"`
	}

	return columnsNoted.ReplaceAllLiteralString(b.Tag(), style)
}

// Anchors are the ids in some HTML, and the anchors in the document that it links to.
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

// EachTag calls change for every start tag that has attributes, outside of drawings, whose
// ids are their own. It returns the HTML with the tags that change has changed.
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
