// Package footnote reads footnotes and inline notes. It reuses goldmark's nodes, block parser and renderer. While the
// inline content is parsed, references get the numbers of their notes; a transformer then moves the notes to the end.
package footnote

import (
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// maxLabel is the longest label of a footnote, in bytes. It is the limit of goldmark.
const maxLabel = 999

// notes holds the footnotes of a document. Goldmark's own parser searches all footnotes for each reference and sorts
// them by insertion: ten thousand take two seconds.
type notes struct {
	list    *extast.FootnoteList        // nil without footnotes that have labels
	byLabel map[string]*extast.Footnote // the footnotes by their labels
	links   []*extast.FootnoteLink      // the references, in order
	cited   []*extast.Footnote          // in the order of their numbers
	// inline has the inline notes until the transformer adds them to list.
	inline *extast.FootnoteList
	// unclosed is a range of the source in which no inline note ends.
	unclosed text.Segment
}

// notesKey is the key of the *notes in a parser.Context.
var notesKey = parser.NewContextKey()

// notesOf returns the notes of a parse, which it creates if necessary.
func notesOf(pc parser.Context) *notes {
	n, _ := pc.Get(notesKey).(*notes)
	if n == nil {
		n = &notes{}
		pc.Set(notesKey, n)
	}

	return n
}

// noteParser is goldmark's parser of footnotes. It also indexes them by their labels.
type noteParser struct{ parser.BlockParser }

// Close records the note under its label. Of notes with one label, the first counts.
func (p noteParser) Close(node ast.Node, reader text.Reader, pc parser.Context) {
	p.BlockParser.Close(node, reader, pc)
	n := notesOf(pc)
	note, isNote := node.(*extast.Footnote)

	list, isList := node.Parent().(*extast.FootnoteList)
	if !isNote || !isList {
		return
	}

	n.list = list
	if n.byLabel == nil {
		n.byLabel = map[string]*extast.Footnote{}
	}

	if label := string(note.Ref); n.byLabel[label] == nil {
		n.byLabel[label] = note
	}
}

// noteLinkParser parses references to footnotes: [^label].
type noteLinkParser struct{}

// Trigger includes the exclamation mark, or goldmark would read ![^1] as the start of an image.
func (noteLinkParser) Trigger() []byte { return []byte{'!', '['} }

// Parse reads a reference to a note. Notes are numbered in the order of their first reference.
func (noteLinkParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()

	start := 0
	if line[0] == '!' {
		start = 1
	}

	label, ok := noteLabel(line[start:])
	if !ok {
		return nil
	}
	n := notesOf(pc)

	note := n.byLabel[string(label)]
	if note == nil {
		return nil
	}

	if note.Index < 0 {
		n.cited = append(n.cited, note)
		note.Index = len(n.cited)
	}
	link := extast.NewFootnoteLink(note.Index)
	n.links = append(n.links, link)

	if start > 0 {
		parent.AppendChild(parent, ast.NewTextSegment(text.NewSegment(segment.Start, segment.Start+start)))
	}
	block.Advance(start + len("[^") + len(label) + len("]"))

	return link
}

// noteLabel returns the label of the reference at the start of a line.
func noteLabel(line []byte) (label []byte, ok bool) {
	if len(line) < 2 || line[0] != '[' || line[1] != '^' {
		return nil, false
	}

	line = line[2:]
	for i := 0; i < min(len(line), maxLabel); i++ {
		switch line[i] {
		case ']':
			return line[:i], true
		case '[':
			return nil, false
		case '\\':
			if i+1 < len(line) && util.IsPunct(line[i+1]) {
				i++
			}
		}
	}

	return nil, false
}

// noteTransformer moves the footnotes to the end of the document, in the order of their first
// references, and adds the links back. It drops footnotes without a reference.
type noteTransformer struct{}

// Transform moves all notes with references to one list and sets how often each has been referred to.
func (noteTransformer) Transform(root *ast.Document, _ text.Reader, pc parser.Context) {
	n := notesOf(pc)
	switch {
	case n.list == nil && n.inline == nil:
		return
	case n.list == nil:
		n.list = n.inline
	case n.inline != nil:
		root.RemoveChild(root, n.inline)
	}

	counts := make([]int, len(n.cited)+1) // the references of each note, by its number
	for _, link := range n.links {
		link.RefIndex = counts[link.Index]
		counts[link.Index]++
	}

	for _, link := range n.links {
		link.RefCount = counts[link.Index]
	}
	n.list.Parent().RemoveChild(n.list.Parent(), n.list)
	n.list.RemoveChildren(n.list)

	if len(n.cited) == 0 {
		return
	}

	for _, note := range n.cited {
		var end ast.Node = note
		if last := note.LastChild(); last != nil && ast.IsParagraph(last) {
			end = last
		}

		for i := range counts[note.Index] {
			back := extast.NewFootnoteBacklink(note.Index)
			back.RefCount, back.RefIndex = counts[note.Index], i
			end.AppendChild(end, back)
		}
		n.list.AppendChild(n.list, note)
	}
	n.list.Count = len(n.cited)
	root.AppendChild(root, n.list)
}
