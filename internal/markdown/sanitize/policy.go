package sanitize

import (
	"bytes"
	"io"
	"regexp"

	"github.com/microcosm-cc/bluemonday"

	"presswork/internal/markdown/ext/codeblock"
	"presswork/internal/markdown/tree"
)

// Policy is the allow-list for all HTML of a page. It is safe for concurrent use.
type Policy struct{ policy *bluemonday.Policy }

// New returns the policy. It allows the elements and attributes that the renderers of this project write and that
// documents use in raw HTML. It allows no scripts, frames, forms or event handlers, and only the styles below.
// Creating a policy takes milliseconds; share it.
func New() *Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements(elements()...)
	// By default, bluemonday removes the tags of these elements if they have no attributes.
	p.AllowNoAttrs().OnElements("a", "font")

	// The patterns list few ranges of characters, because a counted repetition of \p{L} takes about 20 ms to compile.
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
	p.AllowAttrs(tree.LineAttribute).Matching(regexp.MustCompile(`^[0-9]{1,9}$`)).Globally()
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
	// Documents made for print set page breaks by style. The rest of a style attribute is removed.
	p.AllowStyles("page-break-after", "page-break-before", "break-after", "break-before").
		MatchingEnum("always", "page", "avoid").Globally()
	p.AllowStyles("text-align").MatchingEnum("left", "right", "center", "justify").Globally()
	// Columns of Pandoc have their shares of the width as flex-grow.
	p.AllowStyles("flex-grow").Matching(regexp.MustCompile(`^[0-9]{1,3}(\.[0-9]{1,2})?$`)).OnElements("div")

	// Documents may have images as data URIs. Package finish checks them, and removes links of this
	// scheme.
	p.AllowURLSchemes("http", "https", "mailto", "tel", "data")
	p.AllowRelativeURLs(true)
	p.RequireParseableURLs(true)
	// The sanitiser counts the tags of these elements through the document. RawHTML keeps the count balanced.
	p.SkipElementsContent(tree.DroppedElements()...)

	return &Policy{p}
}

// Sanitize returns the HTML of r, reduced to what the policy allows. If r fails, the result is empty.
func (p *Policy) Sanitize(r io.Reader) *bytes.Buffer { return p.policy.SanitizeReader(r) }

// elements lists the elements that the page may contain.
func elements() []string {
	return []string{
		"h1", "h2", "h3", "h4", "h5", "h6", "p", "div", "span", "br", "hr", "blockquote", "pre",
		"code", "b", "strong", "i", "em", "u", "s", "strike", "del", "ins", "mark", "small",
		"big", "sub", "sup", "kbd", "samp", "var", "tt", "q", "cite", "dfn", "abbr", "address",
		"bdi", "bdo", "time", "wbr", "center", "font", "ruby", "rb", "rp", "rt", "section",
		"article", "aside", "header", "footer", "nav", "main", "figure", "figcaption", "details",
		"summary", "ul", "ol", "li", "dl", "dt", "dd", "menu", "a", "img", "input", "table",
		"caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr", "th", "td",
	}
}
