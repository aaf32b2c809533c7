package tree

import (
	"html"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	htmlrender "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
)

// Alert is an admonition of any program: a GitHub alert, an Obsidian callout, a ":::note".
type Alert struct {
	ast.BaseBlock
	// Look is one of GitHub's five kinds: note, tip, important, warning or caution.
	Look string
	// Name is the name in the source, in lower case.
	Name string
	// Title is plain text. A title of Markdown is an AlertTitle, the first child.
	Title string
	// Titled reports whether the source gives a title, which may be empty.
	Titled bool
	// Fenced reports whether a line of colons ends it.
	Fenced bool
	// HeadingIsTitle reports whether a heading at its start is its title, as in Quarto.
	HeadingIsTitle bool
}

// Indents reports that the text of an alert is narrower than the page. Code in it has fewer columns then.
func (*Alert) Indents() bool { return true }

// Kind implements ast.Node.
func (*Alert) Kind() ast.NodeKind { return kindAlert }

// Dump implements ast.Node.
func (n *Alert) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

// AlertTitle is the title of an alert that is written as Markdown, its first child.
type AlertTitle struct{ ast.BaseBlock }

// Kind implements ast.Node.
func (*AlertTitle) Kind() ast.NodeKind { return kindAlertTitle }

// Dump implements ast.Node.
func (n *AlertTitle) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

// Division is a ":::name … :::" block that is not an admonition, or a tab.
type Division struct {
	ast.BaseBlock
	// Figure reports whether it is a figure, with a label and perhaps a caption.
	Figure bool
	// Title is that of a tab or of a theorem.
	Title string
	// Heads is the number of header rows if the division is a table, -1 if it is not.
	Heads int
}

// Kind implements ast.Node.
func (*Division) Kind() ast.NodeKind { return kindDivision }

// Dump implements ast.Node.
func (n *Division) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

// MakeFigure makes the division a figure. Its last paragraph becomes the caption, unless it is the only block. It
// returns the caption, nil without one.
func (n *Division) MakeFigure() *Caption {
	n.Figure = true
	if c, ok := n.LastChild().(*Caption); ok { // the division already is a figure
		return c
	}

	p, ok := n.LastChild().(*ast.Paragraph)
	if !ok || p.PreviousSibling() == nil {
		return nil
	}
	c := &Caption{Figure: true}
	MoveChildren(p, c)
	Replace(p, c)

	return c
}

// Figure is an image, or a diagram, with a caption.
type Figure struct {
	ast.BaseBlock
	// Caption is plain text. A caption of Markdown is a node of type Caption, the last child.
	Caption string
}

// Kind implements ast.Node.
func (*Figure) Kind() ast.NodeKind { return kindFigure }

// Dump implements ast.Node.
func (n *Figure) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

// CaptionNode returns the caption as a node, nil without one. It first turns a Caption of plain text into a node.
func (n *Figure) CaptionNode() *Caption {
	c, ok := n.LastChild().(*Caption)
	if !ok && n.Caption != "" {
		c = &Caption{Figure: true}
		text := ast.NewString([]byte(n.Caption))
		text.SetRaw(true)
		c.AppendChild(c, text)
		n.AppendChild(n, c)
		n.Caption = ""
	}

	return c
}

var (
	kindAlert      = ast.NewNodeKind("Alert")
	kindAlertTitle = ast.NewNodeKind("AlertTitle")
	kindDivision   = ast.NewNodeKind("Division")
	kindFigure     = ast.NewNodeKind("Figure")
)

// registerBlocks registers the renderers of the nodes of this file.
func registerBlocks(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(kindAlert, renderAlert)
	reg.Register(kindAlertTitle, renderAlertTitle)
	reg.Register(kindDivision, renderDivision)
	reg.Register(kindFigure, renderFigure)
}

// renderAlert renders an alert with its plain title.
func renderAlert(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		_, _ = w.WriteString("</div>\n")
		return ast.WalkContinue, nil
	}
	a := n.(*Alert)
	AddClass(a, "alert alert-"+a.Look)
	_, _ = w.WriteString("<div")
	htmlrender.RenderAttributes(w, a, nil)

	_, _ = w.WriteString(">\n")
	if a.Title != "" {
		_, _ = w.WriteString(`<p class="alert-title">` + html.EscapeString(a.Title) + "</p>\n")
	}

	return ast.WalkContinue, nil
}

// renderAlertTitle renders a title that has markup.
func renderAlertTitle(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString(`<p class="alert-title">`)
	} else {
		_, _ = w.WriteString("</p>\n")
	}

	return ast.WalkContinue, nil
}

// renderDivision renders a div or a figure, with its title in bold.
func renderDivision(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	tag, title := "div", n.(*Division).Title
	if n.(*Division).Figure {
		tag = "figure"
	}

	if !entering {
		_, _ = w.WriteString("</" + tag + ">\n")
		return ast.WalkContinue, nil
	}
	_, _ = w.WriteString("<" + tag)
	htmlrender.RenderAttributes(w, n, nil)

	_, _ = w.WriteString(">\n")
	if title != "" {
		_, _ = w.WriteString("<p><strong>" + html.EscapeString(title) + "</strong></p>\n")
	}

	return ast.WalkContinue, nil
}

// renderFigure renders a figure with its plain caption after the content.
func renderFigure(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString("<figure")
		htmlrender.RenderAttributes(w, n, nil)
		_, _ = w.WriteString(">\n")

		return ast.WalkContinue, nil
	}

	if text := n.(*Figure).Caption; text != "" {
		_, _ = w.WriteString("\n<figcaption>" + html.EscapeString(text) + "</figcaption>")
	}
	_, _ = w.WriteString("\n</figure>\n")

	return ast.WalkContinue, nil
}
