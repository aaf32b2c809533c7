// Package component parses Markdown within HTML elements, and replaces the components of MDX by their content. The
// parser of Extension ends a block of HTML after a tag whose content is Markdown. Place then replaces the tags of
// components in the tree.
package component

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/tree"
)

// Extension adds blocks of HTML. The content of MDX components is Markdown from the next line on. So is that of
// elements with markdown="1", as in kramdown and Python-Markdown.
type Extension struct {
	// HoldsMarkdown reports whether the parsed document is MDX, and the content of the element with this tag is
	// Markdown there. Required.
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
var markdownWithin = lazyregexp.New(
	`^ {0,3}<[a-zA-Z][a-zA-Z0-9]*\s(?:[^<>]*\s)?markdown(?:=(?:"(?:1|block|span)?"|1|block|span))?(?:\s[^<>]*)?>\s*$`,
)

// textTag matches the tag of an element whose content is text and not paragraphs.
var textTag = lazyregexp.New(`(?i)^\s*<(?:p|h[1-6]|summary)\s`)

// JoinParagraphs turns the paragraph after a tag such as <p markdown="1"> into the text of that element: HTML allows no
// paragraph within a paragraph.
func JoinParagraphs(root ast.Node, src []byte) {
	if !bytes.Contains(src, []byte("markdown")) {
		return
	}

	tree.EachBlock(root, func(n ast.Node) {
		before := n.PreviousSibling()
		if n.Kind() != ast.KindParagraph || before == nil {
			return
		}

		if tag := tagOf(before, src); markdownWithin().Match(tag) && textTag().Match(tag) {
			text := ast.NewTextBlock()
			tree.MoveChildren(n, text)
			tree.Replace(n, text)
		}
	})
}

// lonePicture matches a line that is only a picture.
var lonePicture = lazyregexp.New(`^\s*<img\s[^<>]*>\s*$`)

// Open opens no block for a picture that begins the Markdown within an element. The picture then begins a paragraph.
func (p htmlParser) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, _ := reader.PeekLine()
	if before := parent.LastChild(); before != nil && lonePicture().Match(line) {
		if markdownWithin().Match(tagOf(before, reader.Source())) {
			return nil, parser.NoChildren
		}
	}

	return p.BlockParser.Open(parent, reader, pc)
}

// Continue closes a block that is only a tag whose content is Markdown, unless the next line would become indented
// code.
func (p htmlParser) Continue(node ast.Node, reader text.Reader, pc parser.Context) parser.State {
	if tag := tagOf(node, reader.Source()); p.holdsMarkdown(pc, tag) || markdownWithin().Match(tag) {
		const code = 4 // columns

		line, _ := reader.PeekLine()
		if indent, _ := util.IndentWidth(line, reader.LineOffset()); indent < code {
			return parser.Close
		}
	}

	return p.BlockParser.Continue(node, reader, pc)
}

// tagOf returns the line of an HTML block of one line that a blank line would end. It returns nil for other nodes. It
// accepts elements of any name, because a component may have the name of an HTML element, such as <Section>.
func tagOf(node ast.Node, source []byte) []byte {
	block, ok := node.(*ast.HTMLBlock)
	if !ok || block.HTMLBlockType < ast.HTMLBlockType6 || block.Lines().Len() != 1 {
		return nil
	}
	first := block.Lines().At(0)

	tag := first.Value(source)

	name := tagName().FindSubmatch(tag)
	if name != nil && slices.Contains(tree.DroppedElements(), strings.ToLower(string(name[1]))) {
		return nil // the sanitiser removes the element only together with its content
	}

	return tag
}

// tagName matches the name of a tag at the start of a line.
var tagName = lazyregexp.New(`^\s*<(\w+)`)

// componentTag matches a tag of a component on one line. Its group is the name.
var componentTag = lazyregexp.New(`</?([A-Z][\w.]*)(?:\s(?:[^<>"']|"[^"]*"|'[^']*')*)?/?>`)

// Place replaces the components of MDX by their content. Components that are admonitions become alerts. Of others, the
// texts and pictures in the attributes are printed. For the first component without content of each name, Place calls
// dropped with the offset in the source.
func Place(root ast.Node, src []byte, dropped func(name string, offset int)) {
	p := placer{src: src, dropped: dropped, known: map[string]bool{}}
	var blocks []*ast.HTMLBlock
	var inlines []*ast.RawHTML
	var parents []ast.Node // the parents of the blocks, each once
	seen := map[ast.Node]bool{}
	tree.Each(root, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.HTMLBlock:
			blocks = append(blocks, n)
			if parent := n.Parent(); !seen[parent] {
				seen[parent], parents = true, append(parents, parent)
			}
		case *ast.RawHTML:
			inlines = append(inlines, n)
		}
	})

	// Alerts come first: wrapAlerts removes their tags from the blocks.
	for _, parent := range parents {
		wrapAlerts(parent, src)
	}

	for _, n := range blocks {
		p.placeBlock(n)
	}

	for _, n := range inlines {
		p.placeInline(n)
	}
}

// placer replaces the components of one document.
type placer struct {
	src     []byte
	dropped func(name string, offset int)
	known   map[string]bool // the names for which dropped was called
}

// placeBlock replaces the components in a block of HTML.
func (p placer) placeBlock(n *ast.HTMLBlock) {
	if n.Parent() == nil { // wrapAlerts has replaced it
		return
	}

	text := tree.HTMLText(n, p.src)
	start := n.Lines().At(0).Start

	with := componentTag().ReplaceAllFunc(text, func(tag []byte) []byte {
		return p.content(bytes.Clone(tag), start, true)
	})
	if !bytes.Equal(with, text) {
		tree.Replace(n, &tree.RawBlock{HTML: with})
	}
}

// placeInline replaces a tag within a paragraph if it is that of a component.
func (p placer) placeInline(n *ast.RawHTML) {
	tag := n.Segments.Value(p.src)
	if n.Parent() == nil || placeParagraphAlert(n, tag, p.src) || !componentTag().Match(tag) {
		return
	}

	if with := p.content(bytes.Clone(tag), n.Segments.At(0).Start, false); !bytes.Equal(with, tag) {
		s := ast.NewString(with)
		s.SetCode(true)
		tree.Replace(n, s)
	}
}

// content returns the HTML that replaces the tag of a component at an offset. It is the text in the attributes. A tag
// that does not end with "/>" stays before that text, and the sanitiser removes it. block reports whether the HTML may
// have blocks.
func (p placer) content(tag []byte, offset int, block bool) []byte {
	c := readComponent(tag)

	text := c.text(block)
	switch {
	case slices.Contains([]string{"Br", "Hr", "Img"}, c.name): // elements of HTML
		return tag
	case c.empty:
		if text == "" && !p.known[c.name] {
			p.known[c.name] = true
			p.dropped(c.name, offset)
		}

		return []byte(text)
	}

	return append(tag, text...)
}

// wrapAlerts moves the nodes between the opening and closing tags of an admonition into an alert. It
// looks for the tags on lines of their own among the children of parent.
func wrapAlerts(parent ast.Node, src []byte) {
	const deepest = 20 // the largest number of open admonitions; of more, the tags of the outermost stay
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

// placeParagraphAlert replaces a paragraph that consists of an admonition, whose opening tag is n, by an alert. It
// returns false for any other paragraph.
func placeParagraphAlert(n *ast.RawHTML, tag, src []byte) bool {
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
