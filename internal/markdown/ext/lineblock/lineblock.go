// Package lineblock reads the line blocks of Pandoc, whose lines begin with a bar
// (https://pandoc.org/MANUAL.html#line-blocks).
package lineblock

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"presswork/internal/markdown/tree"
)

// maxIndent is the largest indentation of a line, in spaces.
const maxIndent = 60

// lineBlock is a block that keeps its line breaks, such as a poem or an address:
//
//	| The limerick packs laughs anatomical
//	|    In space that is quite economical.
//
// A line that begins with a space continues the previous line.
type lineBlock struct{ ast.BaseBlock }

func (*lineBlock) Kind() ast.NodeKind { return kindLineBlock }

func (n *lineBlock) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

// verse is one line of a line block. indent is the number of spaces before it.
type verse struct {
	ast.BaseBlock
	indent int
}

func (*verse) Kind() ast.NodeKind { return kindVerse }

func (n *verse) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

var (
	kindLineBlock = ast.NewNodeKind("LineBlock")
	kindVerse     = ast.NewNodeKind("Verse")
)

// transformer replaces a paragraph by a line block if at least two lines begin with a bar. If a line has another bar,
// the paragraph stays, because the line could be a row of a table.
type transformer struct{ enabled func(parser.Context) bool }

// Transform checks all lines before it changes the paragraph. A line without a bar must be indented, and not be the
// first.
func (l transformer) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	src, lines := reader.Source(), node.Lines()
	if lines.Len() < 2 || !l.enabled(pc) {
		return
	}
	bars := 0

	for i := range lines.Len() {
		s := lines.At(i)
		line := bytes.TrimRight(s.Value(src), "\n")

		rest, barred := bytes.CutPrefix(line, []byte("|"))
		switch {
		// The paragraph stays: another bar, a bar without a space after it, or a line without a bar that continues no
		// other.
		case bytes.IndexByte(rest, '|') >= 0,
			barred && len(rest) > 0 && rest[0] != ' ',
			!barred && (i == 0 || len(line) == 0 || line[0] != ' ' && src[s.Start-1] != ' '):
			return
		case barred:
			bars++
		}
	}

	if bars < 2 {
		return
	}
	block := &lineBlock{}
	block.SetPos(node.Pos())

	for i := range lines.Len() {
		s := lines.At(i)
		if src[s.Start] != '|' {
			block.LastChild().Lines().Append(s.TrimLeftSpace(src))
			continue
		}
		v := &verse{}
		s = s.WithStart(s.Start + 1)
		words := s.TrimLeftSpace(src)

		v.indent = min(max(words.Start-s.Start-1, 0), maxIndent)
		if words.Len() > 0 {
			v.Lines().Append(words)
		}
		block.AppendChild(block, v)
	}
	tree.Replace(node, block)
}

type nodeRenderer struct{}

func (r nodeRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(kindLineBlock, r.renderLineBlock)
	reg.Register(kindVerse, r.renderVerse)
}

// renderLineBlock writes the element around the lines.
func (nodeRenderer) renderLineBlock(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString("<div class=\"line-block\">\n")
	} else {
		_, _ = w.WriteString("</div>\n")
	}

	return ast.WalkContinue, nil
}

// renderVerse writes a line with its indentation as no-break spaces. An empty line gets one, which keeps its height.
func (nodeRenderer) renderVerse(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	switch {
	case entering && n.FirstChild() == nil:
		_, _ = w.WriteString("<div>\u00a0")
	case entering:
		_, _ = w.WriteString("<div>" + strings.Repeat("\u00a0", n.(*verse).indent))
	default:
		_, _ = w.WriteString("</div>\n")
	}

	return ast.WalkContinue, nil
}
