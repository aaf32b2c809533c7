package markdown

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark/ast"
	"golang.org/x/net/html"

	"presswork/internal/markdown/ext/codeblock"
	"presswork/internal/markdown/ext/emoji"
	"presswork/internal/markdown/tree"
)

// swallowers are the elements whose content is dropped with them. Unclosed,
// each would take the rest of the document along (see tameRawHTML).
func swallowers() []string {
	return []string{
		"script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes", "noscript", "plaintext",
		"object", "svg", "math", "template", "select", "audio", "video", "canvas", "frame", "frameset", "nostyle",
	}
}

// newPolicy is the allow-list for everything that reaches the page: what our
// own renderers write and the raw HTML that documents are known to use.
// Styles, scripts, frames, forms and event handlers are not on it.
func newPolicy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements(
		"h1",
		"h2",
		"h3",
		"h4",
		"h5",
		"h6",
		"p",
		"div",
		"span",
		"br",
		"hr",
		"blockquote",
		"pre",
		"code",
		"b",
		"strong",
		"i",
		"em",
		"u",
		"s",
		"strike",
		"del",
		"ins",
		"mark",
		"small",
		"big",
		"sub",
		"sup",
		"kbd",
		"samp",
		"var",
		"tt",
		"q",
		"cite",
		"dfn",
		"abbr",
		"address",
		"bdi",
		"bdo",
		"time",
		"wbr",
		"center",
		"font",
		"ruby",
		"rb",
		"rp",
		"rt",
		"section",
		"article",
		"aside",
		"header",
		"footer",
		"nav",
		"main",
		"figure",
		"figcaption",
		"details",
		"summary",
		"ul",
		"ol",
		"li",
		"dl",
		"dt",
		"dd",
		"menu",
		"a",
		"img",
		"input",
		"table",
		"caption",
		"colgroup",
		"col",
		"thead",
		"tbody",
		"tfoot",
		"tr",
		"th",
		"td",
	)
	p.AllowNoAttrs().OnElements("span", "a", "font")

	// Classes of few ranges: with those of all letters, counted repetitions take
	// some 20 ms to compile.
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^[0-9A-Za-z\s_:+#./\x{A1}-\x{10FFFF}-]{1,200}$`)).Globally()
	p.AllowAttrs("id").Matching(regexp.MustCompile(`^[0-9A-Za-z_:.\x{A1}-\x{10FFFF}-]{1,1000}$`)).Globally()
	p.AllowAttrs("lang").Matching(regexp.MustCompile(`^[A-Za-z0-9-]{1,35}$`)).Globally()
	p.AllowAttrs("dir").Matching(regexp.MustCompile(`(?i)^(ltr|rtl|auto)$`)).Globally()
	p.AllowAttrs("title").Globally()
	p.AllowAttrs("role").Matching(regexp.MustCompile(`^doc-[a-z]+$`)).Globally()
	p.AllowAttrs("align").Matching(regexp.MustCompile(`(?i)^(left|right|center|justify)$`)).Globally()
	p.AllowAttrs("valign").
		Matching(regexp.MustCompile(`(?i)^(top|middle|bottom|baseline)$`)).
		OnElements("th", "td", "tr", "thead", "tbody", "img")

	number := regexp.MustCompile(`^[0-9]{1,5}$`)
	length := regexp.MustCompile(`^[0-9]{1,5}(\.[0-9]+)?(%|px)?$`)
	p.AllowAttrs("href", "name").OnElements("a")
	p.AllowAttrs("src", "alt").OnElements("img")
	p.AllowAttrs("width", "height").Matching(length).OnElements("img", "table", "th", "td", "col")
	p.AllowAttrs(tree.EmbedAttribute).Matching(number).OnElements("span", "div")
	p.AllowAttrs(attrLine).Matching(regexp.MustCompile(`^[0-9]{1,9}$`)).OnElements("img")
	p.AllowAttrs(codeblock.StartAttribute).Matching(regexp.MustCompile(`^[0-9]{1,6}$`)).OnElements("pre")
	p.AllowAttrs(codeblock.ColumnsAttribute).Matching(number).OnElements("pre")
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

	p.AllowStyles("flex-grow").Matching(regexp.MustCompile(`^[0-9]{1,3}(\.[0-9]{1,2})?$`)).OnElements("div")

	p.AllowURLSchemes("http", "https", "mailto", "tel", "data")
	p.AllowRelativeURLs(true)
	p.RequireParseableURLs(true)
	p.SkipElementsContent(swallowers()...)

	return p
}

// contained reports whether raw HTML ends each element that it begins of those
// that swallow their content, and begins each that it ends: the sanitiser counts
// them through the document, whatever their names.
func contained(swallower *regexp.Regexp, raw []byte) bool {
	depth, unread := 0, "" // unread is the element whose content is no HTML

	for z := html.NewTokenizer(bytes.NewReader(raw)); ; {
		kind := z.Next()
		if kind == html.ErrorToken { // the end, perhaps amid a tag
			return depth == 0 && unread == "" && !swallower.Match(bytes.ToLower(z.Raw()))
		}

		if kind != html.StartTagToken && kind != html.EndTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		tag, _ := z.TagName()
		name := string(tag)
		// Scripts and styles it leaves out one by one.
		counts := name != "script" && name != "style" && slices.Contains(swallowers(), name)

		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			if isUnread(name) {
				unread = name
			}

			if counts && kind == html.StartTagToken {
				depth++
			}
		case html.EndTagToken:
			if name == unread {
				unread = ""
			}

			if counts {
				depth--
			}
		}

		if depth < 0 {
			return false
		}
	}
}

// isUnread finds the elements whose content a tokenizer passes over up to their
// end tag.
func isUnread(element string) bool {
	switch element {
	case "iframe", "noembed", "noframes", "plaintext", "script", "style", "textarea", "title", "xmp":
		return true
	}

	return false
}

// tameRawHTML turns raw HTML that would swallow what follows it into text:
// "use the <script> tag" must not end the document.
func tameRawHTML(root ast.Node, src []byte) {
	swallower := regexp.MustCompile(`</?(` + strings.Join(swallowers(), "|") + `)\b`)
	var wild []ast.Node
	tree.Each(root, func(n ast.Node) {
		if h, ok := n.(*ast.HTMLBlock); ok {
			raw := tree.BlockText(h, src, 0)
			if h.HasClosure() {
				raw = append(raw, h.ClosureLine.Value(src)...)
			}

			if swallower.Match(bytes.ToLower(raw)) && !contained(swallower, raw) {
				wild = append(wild, h)
			}

			return
		}
		var pieces []ast.Node
		var raw []byte

		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			r, ok := c.(*ast.RawHTML)
			if !ok {
				continue
			}

			piece := r.Segments.Value(src)
			if swallower.Match(bytes.ToLower(piece)) {
				pieces = append(pieces, r)
			}
			raw = append(raw, piece...)
		}

		if len(pieces) > 0 && !contained(swallower, raw) {
			wild = append(wild, pieces...)
		}
	})

	for _, n := range wild {
		rawToText(n)
	}
	rewriteRawHTML(root, src)
}

// rewriteRawHTML takes the classes of the print sheet out of raw HTML, and makes its
// shortcodes emoji.
func rewriteRawHTML(root ast.Node, src []byte) {
	var raw []ast.Node
	tree.Each(root, func(n ast.Node) {
		if n.Kind() == ast.KindRawHTML || n.Kind() == ast.KindHTMLBlock {
			raw = append(raw, n)
		}
	})

	for _, node := range raw {
		switch n := node.(type) {
		case *ast.RawHTML:
			tag := n.Segments.Value(src)
			if clean := tree.StripReservedClasses(tag); !bytes.Equal(clean, tag) {
				s := ast.NewString(clean)
				s.SetCode(true)
				tree.Replace(n, s)
			}
		case *ast.HTMLBlock:
			block := tree.BlockText(n, src, 0)
			if n.HasClosure() {
				block = append(block, n.ClosureLine.Value(src)...)
			}

			if clean := emoji.InHTML(tree.StripReservedClasses(block)); !bytes.Equal(clean, block) {
				tree.Replace(n, &tree.RawBlock{HTML: clean})
			}
		}
	}
}
