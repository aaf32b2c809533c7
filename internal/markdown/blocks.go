package markdown

import (
	"bytes"
	"html"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	htmlrender "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"

	"presswork/internal/markdown/tree"
)

// pageBreak is `\newpage` or `<!-- pagebreak -->` on a line of its own.
type pageBreak struct{ ast.BaseBlock }

func (*pageBreak) Kind() ast.NodeKind { return kindPageBreak }

func (n *pageBreak) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

// alert is a GitHub alert or an Obsidian callout, a quote that begins with [!NOTE]
// and the like, or an admonition.
type alert struct {
	ast.BaseBlock
	// kind is one of GitHub's five, name what the source calls it.
	kind, name string
	title      string
	// titled reports whether the source gives the title, which may be none.
	titled bool
	// fenced reports whether a line of colons ends it.
	fenced bool
}

// Indents reports to the width of code that an alert is indented.
func (*alert) Indents() bool { return true }

func (*alert) Kind() ast.NodeKind { return kindAlert }

func (n *alert) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

// contents is where the source wants the table of contents, or the list of the
// elements of a kind.
type contents struct {
	ast.BaseBlock
	list Kind
}

func (*contents) Kind() ast.NodeKind { return kindContents }

func (n *contents) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

// The node kinds of this file; goldmark numbers kinds at run time.
var (
	kindPageBreak = ast.NewNodeKind("PageBreak")
	kindContents  = ast.NewNodeKind("Contents")
)

var kindAlert = ast.NewNodeKind("Alert")

var breakComment = regexp.MustCompile(`^<!--\s*(page-?break|newpage)\s*-->\s*$`)

// placePageBreaks replaces comments that ask for a page break.
func placePageBreaks(root ast.Node, src []byte) {
	tree.EachBlock(root, func(n ast.Node) {
		if c, ok := n.(*ast.HTMLBlock); ok && c.Lines().Len() == 1 &&
			breakComment.Match(bytes.TrimSpace(tree.BlockText(c, src, 1))) {
			tree.Replace(c, &pageBreak{})
		}
	})
}

// placeBlocks replaces the blocks that mean something else: page breaks, the
// place of the contents, alerts, figures, captions.
func (d *draft) placeBlocks(root ast.Node) {
	src := d.src
	var tables []*east.Table
	tree.EachBlock(root, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Paragraph:
			d.placeParagraph(n)
		case *east.Table:
			tables = append(tables, n)
		case *division:
			switch {
			case n.figure:
				n.makeFigure()
			case n.heads >= 0:
				if t := n.table(); t != nil {
					tables = append(tables, t)
				}
			case tree.HasClass(n, "columns"):
				shareColumns(n)
			}
		case *alert:
			n.takeTitle()
			n.setTitle(d.options.Lang)
		case *ast.Blockquote:
			d.placeAlert(n)
		}
	})

	for _, t := range tables {
		captionTable(t, src)
	}
}

// placeParagraph replaces a paragraph of one line that is a command, and one
// that is nothing but a titled image.
func (d *draft) placeParagraph(p *ast.Paragraph) {
	if p.Lines().Len() == 1 {
		switch strings.ToLower(strings.TrimSpace(string(tree.BlockText(p, d.src, 1)))) {
		case "--- middle", "--- back": // parts of an Internet-Draft
			p.Parent().RemoveChild(p.Parent(), p)
			return
		case `\newpage`, `\pagebreak`:
			tree.Replace(p, &pageBreak{})
			return
		case "[[toc]]", "[toc]", "[[_toc_]]":
			if p.FirstChild() == nil || p.FirstChild().Kind() == ast.KindLink {
				return // the document defines a link of that name
			}

			if d.toc {
				p.Parent().RemoveChild(p.Parent(), p)
				return
			}
			d.toc = true
			tree.Replace(p, &contents{})

			return
		case `\listoffigures`:
			d.placeList(p, Figure)
			return
		case `\listoftables`:
			d.placeList(p, Table)
			return
		case `\listoflistings`:
			d.placeList(p, Listing)
			return
		}
	}
	placeFigure(p, d.src)
}

// blockRenderer renders the blocks of this package.
type blockRenderer struct{}

func (r blockRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(kindContents, r.contents)
	reg.Register(kindPageBreak, func(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			_, _ = w.WriteString("<div class=\"page-break\"></div>\n")
		}

		return ast.WalkContinue, nil
	})
}

func (blockRenderer) contents(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString(`<nav class="` + ListPlace(n.(*contents).list) + "\"></nav>\n")
	}

	return ast.WalkContinue, nil
}

func (admonitionRenderer) alert(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		_, _ = w.WriteString("</div>\n")
		return ast.WalkContinue, nil
	}
	a := n.(*alert)
	tree.AddClass(a, "alert alert-"+a.kind)
	_, _ = w.WriteString("<div")
	htmlrender.RenderAttributes(w, a, nil)

	_, _ = w.WriteString(">\n")
	if a.title != "" {
		_, _ = w.WriteString(`<p class="alert-title">` + html.EscapeString(a.title) + "</p>\n")
	}

	return ast.WalkContinue, nil
}

func (admonitionRenderer) alertTitle(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString(`<p class="alert-title">`)
	} else {
		_, _ = w.WriteString("</p>\n")
	}

	return ast.WalkContinue, nil
}

// placeList makes a paragraph the place of a list, and has all its elements
// numbered.
func (d *draft) placeList(p *ast.Paragraph, kind Kind) {
	if !slices.Contains(d.options.Numbered, kind) {
		d.options.Numbered = append(slices.Clone(d.options.Numbered), kind)
	}
	tree.Replace(p, &contents{list: kind})
}

// ListPlace is the class of the block that marks the place of the list of a kind, or of
// the table of contents ("").
func ListPlace(kind Kind) string {
	if kind == "" {
		return "toc-here"
	}

	return "toc-" + string(kind)
}
