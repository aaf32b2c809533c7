package markdown

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"presswork/internal/markdown/ext/admonition"
	"presswork/internal/markdown/ext/figure"
	"presswork/internal/markdown/tree"
)

// pageBreak is `\newpage` or `<!-- pagebreak -->` on a line of its own.
type pageBreak struct{ ast.BaseBlock }

func (*pageBreak) Kind() ast.NodeKind { return kindPageBreak }

func (n *pageBreak) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

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

// placeBlocks replaces the blocks that mean something else: page breaks, the place of the
// contents, figures, divisions, alerts and captions of tables.
func (d *draft) placeBlocks(root ast.Node) {
	tree.EachBlock(root, func(n ast.Node) {
		if p, ok := n.(*ast.Paragraph); ok {
			d.placeParagraph(p)
		}
	})
	admonition.Place(root, d.src, d.options.Lang)
	figure.CaptionTables(root, d.src)
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
	figure.Place(p, d.src)
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
