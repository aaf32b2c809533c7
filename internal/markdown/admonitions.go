package markdown

import (
	"bytes"
	stdhtml "html"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/tree"
)

// division is a `:::name … :::` block that is no admonition.
type division struct {
	ast.BaseBlock
	// figure reports whether it is one, with a label and perhaps a caption.
	figure bool
	// title is that of a tab.
	title string
	// heads is how many rows of the table that it is are its head, -1 for no table.
	heads int
}

func (*division) Kind() ast.NodeKind { return kindDivision }

func (n *division) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

var kindDivision = ast.NewNodeKind("Division")

// admonitionParser parses MkDocs' admonitions and tabs:
//
//	!!! note "Title"
//	    Indented blocks.
//
//	=== "Title"
//	    Indented blocks.
type admonitionParser struct{ kinds map[string]string }

// The second group is what stands behind the name: further classes, which are
// dropped, and the title.
var admonitionHead = regexp.MustCompile(
	`^(?:!!!|\?\?\?\+?)[ \t]*([A-Za-z][A-Za-z-]{0,39})((?:[ \t]+[A-Za-z-]+)*)(?:[ \t]+"([^\n]*)")?[ \t]*\n?$`,
)

var tabHead = lazyregexp.New(`^===[!+]?[ \t]+"([^\n]*)"[ \t]*\n?$`)

func (admonitionParser) Trigger() []byte { return []byte{'!', '?', '='} }

func (admonitionParser) CanInterruptParagraph() bool { return true }

func (admonitionParser) CanAcceptIndentedLine() bool { return false }

func (p admonitionParser) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, _ := reader.PeekLine()

	at := pc.BlockOffset()
	if at < 0 || len(line)-at < 4 || line[at+1] != line[at] || line[at+2] != line[at] || len(line) > tree.MaxBraces {
		return nil, parser.NoChildren
	}

	if line[at] == '=' {
		m := tabHead().FindSubmatch(line[at:])
		if m == nil {
			return nil, parser.NoChildren
		}
		reader.AdvanceToEOL()

		return &division{title: tree.Unescape(m[1]), heads: -1}, parser.HasChildren
	}

	m := admonitionHead.FindSubmatchIndex(line[at:])
	if m == nil {
		return nil, parser.NoChildren
	}
	line = line[at:]
	name := strings.ToLower(string(line[m[2]:m[3]]))

	n := &alert{kind: p.kinds[name], name: name}
	if n.kind == "" {
		n.kind = "note"
	}

	if m[6] >= 0 {
		n.title, n.titled = tree.Unescape(line[m[6]:m[7]]), true
	}
	reader.AdvanceToEOL()

	return n, parser.HasChildren
}

func (admonitionParser) Continue(_ ast.Node, reader text.Reader, _ parser.Context) parser.State {
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

func (admonitionParser) Close(ast.Node, text.Reader, parser.Context) {}

// fenceParser parses fenced divisions, of which those named like an admonition
// are one:
//
//	:::note Title
//	Blocks.
//	:::
type fenceParser struct{ kinds map[string]string }

func (fenceParser) Trigger() []byte { return []byte{':'} }

func (fenceParser) CanInterruptParagraph() bool { return true }

func (fenceParser) CanAcceptIndentedLine() bool { return false }

var (
	fenceName = regexp.MustCompile(`^\{?[A-Za-z][A-Za-z0-9_-]{0,39}\}?`)
	colons    = regexp.MustCompile(`^ {0,3}:{3,}[ \t]*\n?$`)
)

func (p fenceParser) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, _ := reader.PeekLine()

	at := pc.BlockOffset()
	if at < 0 || !bytes.HasPrefix(line[at:], []byte(":::")) || len(line) > tree.MaxBraces {
		return nil, parser.NoChildren
	}
	// Pandoc lets colons follow for the eye.
	head := bytes.TrimSpace(bytes.TrimRight(bytes.Trim(line[at:], ": \t\n"), ":"))
	var a tree.Attributes
	name := ""

	if bytes.HasPrefix(head, []byte("{")) {
		size := 0
		if a, size = tree.ReadAttributes(append(head, '\n')); size == 0 {
			return nil, parser.NoChildren
		}
		head = head[size:]
	} else if m := fenceName.Find(head); m != nil {
		name, head = string(m), bytes.TrimSpace(head[len(m):])
		if more, size := tree.ReadAttributes(append(bytes.Clone(head), '\n')); size > 0 {
			a, head = more, head[size:]
		}
	} else {
		return nil, parser.NoChildren
	}
	n := p.node(name, &a, string(bytes.TrimSpace(head)))
	a.SetOn(n)
	reader.AdvanceToEOL()

	return n, parser.HasChildren
}

// node makes an alert of what is named like one.
func (p fenceParser) node(name string, a *tree.Attributes, title string) ast.Node {
	if name == "" && len(a.Classes) > 0 {
		name = a.Classes[0]
		if p.kindOf(name) != "" {
			a.Classes = a.Classes[1:]
		} else {
			name = ""
		}
	}

	if kind := p.kindOf(name); kind != "" {
		n := &alert{kind: kind, name: strings.TrimPrefix(strings.ToLower(name), "callout-"), fenced: true}

		written, ok := a.Get("title")
		if ok {
			title = written
		}

		if title = tree.Unescape([]byte(strings.Trim(title, `"[]`))); title != "" || ok {
			n.title, n.titled = title, true
		}

		return n
	}

	switch name {
	case "tab":
		return &division{title: tree.Unescape([]byte(title)), heads: -1}
	case "figure":
		return &division{figure: true, heads: -1}
	case "list-table":
		rows, _ := a.Get("heads")
		return &division{heads: atoi(rows)}
	}

	if name != "" {
		a.Classes = append([]string{name}, a.Classes...)
	}

	return &division{heads: -1}
}

func (p fenceParser) kindOf(name string) string {
	return p.kinds[strings.TrimPrefix(strings.ToLower(name), "callout-")]
}

// Continue ends the innermost division at a line of colons, unless that line is
// code.
func (fenceParser) Continue(node ast.Node, reader text.Reader, pc parser.Context) parser.State {
	line, _ := reader.PeekLine()
	if !bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte(":::")) || !colons.Match(line) {
		return parser.Continue | parser.HasChildren
	}

	opened := pc.OpenedBlocks()
	for _, o := range slices.Backward(opened) {
		switch n := o.Node.(type) {
		case *ast.FencedCodeBlock:
			return parser.Continue | parser.HasChildren
		case *alert:
			if !n.fenced {
				continue
			}
		case *division:
		default:
			continue
		}

		if o.Node != node {
			break
		}
		reader.AdvanceToEOL()

		return parser.Close
	}

	return parser.Continue | parser.HasChildren
}

func (fenceParser) Close(ast.Node, text.Reader, parser.Context) {}

type admonitionRenderer struct{}

func (r admonitionRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(kindAlert, r.alert)
	reg.Register(kindAlertTitle, r.alertTitle)
	reg.Register(kindDivision, r.division)
}

func (admonitionRenderer) division(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	tag, title := "div", n.(*division).title
	if n.(*division).figure {
		tag = "figure"
	}

	if !entering {
		_, _ = w.WriteString("</" + tag + ">\n")
		return ast.WalkContinue, nil
	}
	_, _ = w.WriteString("<" + tag)
	html.RenderAttributes(w, n, nil)

	_, _ = w.WriteString(">\n")
	if title != "" {
		_, _ = w.WriteString("<p><strong>" + stdhtml.EscapeString(title) + "</strong></p>\n")
	}

	return ast.WalkContinue, nil
}
