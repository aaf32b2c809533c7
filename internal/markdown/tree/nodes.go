package tree

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	htmlrender "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
)

// RawBlock is HTML that an extension writes in place of a block of the source. The sanitiser still reads it.
type RawBlock struct {
	ast.BaseBlock
	HTML []byte
}

// Kind implements ast.Node.
func (*RawBlock) Kind() ast.NodeKind { return kindRawBlock }

// Dump implements ast.Node.
func (n *RawBlock) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

var kindRawBlock = ast.NewNodeKind("RawBlock")

// Element is an inline element that goldmark has no node for.
type Element struct {
	ast.BaseInline
	// Tag is the name of the element, such as "sup".
	Tag string
}

// Kind implements ast.Node.
func (*Element) Kind() ast.NodeKind { return kindElement }

// Dump implements ast.Node.
func (n *Element) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

var kindElement = ast.NewNodeKind("Element")

// Caption is the caption of a table, as its first child, or of a figure, as its last.
type Caption struct {
	ast.BaseBlock
	// Figure reports whether it is the caption of a figure.
	Figure bool
}

// Kind implements ast.Node.
func (*Caption) Kind() ast.NodeKind { return kindCaption }

// Dump implements ast.Node.
func (n *Caption) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

var kindCaption = ast.NewNodeKind("Caption")

// Renderer renders the nodes of this package; extensions need not render them.
type Renderer struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (r Renderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(kindElement, r.renderElement)
	reg.Register(kindCaption, r.renderCaption)
	reg.Register(kindRawBlock, r.renderRaw)
	registerBlocks(reg)
}

// renderElement renders an inline element with its attributes.
func (Renderer) renderElement(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	tag := n.(*Element).Tag
	if !entering {
		_, _ = w.WriteString("</" + tag + ">")
		return ast.WalkContinue, nil
	}
	_, _ = w.WriteString("<" + tag)
	htmlrender.RenderAttributes(w, n, nil)
	_ = w.WriteByte('>')

	return ast.WalkContinue, nil
}

// renderCaption renders the caption of a figure or of a table.
func (Renderer) renderCaption(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	switch figure := n.(*Caption).Figure; {
	case entering && figure:
		_, _ = w.WriteString("\n<figcaption>")
	case entering:
		_, _ = w.WriteString("<caption>")
	case figure:
		_, _ = w.WriteString("</figcaption>")
	default:
		_, _ = w.WriteString("</caption>\n")
	}

	return ast.WalkContinue, nil
}

// renderRaw writes HTML as it is. The sanitiser reads it later.
func (Renderer) renderRaw(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.Write(n.(*RawBlock).HTML)
	}

	return ast.WalkContinue, nil
}
