// Package critic reads the changes and remarks of CriticMarkup.
package critic

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"presswork/internal/markdown/tree"
)

// maxCritic bounds, in bytes, how far the end of a change is looked for.
const maxCritic = 4000

// criticMark is where a change of CriticMarkup begins or ends:
//
//	{++added++} {--taken out--} {~~old~>new~~} {==marked==} {>>a remark<<}
type criticMark struct {
	ast.BaseInline
	// kind is the sign that it is made of.
	kind byte
	// end is the offset of the bracket that closes it; of that itself, it is where
	// the source has it.
	end    int
	opens  bool
	source text.Segment
}

func (*criticMark) Kind() ast.NodeKind { return kindCriticMark }

func (n *criticMark) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

var (
	kindCriticMark = ast.NewNodeKind("CriticMark")
	criticKey      = parser.NewContextKey()
)

// criticEnds are the marks that end a change, by the sign that begins it.
func criticEnd(sign byte) string {
	switch sign {
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

// criticParser finds where changes begin and end.
type criticParser struct{ enabled func(parser.Context) bool }

// Trigger has those signs that other parsers would take for theirs, but no dash:
// texts are cut where a parser looks.
func (criticParser) Trigger() []byte { return []byte{'{', '}', '+', '~', '=', '<'} }

func (p criticParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	open, _ := pc.Get(criticKey).(*criticMark)

	if line[0] != '{' {
		size := 3
		if line[0] == '}' {
			size = 1
		}

		if open == nil || open.end != segment.Start+size-1 {
			return nil
		}
		pc.Set(criticKey, nil)
		block.Advance(size)

		return &criticMark{kind: open.kind, end: open.end, source: segment.WithStop(segment.Start + size)}
	}

	if len(line) < 3 || line[1] != line[2] || block.PrecendingCharacter() == '{' || !p.enabled(pc) {
		return nil
	}

	shut := criticEnd(line[1])
	if shut == "" || open != nil && segment.Start < open.end {
		return nil
	}
	lines := parent.Lines()
	from, to := segment.Start+3, lines.At(lines.Len()-1).Stop
	at := bytes.Index(block.Source()[from:min(to, from+maxCritic)], []byte(shut))
	// Another one that begins before the end shows that this is none.
	if at < 1 || bytes.Contains(block.Source()[from:from+at], line[:3]) ||
		line[1] == '~' && !bytes.Contains(block.Source()[from:from+at], []byte("~>")) {
		return nil
	}
	n := &criticMark{kind: line[1], end: from + at + 2, opens: true, source: segment.WithStop(from)}
	pc.Set(criticKey, n)
	block.Advance(3)

	return n
}

// criticTransformer makes elements of the changes, and text of marks without their
// match.
type criticTransformer struct{}

func (criticTransformer) Transform(root *ast.Document, reader text.Reader, _ parser.Context) {
	var found []*criticMark
	tree.Each(root, func(n ast.Node) {
		if m, ok := n.(*criticMark); ok {
			found = append(found, m)
		}
	})

	for i, m := range found {
		if m.Parent() == nil {
			continue // an end that was taken
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

// trimMark takes the two signs before the bracket that ends a change, where it
// stands alone, off the text they stand in.
func trimMark(end *criticMark) bool {
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

// wrap puts what stands between two marks into the element of the change.
func (m *criticMark) wrap(end *criticMark, src []byte) {
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
