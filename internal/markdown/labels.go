package markdown

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"presswork/internal/markdown/dialect/myst"
	"presswork/internal/markdown/ext/codeblock"
	"presswork/internal/markdown/ext/math"
	"presswork/internal/markdown/formula"
	"presswork/internal/markdown/label"
	"presswork/internal/markdown/tree"
)

// Kind is a kind of numbered element.
type Kind = label.Kind

// The kinds, by the beginning of their labels.
const (
	Figure   = label.Figure
	Table    = label.Table
	Equation = label.Equation
	Section  = label.Section
	Listing  = label.Listing
)

// ByChapter is the Numbering that begins anew in each chapter: 2.1.
const ByChapter = "chapter"

// Caption is a numbered element with a caption, for the lists of them.
type Caption struct {
	Kind   Kind
	Number string
	// Text is the caption without label and number.
	Text string
	// ID is the anchor.
	ID string
}

// Label is a labelled element as other documents refer to it.
type Label = label.Label

// HasLabels reports whether a source may hold labels: #fig:x and the like. What
// looks so and is none does no harm.
func HasLabels(src []byte) bool {
	if myst.MayHoldLabels(src) {
		return true
	}

	for {
		i := bytes.IndexByte(src, '#')
		if i < 0 {
			return false
		}

		src = src[i+1:]
		if label.KindOf(string(src[:min(len(src), 5)])) != "" {
			return true
		}
	}
}

// numberElements numbers the labelled elements, and those that the options ask
// for, writes their labels, and resolves the references to them.
func (d *draft) numberElements(root ast.Node, headings []*ast.Heading) {
	if !d.references && len(d.options.Numbered) == 0 && d.options.Numbering != ByChapter {
		return
	}

	d.targets = label.Set{}

	for name, l := range d.options.Labels {
		d.targets[name] = &l
	}
	defer d.counters.BeginChapter("") // for the formulas
	w := label.WordsOf(d.options.Lang)
	chapters := newNumbering(headings, d.options.Chapter)
	heading := 0
	parts := map[*tree.Division]*subfigures{}
	var found []ast.Node
	tree.Each(root, func(n ast.Node) {
		switch n.(type) {
		case *ast.Heading, *tree.Figure, *east.Table, *ast.FencedCodeBlock, *tree.Division, *math.Block, *math.Formula:
			found = append(found, n)
		}
	})

	for _, n := range found {
		switch n := n.(type) {
		case *ast.Heading:
			if !tree.HasClass(n, tree.Unnumbered) {
				if number := chapters.next(n.Level); n.Level == chapters.top {
					d.counters.BeginChapter(number)
				}
			}

			if h := d.headings[heading]; label.KindOf(h.ID) == Section {
				d.targets[h.ID] = &label.Label{Kind: Section, ID: h.ID, Number: h.Number, Title: h.Text}
			}
			heading++
		case *tree.Figure:
			if whole := parts[enclosingDivision(n)]; whole != nil {
				d.letterFigure(n, whole)
				continue
			}
			d.numberBlock(n, Figure, w, n.CaptionNode())
		case *east.Table:
			c, _ := n.FirstChild().(*tree.Caption)
			d.numberBlock(n, Table, w, c)
		case *ast.FencedCodeBlock:
			d.numberListing(n, w)
		case *tree.Division:
			kind := label.KindOf(tree.AttributeText(n, "id"))
			if n.Figure && kind == "" {
				kind = Figure
			}

			if kind == Figure || kind == Table || kind == Listing {
				before := len(d.captions)
				d.numberBlock(n, kind, w, n.MakeFigure())

				if kind == Figure && len(d.captions) > before {
					parts[n] = &subfigures{number: d.captions[before].Number}
				}
			}
		case *math.Block, *math.Formula:
			d.noteEquation(n)
		}
	}
}

// subfigures are those of a figure that has a number: (a), (b) and so on.
type subfigures struct {
	number string
	count  int
}

// enclosingDivision is the division that a figure stands in, nil for none.
func enclosingDivision(f *tree.Figure) *tree.Division {
	for n := f.Parent(); n != nil; n = n.Parent() {
		if d, ok := n.(*tree.Division); ok && d.Figure {
			return d
		}
	}

	return nil
}

// letterFigure gives a part of a figure its letter, with which references name it. It
// is in no list.
func (d *draft) letterFigure(f *tree.Figure, whole *subfigures) {
	const alphabet = 26

	c, id := f.CaptionNode(), tree.AttributeText(f, "id")
	if c == nil && label.KindOf(id) != Figure || whole.count == alphabet {
		return
	}
	letter := string(rune('a' + whole.count))

	whole.count++
	if label.KindOf(id) == Figure {
		d.targets[id] = &label.Label{Kind: Figure, ID: id, Number: whole.number + letter}
	}

	if c == nil {
		c = &tree.Caption{Figure: true}
		f.AppendChild(f, c)
	}

	text := `<span class="xref-label">(` + letter + ")</span>"
	if c.FirstChild() != nil {
		text += " "
	}
	mark := ast.NewString([]byte(text))
	mark.SetCode(true)
	c.InsertBefore(c, c.FirstChild(), mark)
}

// numbered reports whether an element with this id is numbered; it has a
// caption or not.
func (d *draft) numbered(kind Kind, id string, captioned bool) bool {
	return label.KindOf(id) == kind || captioned && slices.Contains(d.options.Numbered, kind)
}

// numberBlock numbers a block and begins its caption with the label, which makes
// one if there is none.
func (d *draft) numberBlock(n ast.Node, kind Kind, w label.Words, c *tree.Caption) {
	id := tree.AttributeText(n, "id")
	if !d.numbered(kind, id, c != nil) {
		return
	}

	if c == nil {
		c = &tree.Caption{}

		switch n.(type) {
		case *east.Table:
			n.InsertBefore(n, n.FirstChild(), c)
		default:
			c.Figure = true
			n.AppendChild(n, c)
		}
	}
	t := d.newTarget(kind, id, tree.PlainText(c, d.src))
	n.SetAttributeString("id", []byte(t.ID))
	mark := ast.NewString([]byte(w.Caption(kind, t.Number, c.FirstChild() != nil)))
	mark.SetCode(true)
	c.InsertBefore(c, c.FirstChild(), mark)
}

// newTarget counts an element. One without a label gets an id of ours.
func (d *draft) newTarget(kind Kind, id, text string) *label.Label {
	t := &label.Label{Kind: kind, ID: id, Number: d.counters.Next(kind)}
	if id == "" {
		t.ID = listIDs + string(kind) + "-" + strconv.Itoa(len(d.captions)+1)
	}

	if label.KindOf(id) == kind {
		d.targets[id] = t
	}
	d.captions = append(
		d.captions,
		Caption{Kind: kind, Number: t.Number, Text: strings.Join(strings.Fields(text), " "), ID: t.ID},
	)

	return t
}

// listIDs begins the ids of elements that are in a list and have no label.
const listIDs = "toc-"

// numberListing numbers a code block that has a label.
func (d *draft) numberListing(n *ast.FencedCodeBlock, w label.Words) {
	info := codeblock.InfoOf(n, d.src)

	id := info.Attributes.ID
	if own := tree.AttributeText(n, "id"); own != "" {
		id = own
	}

	id = tree.CleanID(id)
	if info.Language == "mermaid" {
		if d.numbered(Figure, id, info.Title != "") {
			f := &tree.Figure{Caption: info.Title}
			f.SetAttributeString("id", []byte(id))
			tree.Replace(n, f)
			f.AppendChild(f, n)
			d.numberBlock(f, Figure, w, f.CaptionNode())
		}

		return
	}

	if !d.numbered(Listing, id, info.Title != "") {
		return
	}
	t := d.newTarget(Listing, id, info.Title)
	n.SetAttributeString("id", []byte(t.ID))
	n.SetAttributeString(codeblock.LabelAttribute, []byte(w.Caption(Listing, t.Number, info.Title != "")))
}

// noteEquation notes the chapter of a formula and makes one with a label a target.
func (d *draft) noteEquation(n ast.Node) {
	e := formula.Equation{Chapter: d.counters.Chapter()}
	if id := tree.AttributeText(n, "id"); label.KindOf(id) == Equation {
		e.Label = &label.Label{Kind: Equation, ID: id}
		d.targets[id] = e.Label
	}

	if d.equations == nil {
		d.equations = map[ast.Node]formula.Equation{}
	}
	d.equations[n] = e
}
