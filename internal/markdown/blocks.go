package markdown

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/dialect/pandoc"
	"presswork/internal/markdown/ext/admonition"
	"presswork/internal/markdown/ext/figure"
	"presswork/internal/markdown/tree"
)

// pageBreak is the node for `\newpage` or `<!-- pagebreak -->` on a line of its own.
type pageBreak struct{ ast.BaseBlock }

func (*pageBreak) Kind() ast.NodeKind { return kindPageBreak }

func (n *pageBreak) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

// listPlace is the node where the table of contents, or the list of the elements of a kind, is printed.
type listPlace struct {
	ast.BaseBlock
	list Kind // "" for the table of contents
}

func (*listPlace) Kind() ast.NodeKind { return kindListPlace }

func (n *listPlace) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

var (
	kindPageBreak = ast.NewNodeKind("PageBreak")
	kindListPlace = ast.NewNodeKind("ListPlace")
)

// breakComment matches a comment that is a page break.
var breakComment = lazyregexp.New(`^<!--\s*(page-?break|newpage)\s*-->\s*$`)

// placePageBreaks replaces comments that ask for a page break.
func placePageBreaks(root ast.Node, src []byte) {
	tree.EachBlock(root, func(n ast.Node) {
		if c, ok := n.(*ast.HTMLBlock); ok && c.Lines().Len() == 1 &&
			breakComment().Match(bytes.TrimSpace(tree.BlockText(c, src, 1))) {
			tree.Replace(c, &pageBreak{})
		}
	})
}

// placeBlocks replaces paragraphs that are commands or single images, quotes that are alerts, and paragraphs that
// are captions of tables. It also takes the names of theorems from their headings.
func (p *parserState) placeBlocks(root ast.Node) {
	tree.EachBlock(root, func(n ast.Node) {
		if paragraph, ok := n.(*ast.Paragraph); ok && !p.placeCommand(paragraph) {
			figure.Place(paragraph, p.src)
		}
	})
	admonition.Place(root, p.src, p.options.Lang)
	figure.CaptionTables(root, p.src)
	nameTheorems(root, p.src)
}

// placeCommand replaces a paragraph of one line that is a command, such as [TOC], by its node. It reports whether
// the paragraph is a command.
func (p *parserState) placeCommand(n *ast.Paragraph) bool {
	if n.Lines().Len() != 1 {
		return false
	}

	command := strings.ToLower(strings.TrimSpace(string(tree.BlockText(n, p.src, 1))))
	if pandoc.IsPageBreak(command) {
		tree.Replace(n, &pageBreak{})
		return true
	}

	switch command {
	case "--- middle", "--- back": // kramdown-rfc separates the parts of an Internet-Draft by these lines
		n.Parent().RemoveChild(n.Parent(), n)
	case "[[toc]]", "[toc]", "[[_toc_]]":
		switch {
		case n.FirstChild() == nil || n.FirstChild().Kind() == ast.KindLink: // the document defines a link named toc
		case p.out.TOC: // only the first place counts
			n.Parent().RemoveChild(n.Parent(), n)
		default:
			p.out.TOC = true
			tree.Replace(n, &listPlace{})
		}
	case `\listoffigures`:
		p.placeList(n, Figure)
	case `\listoftables`:
		p.placeList(n, Table)
	case `\listoflistings`:
		p.placeList(n, Listing)
	default:
		return false
	}

	return true
}

// placeList replaces a paragraph by the place of a list. A list names all captioned elements of its kind, so it also
// turns on their numbering.
func (p *parserState) placeList(n *ast.Paragraph, kind Kind) {
	if !slices.Contains(p.options.Numbered, kind) {
		p.options.Numbered = append(slices.Clone(p.options.Numbered), kind)
	}
	tree.Replace(n, &listPlace{list: kind})
}

// ListPlace returns the class of the empty nav element where the list of a kind is printed. The kind "" stands for
// the table of contents.
func ListPlace(kind Kind) string {
	if kind == "" {
		return "toc-here"
	}

	return "toc-" + string(kind)
}

// blockRenderer renders the nodes of this file.
type blockRenderer struct{}

func (r blockRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(kindListPlace, r.renderListPlace)
	reg.Register(kindPageBreak, r.renderPageBreak)
}

// renderPageBreak writes an empty element. The stylesheet breaks the page there.
func (blockRenderer) renderPageBreak(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString("<div class=\"page-break\"></div>\n")
	}

	return ast.WalkContinue, nil
}

// renderListPlace writes an empty element. Package document fills in the table of contents or the list there.
func (blockRenderer) renderListPlace(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString(`<nav class="` + ListPlace(n.(*listPlace).list) + "\"></nav>\n")
	}

	return ast.WalkContinue, nil
}
