// Package critic reads the changes and remarks of CriticMarkup (https://criticmarkup.com). An inline parser finds the
// marks, and a transformer puts the nodes between two marks into an element.
package critic

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"presswork/internal/markdown/tree"
)

// maxChange is the longest change, in bytes. It bounds the search for the closing mark.
const maxChange = 4000

// mark is the opening or closing mark of a change:
//
//	{++added++} {--taken out--} {~~old~>new~~} {==marked==} {>>a remark<<}
type mark struct {
	ast.BaseInline
	// kind is the character that opens the change: + - ~ = or >.
	kind byte
	// end is the offset of the brace that closes the change. Both marks of a change have the same end.
	end int
	// opens reports whether it is the opening mark.
	opens bool
	// source is the mark in the source.
	source text.Segment
}

func (*mark) Kind() ast.NodeKind { return kindMark }

func (n *mark) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

var (
	kindMark = ast.NewNodeKind("CriticMark")
	// openKey is the key of the *mark of the open change in a parser.Context.
	openKey = parser.NewContextKey()
)

// closingMark returns the mark that closes a change, "" for a character that opens none.
func closingMark(kind byte) string {
	switch kind {
	case '+':
		return "++}"
	case '-':
		return "--}"
	case '~':
		return "~~}"
	case '=':
		return "==}"
	case '>':
		return "<<}"
	}

	return ""
}

// markParser parses the marks of changes.
type markParser struct{ enabled func(parser.Context) bool }

// Trigger returns the first characters of the marks. It leaves out the dash, since goldmark cuts the text
// at every trigger. The brace after two dashes is their closing mark, and trimMark removes the dashes.
func (markParser) Trigger() []byte { return []byte{'{', '}', '+', '~', '=', '<'} }

// Parse reads the opening or the closing mark of a change. Changes do not nest.
func (p markParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	open, _ := pc.Get(openKey).(*mark)

	// Any other character can only belong to the closing mark of the open change, whose offset is known.
	if line[0] != '{' {
		size := 3
		if line[0] == '}' {
			size = 1
		}

		if open == nil || open.end != segment.Start+size-1 {
			return nil
		}
		pc.Set(openKey, nil)
		block.Advance(size)

		return &mark{kind: open.kind, end: open.end, source: segment.WithStop(segment.Start + size)}
	}

	if len(line) < 3 || line[1] != line[2] || block.PrecendingCharacter() == '{' || !p.enabled(pc) {
		return nil
	}

	shut := closingMark(line[1])
	if shut == "" || open != nil && segment.Start < open.end {
		return nil
	}
	lines := parent.Lines()
	from, to := segment.Start+3, lines.At(lines.Len()-1).Stop
	at := bytes.Index(block.Source()[from:min(to, from+maxChange)], []byte(shut))
	// Changes of one kind do not nest, and a substitution has an arrow. Anything else is text.
	if at < 1 || bytes.Contains(block.Source()[from:from+at], line[:3]) ||
		line[1] == '~' && !bytes.Contains(block.Source()[from:from+at], []byte("~>")) {
		return nil
	}
	n := &mark{kind: line[1], end: from + at + 2, opens: true, source: segment.WithStop(from)}
	pc.Set(openKey, n)
	block.Advance(3)

	return n
}

// transformer replaces each change by its elements. Marks without their match become text.
type transformer struct{}

// Transform joins the marks of each change to one element. A mark without its counterpart becomes text again.
func (transformer) Transform(root *ast.Document, reader text.Reader, _ parser.Context) {
	var found []*mark
	tree.Each(root, func(n ast.Node) {
		if m, ok := n.(*mark); ok {
			found = append(found, m)
		}
	})

	for i, m := range found {
		if m.Parent() == nil {
			continue // the closing mark of an earlier change
		}

		if i+1 < len(found) && m.opens {
			if end := found[i+1]; !end.opens && end.end == m.end && end.Parent() == m.Parent() && trimMark(end) {
				m.wrap(end, reader.Source())
				continue
			}
		}
		tree.Replace(m, ast.NewTextSegment(m.source))
	}
}

// trimMark removes the two characters before the closing brace from the text, if the node is only the brace. It returns
// false if they are not there.
func trimMark(end *mark) bool {
	if end.source.Len() > 1 {
		return true
	}

	t, ok := end.PreviousSibling().(*ast.Text)
	if !ok || t.Segment.Stop != end.end || t.Segment.Len() < 2 {
		return false
	}
	t.Segment = t.Segment.WithStop(end.end - 2)

	return true
}

// wrap moves the nodes between two marks into the element of the change. A substitution has a second
// element, which begins after the arrow.
func (m *mark) wrap(end *mark, src []byte) {
	parent := m.Parent()
	tag := map[byte]string{'+': "ins", '-': "del", '~': "del", '=': "mark", '>': "span"}[m.kind]
	change := &tree.Element{Tag: tag}
	change.SetPos(m.source.Start)

	if m.kind == '>' {
		tree.AddClass(change, "remark")
	}
	parent.InsertBefore(parent, m, change)
	var added *tree.Element

	for c := m.NextSibling(); c != end; {
		next := c.NextSibling()

		into := change
		if added != nil {
			into = added
		}
		into.AppendChild(into, c)

		if t, ok := c.(*ast.Text); ok && m.kind == '~' && added == nil {
			if at := bytes.Index(t.Segment.Value(src), []byte("~>")); at >= 0 {
				added = &tree.Element{Tag: "ins"}
				parent.InsertAfter(parent, change, added)
				rest := ast.NewTextSegment(t.Segment.WithStart(t.Segment.Start + at + 2))
				rest.SetSoftLineBreak(t.SoftLineBreak())
				rest.SetHardLineBreak(t.HardLineBreak())
				added.AppendChild(added, rest)
				t.Segment = t.Segment.WithStop(t.Segment.Start + at)
				t.SetSoftLineBreak(false)
				t.SetHardLineBreak(false)
			}
		}
		c = next
	}
	parent.RemoveChild(parent, m)
	parent.RemoveChild(parent, end)
}
