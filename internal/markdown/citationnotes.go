package markdown

import (
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"presswork/internal/markdown/ext/reference"
)

// makeNotes puts the citations of a style of notes into footnotes, which count with
// the document's own. Those in footnotes stay there; of @key the names stay in the
// text.
func (b *bibliography) makeNotes(root ast.Node, src []byte) {
	if !b.style.Note || len(b.cited) == 0 {
		return
	}

	list, _ := root.LastChild().(*east.FootnoteList)
	if list == nil {
		list = east.NewFootnoteList()
		root.AppendChild(root, list)
	}
	own := map[int]*east.Footnote{}

	for n := list.FirstChild(); n != nil; n = n.NextSibling() {
		if note, ok := n.(*east.Footnote); ok {
			own[note.Index] = note
		}
	}
	var links []*east.FootnoteLink
	var backs []*east.FootnoteBacklink
	var order []ast.Node // of the text
	within := false

	cited := make(map[*reference.Reference]bool, len(b.cited))
	for _, r := range b.cited {
		cited[r] = true
	}
	var inNotes []*reference.Reference
	b.cited = b.cited[:0]
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *east.FootnoteList:
			within = entering
		case *east.FootnoteBacklink:
			if entering {
				backs = append(backs, n)
			}
		case *east.FootnoteLink:
			if entering {
				links = append(links, n)
				if !within {
					order = append(order, n)
				}
			}
		case *reference.Reference:
			if entering && cited[n] && !within {
				order = append(order, n)
			} else if entering && cited[n] {
				inNotes = append(inNotes, n)
			}
		}

		return ast.WalkContinue, nil
	})
	var notes []*east.Footnote
	index := map[int]int{} // the new one of the document's own notes
	renew := func(old int) {
		if note := own[old]; note != nil && index[old] == 0 {
			notes = append(notes, note)
			index[old] = len(notes)
		}
	}

	for _, n := range order {
		if link, ok := n.(*east.FootnoteLink); ok {
			renew(link.Index)
			continue
		}
		notes = append(notes, b.noteOf(n.(*reference.Reference), len(notes)+1, src))
	}
	b.cited = append(b.cited, inNotes...)

	for _, link := range links { // of notes that only notes refer to
		renew(link.Index)
	}

	for _, link := range links {
		link.Index = index[link.Index]
	}

	for _, back := range backs {
		if n := index[back.Index]; n > 0 {
			back.Index = n
		}
	}
	list.RemoveChildren(list)

	for i, note := range notes {
		note.Index = i + 1
		list.AppendChild(list, note)
	}
	list.Count = len(notes)
}

// noteOf moves a citation into a footnote of a number, and leaves its mark.
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
			t.Segment = t.Segment.WithStop(t.Segment.Stop - 1) // the -
		}
		t.Segment = t.Segment.TrimRightSpace(src)
	}
	b.cited = append(b.cited, r)
	p.AppendChild(p, r)
	p.AppendChild(p, back)
	note.AppendChild(note, p)

	return note
}
