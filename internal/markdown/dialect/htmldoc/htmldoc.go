// Package htmldoc turns HTML documents into Markdown. Headings and code blocks become Markdown, so that the outline and
// highlighting work. Other blocks become raw HTML, each on one line. Package markdown sanitises the result.
package htmldoc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/tree"
)

// ErrNested is returned for HTML whose elements nest deeper than 512 levels, the limit of the HTML parser.
var ErrNested = errors.New("its elements are nested too deeply; allowed are 512 levels")

// IsName reports whether a file has the name of an HTML document: it ends with .html, .htm or .xhtml.
func IsName(name string) bool {
	name = strings.ToLower(name)

	return slices.ContainsFunc([]string{".html", ".htm", ".xhtml"}, func(s string) bool {
		return strings.HasSuffix(name, s)
	})
}

// Markdown returns an HTML document as Markdown: the title, the author and the language as front matter, then the
// body. It leaves out scripts and other elements that are never printed. The result is not sanitised. Its size is at
// most seven times that of data. It returns ErrNested, or an error for an encoding that cannot be read.
func Markdown(data []byte) ([]byte, error) {
	in := io.Reader(bytes.NewReader(data))

	if !utf8.Valid(data) {
		var err error
		if in, err = charset.NewReader(in, ""); err != nil { // by its byte order mark, its meta element or a guess
			return nil, fmt.Errorf("its encoding cannot be read: %w", err)
		}
	}

	root, err := html.Parse(in)
	if err != nil {
		return nil, ErrNested
	}
	w := &writer{}
	w.frontMatter(root)
	w.blocks(root)
	w.endParagraph()

	return w.out.Bytes(), nil
}

// writer writes the Markdown of one document.
type writer struct {
	out bytes.Buffer
	// paragraph is the inline content since the last block.
	paragraph bytes.Buffer
	// id is the id of the open container. Containers are not written, so their first block gets it.
	id string
}

// languagePattern matches a language tag.
var languagePattern = lazyregexp.New(`^[A-Za-z0-9-]{1,35}$`)

// frontMatter writes title, author and language of the page as front matter.
func (w *writer) frontMatter(root *html.Node) {
	var title, author, language string

	for n := range root.Descendants() {
		switch {
		case n.Type != html.ElementNode || n.Namespace != "":
		case n.Data == "html":
			language = attribute(n, "lang")
		case n.Data == "title" && title == "":
			title = strings.Join(strings.Fields(textOf(n)), " ")
		case n.Data == "meta" && strings.EqualFold(attribute(n, "name"), "author"):
			author = attribute(n, "content")
		}
	}
	w.out.WriteString("---\n")

	if title != "" {
		fmt.Fprintf(&w.out, "title: %s\n", quoted(title))
	}

	if author != "" {
		fmt.Fprintf(&w.out, "author: %s\n", quoted(author))
	}

	if languagePattern().MatchString(language) {
		fmt.Fprintf(&w.out, "lang: %s\n", quoted(language))
	}
	w.out.WriteString("---\n\n")
}

// quoted returns a text in double quotes, as YAML reads it.
func quoted(text string) string {
	return strconv.QuoteToGraphic(strings.ToValidUTF8(text, "\ufffd"))
}

// attribute returns the value of an attribute, "" without it.
func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}

	return ""
}

// textOf returns the text of a node without its markup.
func textOf(n *html.Node) string {
	var b strings.Builder

	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}

	return b.String()
}

// containers lists elements that only group blocks.
func containers() []string {
	return []string{
		"html", "body", "div", "main", "article", "section", "header", "footer", "center", "form", "fieldset", "hgroup",
		"dialog", "search",
	}
}

// rawBlocks lists elements that begin a block of raw HTML up to a blank line (CommonMark 0.31, 4.6, condition 6).
func rawBlocks() []string {
	return []string{
		"p", "ul", "ol", "dl", "table", "blockquote", "figure", "details", "address", "menu", "hr", "aside", "nav",
	}
}

// blocks writes the children of an element.
func (w *writer) blocks(parent *html.Node) {
	for n := range parent.ChildNodes() {
		switch {
		case n.Type == html.TextNode:
			w.text(&w.paragraph, n.Data, false)
		case n.Type != html.ElementNode || isDropped(n):
		case slices.Contains(containers(), n.Data):
			w.endParagraph()

			if id := attribute(n, "id"); id != "" {
				w.id = id
			}
			w.blocks(n)
			w.endParagraph()
		case len(n.Data) == 2 && n.Data[0] == 'h' && n.Data[1] >= '1' && n.Data[1] <= '6':
			w.endParagraph()
			w.heading(n)
		case n.Data == "pre":
			w.endParagraph()
			w.code(n)
		case slices.Contains(rawBlocks(), n.Data):
			w.endParagraph()
			w.takeID(n)
			w.element(&w.out, n, false)
			w.out.WriteString("\n\n")
		default:
			w.element(&w.paragraph, n, false)
		}
	}
}

// isDropped reports whether an element is left out: it is never shown, or its content is not HTML.
func isDropped(n *html.Node) bool {
	return n.Namespace != "" || n.Data == "head" || slices.Contains(tree.DroppedElements(), n.Data)
}

// endParagraph writes the inline content between two blocks as a paragraph.
func (w *writer) endParagraph() {
	if content := bytes.TrimSpace(w.paragraph.Bytes()); len(content) > 0 {
		id := ""
		if w.id != "" {
			id = ` id="` + escapeAttribute(w.id) + `"`
		}
		fmt.Fprintf(&w.out, "<p%s>%s</p>\n\n", id, content)
		w.id = ""
	}
	w.paragraph.Reset()
}

// takeID gives a block the id of its container, if it has none of its own.
func (w *writer) takeID(n *html.Node) {
	if w.id != "" && attribute(n, "id") == "" {
		n.Attr = append(n.Attr, html.Attribute{Key: "id", Val: w.id})
	}
	w.id = ""
}

// idPattern matches ids that can be written in braces.
var idPattern = lazyregexp.New(`^[\pL\pN][\pL\pN_.:-]*$`)

// heading writes a heading with its id. An empty heading is left out.
func (w *writer) heading(n *html.Node) {
	w.takeID(n)
	var content bytes.Buffer

	for c := range n.ChildNodes() {
		w.inline(&content, c, false)
	}
	line := bytes.TrimSpace(content.Bytes())

	if len(line) == 0 {
		return
	}
	level := int(n.Data[1] - '0')
	fmt.Fprintf(&w.out, "%s %s", strings.Repeat("#", level), line)

	if id := attribute(n, "id"); idPattern().MatchString(id) {
		fmt.Fprintf(&w.out, " {#%s}", id)
	}
	w.out.WriteString("\n\n")
}

// codeLanguage matches the class that names the language of a code block.
var codeLanguage = lazyregexp.New(`(?:^|\s)(?:language-|lang-|sourceCode )([A-Za-z0-9+#_-]{1,30})(?:\s|$)`)

// code writes a fenced code block. Its language is in a class, such as "language-go" or Pandoc's "sourceCode go".
func (w *writer) code(n *html.Node) {
	language := ""

	for c := range n.Descendants() {
		if m := codeLanguage().FindStringSubmatch(attribute(c, "class")); m != nil && c.Data == "code" {
			language = m[1]
		}
	}

	if m := codeLanguage().FindStringSubmatch(attribute(n, "class")); m != nil {
		language = m[1]
	}
	text := strings.Trim(strings.ReplaceAll(textOf(n), "\r", ""), "\n")
	fence := "```"

	for strings.Contains(text, fence) {
		fence += "`"
	}
	w.id = ""
	fmt.Fprintf(&w.out, "%s%s\n%s\n%s\n\n", fence, language, text, fence)
}

// inline writes a node of inline content, or of a raw block, on one line: a blank line would end the raw block.
func (w *writer) inline(to *bytes.Buffer, n *html.Node, kept bool) {
	switch {
	case n.Type == html.TextNode:
		w.text(to, n.Data, kept)
	case n.Type == html.ElementNode && !isDropped(n):
		w.element(to, n, kept)
	}
}

// element writes an element on one line. kept reports whether the element keeps its white space.
func (w *writer) element(to *bytes.Buffer, n *html.Node, kept bool) {
	to.WriteString("<" + n.Data)

	for _, a := range n.Attr {
		if a.Namespace == "" && attributePattern().MatchString(a.Key) {
			fmt.Fprintf(to, ` %s="%s"`, a.Key, escapeAttribute(a.Val))
		}
	}
	to.WriteByte('>')

	if slices.Contains([]string{"br", "hr", "img", "input", "col", "wbr"}, n.Data) {
		return
	}

	for c := range n.ChildNodes() {
		w.inline(to, c, kept || n.Data == "pre")
	}
	to.WriteString("</" + n.Data + ">")
}

// attributePattern matches names of attributes that are kept.
var attributePattern = lazyregexp.New(`^[a-z][a-z0-9-]{0,40}$`)

// text writes text with character references for all characters that Markdown could read as syntax.
func (w *writer) text(to *bytes.Buffer, text string, kept bool) {
	for _, r := range text {
		switch {
		case r == '\n' && kept:
			to.WriteString("&#10;")
		case r == '\n' || r == '\r' || r == '\t' || r == '\f' || r == ' ' && !kept:
			if last := to.Len() - 1; last < 0 || to.Bytes()[last] != ' ' {
				to.WriteByte(' ')
			}
		case r < ' ':
		case r < 0x80 && strings.ContainsRune("!\"#$&'*+-:<=>@[\\]^_`{|}~", r):
			fmt.Fprintf(to, "&#%d;", r)
		default:
			to.WriteRune(r)
		}
	}
}

// escapeAttribute escapes the value of an attribute, also for extensions that read dollars, backticks and braces.
func escapeAttribute(value string) string {
	return strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;", ">", "&gt;", "\n", " ", "\r", " ", "$", "&#36;",
		"`", "&#96;", "{", "&#123;", "}", "&#125;").
		Replace(value)
}
