// Package pandoc reads the raw attributes of Pandoc (https://pandoc.org/MANUAL.html#extension-raw_attribute).
package pandoc

import (
	"bytes"
	"slices"

	"github.com/yuin/goldmark/ast"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/tree"
)

// rawAttribute matches a raw attribute, such as {=html}. Its group is the format.
var rawAttribute = lazyregexp.New(`^\{=([A-Za-z][A-Za-z0-9_]{0,30})\}`)

// PlaceRaw replaces code with a raw attribute. Code in HTML becomes raw HTML, and LaTeX's command for a page break a
// paragraph. PlaceRaw removes code in any other format and calls dropped with the format and the offset of the code in
// the source.
func PlaceRaw(root ast.Node, src []byte, dropped func(format string, offset int)) {
	p := placer{src, dropped}
	var spans []*ast.CodeSpan
	var blocks []*ast.FencedCodeBlock
	tree.Each(root, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.CodeSpan:
			spans = append(spans, n)
		case *ast.FencedCodeBlock:
			blocks = append(blocks, n)
		}
	})

	for _, n := range spans {
		p.placeSpan(n)
	}

	for _, n := range blocks {
		p.placeBlock(n)
	}
}

// placer replaces the raw code of one document.
type placer struct {
	src     []byte
	dropped func(format string, offset int)
}

// placeSpan replaces a code span if a raw attribute follows it.
func (p placer) placeSpan(n *ast.CodeSpan) {
	after, ok := n.NextSibling().(*ast.Text)
	if !ok {
		return
	}

	m := rawAttribute().FindSubmatch(after.Segment.Value(p.src))
	if m == nil {
		return
	}
	after.Segment = after.Segment.WithStart(after.Segment.Start + len(m[0]))

	raw := ast.NewRawHTML()

	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if text, ok := c.(*ast.Text); ok {
			raw.Segments.Append(text.Segment)
		}
	}

	if isHTML(m[1]) {
		tree.Replace(n, raw)
		return
	}
	n.Parent().RemoveChild(n.Parent(), n)
	p.dropped(string(m[1]), after.Segment.Start)
}

// placeBlock replaces a code block whose info string is a raw attribute.
func (p placer) placeBlock(n *ast.FencedCodeBlock) {
	if n.Info == nil {
		return
	}

	m := rawAttribute().FindSubmatch(n.Info.Segment.Value(p.src))
	if m == nil {
		return
	}

	switch code := bytes.TrimSpace(n.Lines().Value(p.src)); {
	case isHTML(m[1]):
		html := ast.NewHTMLBlock(ast.HTMLBlockType6)
		html.SetLines(n.Lines())
		tree.Replace(n, html)
	case n.Lines().Len() == 1 && IsPageBreak(string(code)):
		paragraph := ast.NewParagraph()
		paragraph.SetLines(n.Lines())
		tree.Replace(n, paragraph)
	default:
		n.Parent().RemoveChild(n.Parent(), n)
		p.dropped(string(m[1]), n.Info.Segment.Start)
	}
}

// IsPageBreak reports whether a text is one of LaTeX's commands for a page break.
func IsPageBreak(text string) bool {
	return slices.Contains([]string{`\newpage`, `\pagebreak`, `\clearpage`, `\cleardoublepage`}, text)
}

// isHTML reports whether a format, in any case, is HTML.
func isHTML(format []byte) bool {
	return slices.Contains([]string{"html", "html4", "html5"}, string(bytes.ToLower(format)))
}
