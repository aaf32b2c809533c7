// Package texcommand reads commands of LaTeX in text: \textbf{…}, \emph{…}, \newline and a few others.
package texcommand

import (
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/tree"
)

// Extension adds the commands.
type Extension struct {
	// Enabled reports whether the parsed document may have commands. Required.
	Enabled func(parser.Context) bool
}

// Extend implements goldmark.Extender. The parser of braces comes last, after those of attributes and other syntax with
// braces.
func (e Extension) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(parser.WithInlineParsers(
		util.Prioritized(commandParser{e.Enabled}, 490),
		util.Prioritized(braceParser{}, 1000),
	))
}

var (
	// shape matches the start of a command with text in braces. Its group is the name.
	shape = lazyregexp.New(`^\\(textbf|textit|texttt|emph)\{`)
	// single matches a command without text. Its group is the name.
	single = lazyregexp.New(`^\\(?:(newline|noindent)\b(?:\{\})?[ \t]*|(LaTeX|TeX)\b(?:\{\})?)`)
)

// bracesKey is the key of the *braces of the current block in a parser.Context.
var bracesKey = parser.NewContextKey()

// braces are the open braces of a block. An element is true if a command has opened the brace.
type braces struct {
	block ast.Node
	open  []bool
}

// bracesOf returns the open braces of a block.
func bracesOf(block ast.Node, pc parser.Context) *braces {
	known, _ := pc.Get(bracesKey).(*braces)
	if known == nil || known.block != block {
		known = &braces{block: block}
		pc.Set(bracesKey, known)
	}

	return known
}

// commandParser parses the commands. Those with braces become delimiters, which goldmark matches later: the text
// between them can be Markdown.
type commandParser struct {
	enabled func(parser.Context) bool
}

func (commandParser) Trigger() []byte { return []byte{'\\'} }

// Parse reads a command: the beginning of one with braces, such as \textbf{, or a single one, such as \LaTeX.
func (p commandParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()

	if m := shape().FindSubmatch(line); m != nil && p.enabled(pc) {
		b := bracesOf(parent, pc)
		b.open = append(b.open, true)

		return push('{', string(m[1]), segment.WithStop(segment.Start+len(m[0])), block, pc)
	}

	m := single().FindSubmatch(line)
	if m == nil || !p.enabled(pc) {
		return nil
	}
	block.Advance(len(m[0]))

	if name := m[2]; name != nil {
		return ast.NewTextSegment(text.NewSegment(segment.Start+1, segment.Start+1+len(name)))
	}
	n := ast.NewTextSegment(text.NewSegment(segment.Start, segment.Start))
	n.SetHardLineBreak(string(m[1]) == "newline")

	return n
}

// braceParser parses the braces after the start of a command.
type braceParser struct{}

func (braceParser) Trigger() []byte { return []byte{'{', '}'} }

// Parse reads a brace within a command. Only the brace that closes the command ends its element.
func (braceParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()

	b := bracesOf(parent, pc)
	if len(b.open) == 0 {
		return nil // no command has been opened
	}

	if line[0] == '{' {
		b.open = append(b.open, false)
		return nil
	}
	last := len(b.open) - 1
	isCommand := b.open[last]
	b.open = b.open[:last]

	if !isCommand {
		return nil
	}

	return push('}', "", segment.WithStop(segment.Start+1), block, pc)
}

// push adds a delimiter for the start or the end of a command, which is at segment. Its length is 1 although the text
// may be longer, because goldmark compares the lengths of two delimiters.
func push(char byte, name string, segment text.Segment, block text.Reader, pc parser.Context) ast.Node {
	d := parser.NewDelimiter(char == '{', char == '}', 1, char, processor{name})
	d.Segment = segment
	block.Advance(segment.Len())
	pc.PushDelimiter(d)

	return d
}

// processor matches a command with its closing brace. name is the name of the command, "" for a closing brace.
type processor struct{ name string }

func (processor) IsDelimiter(c byte) bool { return c == '{' || c == '}' }

func (processor) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == '{' && closer.Char == '}'
}

// OnMatch returns the element of the command.
func (p processor) OnMatch(int) ast.Node {
	switch p.name {
	case "textbf":
		return ast.NewEmphasis(2)
	case "texttt":
		return &tree.Element{Tag: "code"}
	}

	return ast.NewEmphasis(1)
}
