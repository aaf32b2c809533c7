// Package comment parses the comments of Obsidian and MDX, and the imports and exports of MDX. They become nodes that
// package markdown removes, so that it can warn of them first.
package comment

import (
	"bytes"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/tree"
)

// Extension adds comments. Its nodes render nothing. All fields are required.
type Extension struct {
	// Percents reports whether the document may have %%comments%%, as in Obsidian.
	Percents func(parser.Context) bool
	// Braces reports whether the document may have {/* comments */}, as in MDX.
	Braces func(parser.Context) bool
	// Modules reports whether the document may have the imports and exports of MDX.
	Modules func(parser.Context) bool
}

// Extend implements goldmark.Extender.
func (e Extension) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(
		parser.WithBlockParsers(
			util.Prioritized(commentBlockParser{e}, 680),
			util.Prioritized(esmParser{commentBlockParser{e}}, 680),
		),
		parser.WithInlineParsers(util.Prioritized(commentParser{e}, 110)),
	)
	m.Renderer().AddOptions(renderer.WithNodeRenderers(util.Prioritized(commentRenderer{}, 100)))
}

// Comment is a block that is not printed: %%a comment of Obsidian%%, {/* a comment of MDX */}, or an
// import or export of MDX.
type Comment struct {
	ast.BaseBlock
	// Warning is the message of a warning about the comment, "" for none.
	Warning string
	// Start is the offset of the comment in the source.
	Start int
	// end is the offset after the comment, 0 for a block that ends at a blank line.
	end int
}

// Kind implements ast.Node.
func (*Comment) Kind() ast.NodeKind { return kindComment }

// IsRaw implements ast.Node.
func (*Comment) IsRaw() bool { return true }

// Dump implements ast.Node.
func (n *Comment) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

// Inline is a comment within a paragraph. Its fields are those of Comment.
type Inline struct {
	ast.BaseInline
	Warning string
	Start   int
}

// Kind implements ast.Node.
func (*Inline) Kind() ast.NodeKind { return kindInlineComment }

// Dump implements ast.Node.
func (n *Inline) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

var (
	kindComment       = ast.NewNodeKind("Comment")
	kindInlineComment = ast.NewNodeKind("InlineComment")
)

// mdxComment is the warning about a comment of MDX.
const mdxComment = "MDX: a comment is left out"

// commentMarks returns the opening and closing marks of the comment at the start of text, and the warning about the
// comment. open is "" if there is no comment.
func (e Extension) commentMarks(text []byte, pc parser.Context) (open, shut, warning string) {
	switch {
	case bytes.HasPrefix(text, []byte("%%")) && e.Percents(pc):
		return "%%", "%%", ""
	case e.Braces(pc) && bytes.HasPrefix(text, []byte("{/*")):
		return "{/*", "*/}", mdxComment
	}

	return "", "", ""
}

// commentBlockParser parses comments on lines of their own. An unclosed comment is text.
type commentBlockParser struct{ Extension }

func (commentBlockParser) Trigger() []byte { return []byte{'%', '{'} }

func (commentBlockParser) CanInterruptParagraph() bool { return false }

func (commentBlockParser) CanAcceptIndentedLine() bool { return false }

// Open reads a comment after which its last line has no text.
func (p commentBlockParser) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()

	at := pc.BlockOffset()
	if at < 0 {
		return nil, parser.NoChildren
	}

	open, shut, warning := p.commentMarks(line[at:], pc)
	if open == "" {
		return nil, parser.NoChildren
	}
	start := segment.Start + at

	end := commentEnd(reader.Source(), start+len(open), shut, pc)
	if end < 0 {
		return nil, parser.NoChildren
	}

	rest, _, _ := bytes.Cut(reader.Source()[end:], []byte("\n"))
	if !util.IsBlank(rest) {
		return nil, parser.NoChildren // text follows on the line: the inline parser reads it
	}
	reader.AdvanceToEOL()

	return &Comment{Warning: warning, Start: start, end: end}, parser.NoChildren
}

// lastMarksKey is the key of a map[string]int in a parser.Context. For each closing mark, the map has its
// last offset in the document.
var lastMarksKey = parser.NewContextKey()

// commentEnd returns the offset after the closing mark of a comment, -1 for an unclosed one. Any number of unclosed
// comments costs one search of the document, because lastMarksKey keeps its result.
func commentEnd(source []byte, from int, shut string, pc parser.Context) int {
	marks, _ := pc.Get(lastMarksKey).(map[string]int)
	if marks == nil {
		marks = map[string]int{}
		pc.Set(lastMarksKey, marks)
	}

	last, known := marks[shut]
	if !known {
		last = bytes.LastIndex(source, []byte(shut))
		marks[shut] = last
	}

	if last < from {
		return -1
	}

	return from + bytes.Index(source[from:], []byte(shut)) + len(shut)
}

// Continue accepts lines up to the end of the comment. An import or export without a known end lasts up to a blank
// line.
func (commentBlockParser) Continue(node ast.Node, reader text.Reader, _ parser.Context) parser.State {
	n := node.(*Comment)

	line, segment := reader.PeekLine()
	if n.end > 0 && segment.Start >= n.end || n.end == 0 && util.IsBlank(line) {
		return parser.Close
	}
	reader.AdvanceToEOL()

	return parser.Continue | parser.NoChildren
}

func (commentBlockParser) Close(ast.Node, text.Reader, parser.Context) {}

// maxImport is the longest import statement, in bytes.
const maxImport = 2000

// esmParser parses the imports and exports of MDX, each up to a blank line.
type esmParser struct{ commentBlockParser }

// esmForm matches the start of an import or an export.
var esmForm = lazyregexp.New(
	`^(?:import\s*(?:["'][^"'\n]+["']|[\s\w$*{},]{1,1000}\bfrom\s*["'][^"'\n]+["'])\s*(?:;|\n|$)|` +
		`export\s+(?:(?:const|let|var)\s+[^=\n]{1,200}=|default\s|(?:async\s+)?function\b|class\s|[{*]))`,
)

func (esmParser) Trigger() []byte { return []byte{'i', 'e'} }

// Open reads an import or export of MDX at the beginning of a line of the document.
func (p esmParser) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	if !p.Modules(pc) || parent.Kind() != ast.KindDocument || pc.BlockOffset() != 0 ||
		!esmForm().Match(reader.Source()[segment.Start:min(len(reader.Source()), segment.Start+maxImport)]) {
		return nil, parser.NoChildren
	}
	reader.AdvanceToEOL()

	warning := "MDX: an import is left out"
	if line[0] == 'e' {
		warning = "MDX: an export is left out"
	}

	return &Comment{Warning: warning, Start: segment.Start}, parser.NoChildren
}

// commentParser parses comments within a paragraph.
type commentParser struct{ Extension }

func (commentParser) Trigger() []byte { return []byte{'%', '{'} }

// Parse reads a comment within a paragraph. It may span several lines of it.
func (p commentParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()

	open, shut, warning := p.commentMarks(line, pc)
	if open == "" || tree.IsASCIIWord(block.PrecendingCharacter()) { // 100%% is text
		return nil
	}
	end := commentEnd(block.Source(), segment.Start+len(open), shut, pc)

	lines := parent.Lines()
	if end < 0 || lines == nil || lines.Len() == 0 || end > lines.At(lines.Len()-1).Stop {
		return nil
	}

	for {
		line, s := block.PeekLine()
		if line == nil {
			break
		}

		if s.Stop >= end {
			block.Advance(end - s.Start)
			break
		}
		block.AdvanceLine()
	}

	return &Inline{Warning: warning, Start: segment.Start}
}

// commentRenderer renders nothing.
type commentRenderer struct{}

func (commentRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	for _, kind := range []ast.NodeKind{kindComment, kindInlineComment} {
		reg.Register(kind, func(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) {
			return ast.WalkSkipChildren, nil
		})
	}
}
