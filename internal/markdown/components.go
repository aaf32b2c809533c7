package markdown

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
	"golang.org/x/net/html"

	"presswork/internal/fault"
	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/admonition"
	"presswork/internal/markdown/dialect/mdx"
	"presswork/internal/markdown/tree"
)

// componentParser is the parser of HTML blocks, which does not take what a component
// of MDX encloses, nor an element with the attribute of kramdown and Python-Markdown:
// that is Markdown, on the very next line.
type componentParser struct{ parser.BlockParser }

var markdownWithin = regexp.MustCompile(
	`^ {0,3}<[a-zA-Z]+\s(?:[^<>]*\s)?markdown(?:=(?:"(?:1|block|span)?"|1|block|span))?(?:\s[^<>]*)?>\s*$`,
)

// Continue closes the block of such a tag at its first line, unless the next one would
// be indented code.
func (p componentParser) Continue(node ast.Node, reader text.Reader, pc parser.Context) parser.State {
	if tag := tagOf(
		node,
		reader.Source(),
	); dialectOf(pc) == MDX && mdx.HoldsMarkdown(tag) ||
		markdownWithin.Match(tag) {
		const code = 4 // columns

		line, _ := reader.PeekLine()
		if indent, _ := util.IndentWidth(line, reader.LineOffset()); indent < code {
			return parser.Close
		}
	}

	return p.BlockParser.Continue(node, reader, pc)
}

// tagOf is the only line so far of a block which blank lines end; of elements of any
// name, since <Section> of MDX has that of HTML.
func tagOf(node ast.Node, source []byte) []byte {
	block, ok := node.(*ast.HTMLBlock)
	if !ok || block.HTMLBlockType < ast.HTMLBlockType6 || block.Lines().Len() != 1 {
		return nil
	}
	first := block.Lines().At(0)

	tag := first.Value(source)

	name := tagName.FindSubmatch(tag)
	if name != nil && slices.Contains(tree.DroppedElements(), strings.ToLower(string(name[1]))) {
		return nil // alone, it would be shown as text
	}

	return tag
}

var tagName = regexp.MustCompile(`^\s*<(\w+)`)

// componentTag is a tag of a component, on one line as plainTag leaves it.
var componentTag = lazyregexp.New(`</?([A-Z][\w.]*)(?:\s(?:[^<>"']|"[^"]*"|'[^']*')*)?>`)

// labelComponents prints what readers need of components of MDX: the texts and pictures
// that are in their attributes, and the admonitions among them as such. Those that enclose
// nothing and have no such attribute are named in a warning.
func (d *draft) labelComponents(root ast.Node) {
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
				d.warn(
					fault.SyntaxDropped,
					d.lines.At(start),
					"MDX: the component "+c.name+" is left out: it encloses no text",
				)
			}

			return []byte(text)
		case text != "":
			return append(tag, text...)
		}

		return tag
	}

	for _, parent := range parents {
		d.wrapAlerts(parent)
	}

	for _, n := range blocks {
		if n.Parent() == nil { // it is an admonition
			continue
		}

		text := tree.BlockText(n, d.src, 0)
		if n.HasClosure() {
			text = append(text, n.ClosureLine.Value(d.src)...)
		}

		with := componentTag().ReplaceAllFunc(text, func(tag []byte) []byte { return label(bytes.Clone(tag), n.Lines().At(0).Start, true) })
		if !bytes.Equal(with, text) {
			tree.Replace(n, &tree.RawBlock{HTML: with})
		}
	}

	for _, n := range inlines {
		tag := n.Segments.Value(d.src)
		if n.Parent() == nil || d.enclosesAlert(n, tag) || !componentTag().Match(tag) {
			continue
		}

		if with := label(bytes.Clone(tag), n.Segments.At(0).Start, false); !bytes.Equal(with, tag) {
			s := ast.NewString(with)
			s.SetCode(true)
			tree.Replace(n, s)
		}
	}
}

// alert is the admonition that a component is, nil for another.
func (c mdxComponent) alert() *alert {
	kind := c.kind()
	if kind == "" || c.shuts || c.empty {
		return nil
	}
	a := &alert{kind: kind, name: strings.ToLower(c.name), title: c.attributes["title"]}
	a.titled = a.title != ""

	return a
}

// wrapAlerts puts what stands between the tags of admonitions, on lines of their own among
// the children of a node, into them.
func (d *draft) wrapAlerts(parent ast.Node) {
	const deepest = 20 // of those that are open, the last
	type opener struct {
		block *ast.HTMLBlock
		name  string
		alert *alert
	}
	var open []opener

	for child := parent.FirstChild(); child != nil; {
		end, tag, next := child, d.onlyTag(child), child.NextSibling()
		child = next

		if tag == nil {
			last := lastInline(end)
			if last == nil {
				continue
			}
			end, tag = last, last.Segments.Value(d.src)
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

// onlyTag is the tag of a component that a block is, nil if it is not.
func (d *draft) onlyTag(n ast.Node) []byte {
	block, ok := n.(*ast.HTMLBlock)
	if !ok || block.Lines().Len() != 1 {
		return nil
	}

	tag := bytes.TrimSpace(tree.BlockText(block, d.src, 0))
	if m := componentTag().FindIndex(tag); m == nil || m[0] != 0 || m[1] != len(tag) {
		return nil
	}

	return tag
}

// lastInline is the raw HTML that a block ends with, nil if it does not.
func lastInline(n ast.Node) *ast.RawHTML {
	for n != nil && n.Kind() != kindAlert {
		if raw, ok := n.(*ast.RawHTML); ok {
			return raw
		}
		n = n.LastChild()
	}

	return nil
}

// enclosesAlert makes a paragraph an admonition that is in the tags of one, and reports
// whether it is.
func (d *draft) enclosesAlert(n *ast.RawHTML, tag []byte) bool {
	p, ok := n.Parent().(*ast.Paragraph)
	if !ok || p.FirstChild() != n {
		return false
	}
	last, ok := p.LastChild().(*ast.RawHTML)
	c := readComponent(tag)

	a := c.alert()
	if !ok || a == nil || string(last.Segments.Value(d.src)) != "</"+c.name+">" {
		return false
	}
	a.SetPos(p.Pos())
	tree.Replace(p, a)
	a.AppendChild(a, p)
	p.RemoveChild(p, n)
	p.RemoveChild(p, last)

	return true
}

// mdxComponent is the tag of a component.
type mdxComponent struct {
	name         string
	attributes   map[string]string
	shuts, empty bool
}

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

// kind is that of the admonition that a component is, "" for another.
func (c mdxComponent) kind() string {
	kinds := admonition.Kinds()

	name := strings.ToLower(c.name)
	switch name {
	case "callout", "admonition", "aside", "alert", "message", "hint", "banner":
		for _, key := range []string{"type", "variant", "kind", "severity", "intent", "status"} {
			if kind := kinds[strings.ToLower(c.attributes[key])]; kind != "" {
				return kind
			}
		}

		return "note"
	case "details", "quote", "cite", "example", "question", "summary", "abstract": // they have texts of their own
		return ""
	}

	return kinds[name]
}

// text is the HTML of what is in the attributes of a component; "" if that is nothing.
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
