package markdown

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark/ast"
)

// swallowers are the elements whose content is dropped with them. Unclosed,
// each would take the rest of the document along (see tameRawHTML).
func swallowers() []string {
	return []string{"script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes", "noscript", "plaintext",
		"object", "svg", "math", "template", "select", "audio", "video", "canvas", "frame", "frameset", "nostyle"}
}

// newPolicy is the allow-list for everything that reaches the page: what our
// own renderers write and the raw HTML that documents are known to use.
// Styles, scripts, frames, forms and event handlers are not on it.
func newPolicy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("h1", "h2", "h3", "h4", "h5", "h6", "p", "div", "span", "br", "hr", "blockquote", "pre", "code",
		"b", "strong", "i", "em", "u", "s", "strike", "del", "ins", "mark", "small", "big", "sub", "sup", "kbd", "samp", "var",
		"tt", "q", "cite", "dfn", "abbr", "address", "bdi", "bdo", "time", "wbr", "center", "font", "ruby", "rb", "rp", "rt",
		"section", "article", "aside", "header", "footer", "nav", "main", "figure", "figcaption", "details", "summary",
		"ul", "ol", "li", "dl", "dt", "dd", "menu", "a", "img", "input",
		"table", "caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr", "th", "td")
	p.AllowNoAttrs().OnElements("span", "a", "font")

	p.AllowAttrs("class").Matching(regexp.MustCompile(`^[\p{L}\p{N}\s_:+#./-]{1,200}$`)).Globally()
	p.AllowAttrs("id").Matching(regexp.MustCompile(`^[\p{L}\p{M}\p{N}_:.-]{1,1000}$`)).Globally()
	p.AllowAttrs("lang").Matching(regexp.MustCompile(`^[A-Za-z0-9-]{1,35}$`)).Globally()
	p.AllowAttrs("dir").Matching(regexp.MustCompile(`(?i)^(ltr|rtl|auto)$`)).Globally()
	p.AllowAttrs("title").Globally()
	p.AllowAttrs("role").Matching(regexp.MustCompile(`^doc-[a-z]+$`)).Globally()
	p.AllowAttrs("align").Matching(regexp.MustCompile(`(?i)^(left|right|center|justify)$`)).Globally()
	p.AllowAttrs("valign").Matching(regexp.MustCompile(`(?i)^(top|middle|bottom|baseline)$`)).OnElements("th", "td", "tr", "thead", "tbody", "img")

	number := regexp.MustCompile(`^[0-9]{1,5}$`)
	length := regexp.MustCompile(`^[0-9]{1,5}(\.[0-9]+)?(%|px)?$`)
	p.AllowAttrs("href", "name").OnElements("a")
	p.AllowAttrs("src", "alt").OnElements("img")
	p.AllowAttrs("width", "height").Matching(length).OnElements("img", "table", "th", "td", "col")
	p.AllowAttrs(embedAttr).Matching(number).OnElements("span", "div")
	p.AllowAttrs(attrLine).Matching(regexp.MustCompile(`^[0-9]{1,9}$`)).OnElements("img")
	p.AllowAttrs(attrStart).Matching(regexp.MustCompile(`^[0-9]{1,6}$`)).OnElements("pre")
	p.AllowAttrs("colspan", "rowspan", "span").Matching(number).OnElements("th", "td", "col", "colgroup")
	p.AllowAttrs("scope").Matching(regexp.MustCompile(`^(row|col|rowgroup|colgroup)$`)).OnElements("th")
	p.AllowAttrs("start", "value").Matching(regexp.MustCompile(`^-?[0-9]{1,9}$`)).OnElements("ol", "li")
	p.AllowAttrs("type").Matching(regexp.MustCompile(`^[1aAiI]$`)).OnElements("ol", "li")
	p.AllowAttrs("reversed").OnElements("ol")
	p.AllowAttrs("open").OnElements("details")
	p.AllowAttrs("datetime").OnElements("time", "del", "ins")
	p.AllowAttrs("cite").OnElements("blockquote", "q")
	p.AllowAttrs("type").Matching(regexp.MustCompile(`^checkbox$`)).OnElements("input")
	p.AllowAttrs("checked", "disabled").OnElements("input")
	p.AllowAttrs("color").Matching(regexp.MustCompile(`^(#[0-9A-Fa-f]{3,8}|[A-Za-z]{1,30})$`)).OnElements("font")
	// The page-break idiom of print-minded documents; the rest of a style
	// attribute goes.
	p.AllowStyles("page-break-after", "page-break-before", "break-after", "break-before").
		MatchingEnum("always", "page", "avoid").Globally()
	p.AllowStyles("text-align").MatchingEnum("left", "right", "center", "justify").Globally()

	p.AllowURLSchemes("http", "https", "mailto", "tel", "data")
	p.AllowRelativeURLs(true)
	p.RequireParseableURLs(true)
	p.SkipElementsContent(swallowers()...)
	return p
}

// closesSwallowers reports whether every element of the raw HTML that swallows
// its content is also closed in it.
func closesSwallowers(tag *regexp.Regexp, raw []byte) bool {
	lower := bytes.ToLower(raw)
	opened := map[string]int{} // where the last one of a name opens
	for _, m := range tag.FindAllSubmatchIndex(lower, -1) {
		opened[string(lower[m[2]:m[3]])] = m[1]
	}
	for name, at := range opened {
		if !bytes.Contains(lower[at:], []byte("</"+name)) {
			return false
		}
	}
	return true
}

// tameRawHTML turns raw HTML that would swallow what follows it into text:
// "use the <script> tag" must not end the document.
func tameRawHTML(root ast.Node, src []byte) {
	tag := regexp.MustCompile(`<(` + strings.Join(swallowers(), "|") + `)\b`)
	var wild []ast.Node
	eachBlock(root, func(n ast.Node) {
		if h, ok := n.(*ast.HTMLBlock); ok {
			raw := blockText(h, src, 0)
			if h.HasClosure() {
				raw = append(raw, h.ClosureLine.Value(src)...)
			}
			if !closesSwallowers(tag, raw) {
				wild = append(wild, h)
			}
			return
		}
		var pieces []ast.Node
		var raw []byte
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			if r, ok := c.(*ast.RawHTML); ok && tag.Match(bytes.ToLower(r.Segments.Value(src))) {
				pieces = append(pieces, r)
			}
			if r, ok := c.(*ast.RawHTML); ok {
				raw = append(raw, r.Segments.Value(src)...)
			}
		}
		if len(pieces) > 0 && !closesSwallowers(tag, raw) {
			wild = append(wild, pieces...)
		}
	})
	for _, n := range wild {
		rawToText(n)
	}
	freeReservedClasses(root, src)
}

// freeReservedClasses takes the classes of the print sheet out of raw HTML.
func freeReservedClasses(root ast.Node, src []byte) {
	var raw []ast.Node
	eachNode(root, func(n ast.Node) {
		if n.Kind() == ast.KindRawHTML || n.Kind() == ast.KindHTMLBlock {
			raw = append(raw, n)
		}
	})
	for _, node := range raw {
		switch n := node.(type) {
		case *ast.RawHTML:
			tag := n.Segments.Value(src)
			if clean := withoutReservedClasses(tag); !bytes.Equal(clean, tag) {
				s := ast.NewString(clean)
				s.SetCode(true)
				replace(n, s)
			}
		case *ast.HTMLBlock:
			block := blockText(n, src, 0)
			if n.HasClosure() {
				block = append(block, n.ClosureLine.Value(src)...)
			}
			if clean := withoutReservedClasses(block); !bytes.Equal(clean, block) {
				replace(n, &rawBlock{html: clean})
			}
		}
	}
}
