// Package component parses Markdown within HTML elements, and replaces the components of MDX by their
// content.
package component

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
	"golang.org/x/net/html"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/admonition"
	"presswork/internal/markdown/tree"
)

// Extension adds the blocks of HTML. The content of MDX components is Markdown from the next line on. So
// is that of elements with markdown="1", as in kramdown and Python-Markdown.
type Extension struct {
	// HoldsMarkdown reports whether the content of the element with this tag is Markdown in MDX.
	HoldsMarkdown func(pc parser.Context, tag []byte) bool
}

// Extend implements goldmark.Extender.
func (e Extension) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(parser.WithBlockParsers(
		util.Prioritized(htmlParser{parser.NewHTMLBlockParser(), e.HoldsMarkdown}, 900),
	))
}

// htmlParser is goldmark's parser of HTML blocks. It ends a block after the tag of an element whose
// content is Markdown.
type htmlParser struct {
	parser.BlockParser
	holdsMarkdown func(pc parser.Context, tag []byte) bool
}

// markdownWithin matches the tag of an element with the attribute markdown.
var markdownWithin = regexp.MustCompile(
	`^ {0,3}<[a-zA-Z]+\s(?:[^<>]*\s)?markdown(?:=(?:"(?:1|block|span)?"|1|block|span))?(?:\s[^<>]*)?>\s*$`,
)

// Continue closes a block that is only such a tag, unless the next line would become indented code.
func (p htmlParser) Continue(node ast.Node, reader text.Reader, pc parser.Context) parser.State {
	if tag := tagOf(node, reader.Source()); p.holdsMarkdown(pc, tag) || markdownWithin.Match(tag) {
		const code = 4 // columns

		line, _ := reader.PeekLine()
		if indent, _ := util.IndentWidth(line, reader.LineOffset()); indent < code {
			return parser.Close
		}
	}

	return p.BlockParser.Continue(node, reader, pc)
}

// tagOf returns the line of a block that has only one line so far and that a blank line ends, else nil.
// It accepts elements of any name, since an MDX component may have the name of an HTML element:
// <Section>.
func tagOf(node ast.Node, source []byte) []byte {
	block, ok := node.(*ast.HTMLBlock)
	if !ok || block.HTMLBlockType < ast.HTMLBlockType6 || block.Lines().Len() != 1 {
		return nil
	}
	first := block.Lines().At(0)

	tag := first.Value(source)

	name := tagName.FindSubmatch(tag)
	if name != nil && slices.Contains(tree.DroppedElements(), strings.ToLower(string(name[1]))) {
		return nil // the sanitiser removes the element only together with its content
	}

	return tag
}

// tagName matches the name of a tag at the start of a line.
var tagName = regexp.MustCompile(`^\s*<(\w+)`)

// componentTag matches a tag of a component on one line. Its group is the name.
var componentTag = lazyregexp.New(`</?([A-Z][\w.]*)(?:\s(?:[^<>"']|"[^"]*"|'[^']*')*)?>`)

// Place replaces the components of MDX by their content. Components that are admonitions become alerts,
// and the texts and pictures in the attributes of others are printed. For the first component without
// content of each name, Place calls dropped with the offset in the source.
func Place(root ast.Node, src []byte, dropped func(name string, offset int)) {
	known := map[string]bool{}
	var blocks []*ast.HTMLBlock
	var inlines []*ast.RawHTML
	var parents []ast.Node // of the blocks, each once
	seen := map[ast.Node]bool{}
	tree.Each(root, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.HTMLBlock:
			blocks = append(blocks, n)
			if p := n.Parent(); !seen[p] {
				seen[p], parents = true, append(parents, p)
			}
		case *ast.RawHTML:
			inlines = append(inlines, n)
		}
	})
	label := func(tag []byte, start int, block bool) []byte {
		c := readComponent(tag)

		text := c.text(block)
		switch {
		case slices.Contains([]string{"Br", "Hr", "Img"}, c.name):
		case c.empty:
			if text == "" && !known[c.name] {
				known[c.name] = true
				dropped(c.name, start)
			}

			return []byte(text)
		case text != "":
			return append(tag, text...)
		}

		return tag
	}

	for _, parent := range parents {
		wrapAlerts(parent, src)
	}

	for _, n := range blocks {
		if n.Parent() == nil { // wrapAlerts has replaced it
			continue
		}

		text := tree.BlockText(n, src, 0)
		if n.HasClosure() {
			text = append(text, n.ClosureLine.Value(src)...)
		}

		start := n.Lines().At(0).Start

		with := componentTag().ReplaceAllFunc(text, func(tag []byte) []byte {
			return label(bytes.Clone(tag), start, true)
		})
		if !bytes.Equal(with, text) {
			tree.Replace(n, &tree.RawBlock{HTML: with})
		}
	}

	for _, n := range inlines {
		tag := n.Segments.Value(src)
		if n.Parent() == nil || enclosesAlert(n, tag, src) || !componentTag().Match(tag) {
			continue
		}

		if with := label(bytes.Clone(tag), n.Segments.At(0).Start, false); !bytes.Equal(with, tag) {
			s := ast.NewString(with)
			s.SetCode(true)
			tree.Replace(n, s)
		}
	}
}

// alert returns the alert for a component that is an admonition, nil for any other.
func (c mdxComponent) alert() *tree.Alert {
	look := c.look()
	if look == "" || c.shuts || c.empty {
		return nil
	}
	title := c.attributes["title"]

	return &tree.Alert{Look: look, Name: strings.ToLower(c.name), Title: title, Titled: title != ""}
}

// wrapAlerts moves the nodes between the opening and closing tags of an admonition into an alert. It
// looks for the tags on lines of their own among the children of parent.
func wrapAlerts(parent ast.Node, src []byte) {
	const deepest = 20 // open admonitions; the outermost of more stay tags
	type opener struct {
		block *ast.HTMLBlock
		name  string
		alert *tree.Alert
	}
	var open []opener

	for child := parent.FirstChild(); child != nil; {
		end, tag, next := child, onlyTag(child, src), child.NextSibling()
		child = next

		if tag == nil {
			last := lastInline(end)
			if last == nil {
				continue
			}
			end, tag = last, last.Segments.Value(src)
		}
		c := readComponent(tag)

		i := len(open) - 1
		for c.shuts && i >= 0 && open[i].name != c.name {
			i--
		}

		switch a := c.alert(); {
		case c.shuts && i >= 0:
			o := open[i]
			open = open[:i]
			o.alert.SetPos(o.block.Pos())

			for inner := o.block.NextSibling(); inner != nil && inner != end && inner != next; {
				following := inner.NextSibling()
				o.alert.AppendChild(o.alert, inner)
				inner = following
			}
			end.Parent().RemoveChild(end.Parent(), end)
			tree.Replace(o.block, o.alert)
		case a != nil && end.Kind() == ast.KindHTMLBlock:
			if len(open) == deepest {
				open = open[1:]
			}
			open = append(open, opener{end.(*ast.HTMLBlock), c.name, a})
		}
	}
}

// onlyTag returns the tag of a component if the block has nothing else, else nil.
func onlyTag(n ast.Node, src []byte) []byte {
	block, ok := n.(*ast.HTMLBlock)
	if !ok || block.Lines().Len() != 1 {
		return nil
	}

	tag := bytes.TrimSpace(tree.BlockText(block, src, 0))
	if m := componentTag().FindIndex(tag); m == nil || m[0] != 0 || m[1] != len(tag) {
		return nil
	}

	return tag
}

// lastInline returns the raw HTML at the end of a block, nil if the block ends with other content.
func lastInline(n ast.Node) *ast.RawHTML {
	for n != nil {
		if _, ok := n.(*tree.Alert); ok {
			return nil
		}

		if raw, ok := n.(*ast.RawHTML); ok {
			return raw
		}
		n = n.LastChild()
	}

	return nil
}

// enclosesAlert replaces a paragraph by an alert if it begins with n, the opening tag of an admonition,
// and ends with the closing tag. It returns false for any other paragraph.
func enclosesAlert(n *ast.RawHTML, tag, src []byte) bool {
	p, ok := n.Parent().(*ast.Paragraph)
	if !ok || p.FirstChild() != n {
		return false
	}
	last, ok := p.LastChild().(*ast.RawHTML)
	c := readComponent(tag)

	a := c.alert()
	if !ok || a == nil || string(last.Segments.Value(src)) != "</"+c.name+">" {
		return false
	}
	a.SetPos(p.Pos())
	tree.Replace(p, a)
	a.AppendChild(a, p)
	p.RemoveChild(p, n)
	p.RemoveChild(p, last)

	return true
}

// mdxComponent is a tag of a component.
type mdxComponent struct {
	name       string
	attributes map[string]string
	// shuts reports whether it is a closing tag.
	shuts bool
	// empty reports whether it ends with "/>".
	empty bool
}

// readComponent reads a tag.
func readComponent(tag []byte) mdxComponent {
	c := mdxComponent{
		attributes: map[string]string{},
		shuts:      bytes.HasPrefix(tag, []byte("</")),
		empty:      bytes.HasSuffix(tag, []byte("/>")),
	}
	if m := componentTag().FindSubmatch(tag); m != nil {
		c.name = string(m[1])
	}
	z := html.NewTokenizer(bytes.NewReader(tag))
	z.Next()

	for _, a := range z.Token().Attr {
		c.attributes[a.Key] = strings.TrimSpace(a.Val)
	}

	return c
}

// look returns the look of a component that is an admonition, "" for any other.
func (c mdxComponent) look() string {
	name := strings.ToLower(c.name)
	switch name {
	case "callout", "admonition", "aside", "alert", "message", "hint", "banner":
		for _, key := range []string{"type", "variant", "kind", "severity", "intent", "status"} {
			if look := admonition.KindOf(strings.ToLower(c.attributes[key])); look != "" {
				return look
			}
		}

		return "note"
	case "details", "quote", "cite", "example", "question", "summary", "abstract": // not admonitions in MDX
		return ""
	}

	return admonition.KindOf(name)
}

// text returns the texts and the picture in the attributes of a component as HTML, "" if there are none.
// block allows blocks in the HTML.
func (c mdxComponent) text(block bool) string {
	const most = 2000 // bytes of an attribute
	name := strings.ToLower(c.name)
	first := func(keys ...string) string {
		for _, key := range keys {
			if text := c.attributes[key]; text != "" && len(text) <= most {
				return html.EscapeString(text)
			}
		}

		return ""
	}

	if c.shuts || slices.Contains([]string{"a", "link", "abbr", "icon", "img", "iframe"}, name) {
		return ""
	}

	if source := c.attributes["src"]; slices.Contains(
		[]string{".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif"},
		strings.ToLower(path.Ext(source)),
	) {
		picture := `<img src="` + html.EscapeString(source) + `" alt="` + first("alt", "title", "caption") + `">`
		if caption := first("caption", "title"); caption != "" && block {
			return "<figure>" + picture + "<figcaption>" + caption + "</figcaption></figure>"
		}

		return picture
	}

	title := first("title", "label", "header", "heading", "summary", "caption", "question")
	switch {
	case title != "":
	case name == "tabitem":
		title = first("value")
	case strings.HasSuffix(name, "field"): // of an interface
		title = first("name", "path", "query", "body")
	}

	more := first("description", "subtitle", "text", "alt", "answer")
	switch {
	case title == "" && more == "":
		return ""
	case !block && title == "":
		return more
	case !block:
		return "<strong>" + title + "</strong> " + more
	case title == "":
		return "\n<p>" + more + "</p>"
	case more == "":
		return "\n<p><strong>" + title + "</strong></p>"
	}

	return "\n<p><strong>" + title + "</strong></p>\n<p>" + more + "</p>"
}
