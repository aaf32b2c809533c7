package markdown

import (
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"presswork/internal/markdown/ext/reference"
)

// noteParts are the nodes that get new numbers or decide the order of the footnotes.
type noteParts struct {
	// links are the marks of footnotes, backs the links from footnotes back to their marks.
	links []*east.FootnoteLink
	backs []*east.FootnoteBacklink
	// inText are the citations and links to footnotes in the text, in order.
	inText []ast.Node
	// inNotes are the citations in footnotes.
	inNotes []*reference.Reference
}

// makeNotes puts the citations of a note style into footnotes, which are numbered together with the footnotes of the
// source. Citations in footnotes stay there. For a citation @key without brackets, the names of the authors stay in
// the text.
func (b *bibliography) makeNotes(root ast.Node, src []byte) {
	if !b.style.Note || len(b.cited) == 0 {
		return
	}

	list, _ := root.LastChild().(*east.FootnoteList)
	if list == nil {
		list = east.NewFootnoteList()
		root.AppendChild(root, list)
	}
	parts := b.findNoteParts(root)
	own := map[int]*east.Footnote{} // the footnotes of the source by their old index

	for n := list.FirstChild(); n != nil; n = n.NextSibling() {
		if note, ok := n.(*east.Footnote); ok {
			own[note.Index] = note
		}
	}
	var notes []*east.Footnote
	newIndex := map[int]int{} // by the old index, for footnotes of the source
	renumber := func(old int) {
		if note := own[old]; note != nil && newIndex[old] == 0 {
			notes = append(notes, note)
			newIndex[old] = len(notes)
		}
	}
	b.cited = b.cited[:0]

	for _, n := range parts.inText {
		switch n := n.(type) {
		case *east.FootnoteLink:
			renumber(n.Index)
		case *reference.Reference:
			notes = append(notes, b.noteOf(n, len(notes)+1, src))
		}
	}
	b.cited = append(b.cited, parts.inNotes...)

	for _, link := range parts.links { // footnotes that only other footnotes refer to come last
		renumber(link.Index)
	}
	parts.setIndexes(newIndex)
	list.RemoveChildren(list)

	for i, note := range notes {
		note.Index = i + 1
		list.AppendChild(list, note)
	}
	list.Count = len(notes)
}

// findNoteParts finds the links to footnotes and the citations.
func (b *bibliography) findNoteParts(root ast.Node) (parts noteParts) {
	cited := make(map[*reference.Reference]bool, len(b.cited))
	for _, r := range b.cited {
		cited[r] = true
	}
	inNotes := false

	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if n.Kind() == east.KindFootnoteList {
			inNotes = entering
		}

		if !entering {
			return ast.WalkContinue, nil
		}

		switch n := n.(type) {
		case *east.FootnoteBacklink:
			parts.backs = append(parts.backs, n)
		case *east.FootnoteLink:
			parts.links = append(parts.links, n)
			if !inNotes {
				parts.inText = append(parts.inText, n)
			}
		case *reference.Reference:
			switch {
			case cited[n] && inNotes:
				parts.inNotes = append(parts.inNotes, n)
			case cited[n]:
				parts.inText = append(parts.inText, n)
			}
		}

		return ast.WalkContinue, nil
	})

	return parts
}

// setIndexes gives links to footnotes, and links back, the new index of their footnote.
func (p noteParts) setIndexes(newIndex map[int]int) {
	for _, link := range p.links {
		link.Index = newIndex[link.Index]
	}

	for _, back := range p.backs {
		if n := newIndex[back.Index]; n > 0 {
			back.Index = n
		}
	}
}

// noteOf moves a citation into a footnote with the given number, and puts the mark of the footnote in its
// place.
func (b *bibliography) noteOf(r *reference.Reference, number int, src []byte) *east.Footnote {
	note, p := east.NewFootnote(nil), ast.NewParagraph()
	link, back := east.NewFootnoteLink(number), east.NewFootnoteBacklink(number)
	link.RefCount, back.RefCount = 1, 1
	before := r.PreviousSibling()
	r.Parent().ReplaceChild(r.Parent(), r, link)

	switch t, isText := before.(*ast.Text); {
	case r.IsInText():
		names := &reference.Reference{Items: r.Items[:1], Source: r.Source, Offset: r.Offset, NamesOnly: true}
		link.Parent().InsertBefore(link.Parent(), link, names)
		b.cited = append(b.cited, names)
	case isText && !t.SoftLineBreak():
		if !r.Bracketed {
			t.Segment = t.Segment.WithStop(t.Segment.Stop - 1) // the - of -@key
		}
		// The mark follows the word without the space that the source has before the citation.
		t.Segment = t.Segment.TrimRightSpace(src)
	}
	b.cited = append(b.cited, r)
	p.AppendChild(p, r)
	p.AppendChild(p, back)
	note.AppendChild(note, p)

	return note
}
