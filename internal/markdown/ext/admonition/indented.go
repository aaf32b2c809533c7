package admonition

import (
	"cmp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"presswork/internal/lazyregexp"
	names "presswork/internal/markdown/admonition"
	"presswork/internal/markdown/tree"
)

// indentedParser parses the admonitions and tabs of MkDocs:
//
//	!!! note "Title"
//	    Indented blocks.
//
//	=== "Title"
//	    Indented blocks.
type indentedParser struct{}

// admonitionHead matches the first line of an admonition. Its groups are the name, further classes, which are ignored,
// and the title.
var admonitionHead = lazyregexp.New(
	`^(?:!!!|\?\?\?\+?)[ \t]*([A-Za-z][A-Za-z-]{0,39})((?:[ \t]+[A-Za-z-]+)*)(?:[ \t]+"([^\n]*)")?[ \t]*\n?$`,
)

// tabHead matches the first line of a tab. Its group is the title.
var tabHead = lazyregexp.New(`^===[!+]?[ \t]+"([^\n]*)"[ \t]*\n?$`)

func (indentedParser) Trigger() []byte { return []byte{'!', '?', '='} }

func (indentedParser) CanInterruptParagraph() bool { return true }

func (indentedParser) CanAcceptIndentedLine() bool { return false }

// Open reads the first line of a note ("!!!", "???") or a tab ("===") whose content is indented.
func (p indentedParser) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, _ := reader.PeekLine()

	at := pc.BlockOffset()
	// The line must begin with the same sign three times.
	if at < 0 || len(line)-at < 4 || line[at+1] != line[at] || line[at+2] != line[at] || len(line) > tree.MaxBraces {
		return nil, parser.NoChildren
	}

	if line[at] == '=' {
		m := tabHead().FindSubmatch(line[at:])
		if m == nil {
			return nil, parser.NoChildren
		}
		reader.AdvanceToEOL()

		return &tree.Division{Title: tree.Unescape(m[1]), Heads: -1}, parser.HasChildren
	}

	m := admonitionHead().FindSubmatchIndex(line[at:])
	if m == nil {
		return nil, parser.NoChildren
	}
	line = line[at:]
	name := strings.ToLower(string(line[m[2]:m[3]]))

	n := &tree.Alert{Look: cmp.Or(names.KindOf(name), "note"), Name: name}

	if m[6] >= 0 {
		n.Title, n.Titled = tree.Unescape(line[m[6]:m[7]]), true
	}
	reader.AdvanceToEOL()

	return n, parser.HasChildren
}

// Continue accepts lines that are blank or indented by four columns.
func (indentedParser) Continue(_ ast.Node, reader text.Reader, _ parser.Context) parser.State {
	line, _ := reader.PeekLine()
	if util.IsBlank(line) {
		return parser.Continue | parser.HasChildren
	}

	at, padding := util.IndentPosition(line, reader.LineOffset(), 4)
	if at < 0 {
		return parser.Close
	}
	reader.AdvanceAndSetPadding(at, padding)

	return parser.Continue | parser.HasChildren
}

func (indentedParser) Close(ast.Node, text.Reader, parser.Context) {}
