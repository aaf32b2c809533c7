package admonition

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"presswork/internal/lazyregexp"
	names "presswork/internal/markdown/admonition"
	"presswork/internal/markdown/label"
	"presswork/internal/markdown/tree"
)

// fenceParser parses fenced divisions. A division with the name of an admonition is an alert:
//
//	:::note Title
//	Blocks.
//	:::
type fenceParser struct{}

func (fenceParser) Trigger() []byte { return []byte{':'} }

func (fenceParser) CanInterruptParagraph() bool { return true }

func (fenceParser) CanAcceptIndentedLine() bool { return false }

var (
	// fenceName matches the name after the colons of a fence, colons the line that closes the fence.
	fenceName = lazyregexp.New(`^\{?[A-Za-z][A-Za-z0-9_-]{0,39}\}?`)
	colons    = lazyregexp.New(`^ {0,3}:{3,}[ \t]*\n?$`)
)

// Open reads the first line of a fence of colons: a name or attributes, and a title.
func (p fenceParser) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, _ := reader.PeekLine()

	at := pc.BlockOffset()
	if at < 0 || !bytes.HasPrefix(line[at:], []byte(":::")) || len(line) > tree.MaxBraces {
		return nil, parser.NoChildren
	}
	// Pandoc allows colons at the end of the line.
	head := bytes.TrimSpace(bytes.TrimRight(bytes.Trim(line[at:], ": \t\n"), ":"))
	var a tree.Attributes
	name := ""

	if bytes.HasPrefix(head, []byte("{")) {
		size := 0
		if a, size = tree.ReadAttributes(append(head, '\n')); size == 0 {
			return nil, parser.NoChildren
		}
		head = head[size:]
	} else if m := fenceName().Find(head); m != nil {
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

// node returns an alert if the name or the first class is that of an admonition, else a division. It
// removes the name of an admonition from the classes.
func (p fenceParser) node(name string, a *tree.Attributes, title string) ast.Node {
	if name == "" && len(a.Classes) > 0 {
		name = a.Classes[0]
		if p.lookOf(name) != "" {
			a.Classes = a.Classes[1:]
		} else {
			name = ""
		}
	}

	if look := p.lookOf(name); look != "" {
		kind, isCallout := strings.CutPrefix(strings.ToLower(name), "callout-")
		n := &tree.Alert{Look: look, Name: kind, Fenced: true, HeadingIsTitle: isCallout}

		written, ok := a.Get("title")
		if ok {
			title = written
		}

		if title = tree.Unescape([]byte(strings.Trim(title, `"[]`))); title != "" || ok {
			n.Title, n.Titled = title, true
		}

		return n
	}

	switch name {
	case "tab":
		return &tree.Division{Title: tree.Unescape([]byte(title)), Heads: -1}
	case "figure":
		return &tree.Division{Figure: true, Heads: -1}
	case "list-table":
		heads, _ := a.Get("heads")
		rows, _ := strconv.Atoi(strings.TrimSpace(heads)) // 0 if it is not a number

		return &tree.Division{Heads: max(rows, 0)}
	}

	if name != "" {
		a.Classes = append([]string{name}, a.Classes...)
	}

	d := &tree.Division{Heads: -1}
	if label.KindOf(a.ID).IsTheorem() {
		d.Title, _ = a.Get("name", "title") // as in Bookdown
	}

	return d
}

// lookOf returns the look of the admonition with a name, in any case and with or without Quarto's "callout-". It
// returns "" for any other name.
func (p fenceParser) lookOf(name string) string {
	return names.KindOf(strings.TrimPrefix(strings.ToLower(name), "callout-"))
}

// Continue closes the innermost division at a line of colons, unless the line is in a code block.
func (fenceParser) Continue(node ast.Node, reader text.Reader, pc parser.Context) parser.State {
	line, _ := reader.PeekLine()
	if !bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte(":::")) || !colons().Match(line) {
		return parser.Continue | parser.HasChildren
	}

	// The innermost open division takes the line. Blocks between it and the line, such as lists, end with it.
	opened := pc.OpenedBlocks()
	for _, o := range slices.Backward(opened) {
		switch n := o.Node.(type) {
		case *ast.FencedCodeBlock:
			return parser.Continue | parser.HasChildren
		case *tree.Alert:
			if !n.Fenced {
				continue
			}
		case *tree.Division:
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
