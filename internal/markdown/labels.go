package markdown

import (
	"bytes"
	"html"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"presswork/internal/markdown/dialect/myst"
	"presswork/internal/markdown/ext/codeblock"
	"presswork/internal/markdown/ext/math"
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
type Label struct {
	Kind   Kind
	Number string
	// Title is of a section.
	Title string
	// ID is the anchor.
	ID string
}

// target is what references can lead to.
type target struct {
	kind Kind
	id   string
	// number is "3" or "2.1"; "" for a section in a document whose headings have
	// none. An equation gets its own when formulas are rendered.
	number string
	// title is of a section.
	title string
}

// name is what a reference calls it, without the word before.
func (t *target) name() string {
	if t.number == "" {
		return t.title
	}

	if t.kind == Equation {
		return "(" + t.number + ")"
	}

	return t.number
}

// targets are the labelled elements by their labels.
type targets map[string]*target

// find looks a key up; @Fig:x begins a sentence and means fig:x.
func (t targets) find(key string) *target {
	if found := t[key]; found != nil || key == "" {
		return found
	}

	return t[strings.ToLower(key[:1])+key[1:]]
}

// labels are the targets as other documents see them.
func (t targets) labels() map[string]Label {
	if len(t) == 0 {
		return nil
	}

	labels := make(map[string]Label, len(t))
	for name, target := range t {
		labels[name] = Label{target.kind, target.number, target.title, target.id}
	}

	return labels
}

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

// counters count the elements of each kind, anew in each chapter if asked for.
type counters struct {
	byChapter bool
	chapter   string
	counts    map[Kind]int
}

func newCounters(byChapter bool, before map[Kind]int) counters {
	c := counters{byChapter: byChapter, counts: map[Kind]int{}}
	maps.Copy(c.counts, before)

	return c
}

func (c *counters) next(kind Kind) string {
	c.counts[kind]++

	n := c.counts[kind]
	if c.byChapter && c.chapter != "" {
		return c.chapter + "." + strconv.Itoa(n)
	}

	return strconv.Itoa(n)
}

// begin begins a chapter.
func (c *counters) begin(number string) {
	if c.chapter == number {
		return
	}

	c.chapter = number
	if c.byChapter {
		clear(c.counts)
	}
}

// numberElements numbers the labelled elements, and those that the options ask
// for, writes their labels, and resolves the references to them.
func (d *draft) numberElements(root ast.Node, headings []*ast.Heading) {
	if !d.references && len(d.options.Numbered) == 0 && d.options.Numbering != ByChapter {
		return
	}

	d.targets = targets{}

	for name, l := range d.options.Labels {
		d.targets[name] = &target{kind: l.Kind, id: l.ID, number: l.Number, title: l.Title}
	}
	defer d.counters.begin("") // for the formulas
	w := wordsOf(d.options.Lang)
	chapters := newNumbering(headings, d.options.Chapter)
	heading := 0
	parts := map[*division]*subfigures{}
	var found []ast.Node
	tree.Each(root, func(n ast.Node) {
		switch n.(type) {
		case *ast.Heading, *figure, *east.Table, *ast.FencedCodeBlock, *division, *math.Block, *math.Formula:
			found = append(found, n)
		}
	})

	for _, n := range found {
		switch n := n.(type) {
		case *ast.Heading:
			if !tree.HasClass(n, tree.Unnumbered) {
				if number := chapters.next(n.Level); n.Level == chapters.top {
					d.counters.begin(number)
				}
			}

			if h := d.headings[heading]; label.KindOf(h.ID) == Section {
				d.targets[h.ID] = &target{kind: Section, id: h.ID, number: h.Number, title: h.Text}
			}
			heading++
		case *figure:
			if whole := parts[enclosingDivision(n)]; whole != nil {
				d.letterFigure(n, whole)
				continue
			}
			d.numberBlock(n, Figure, w, n.captionNode())
		case *east.Table:
			c, _ := n.FirstChild().(*tree.Caption)
			d.numberBlock(n, Table, w, c)
		case *ast.FencedCodeBlock:
			d.numberListing(n, w)
		case *division:
			kind := label.KindOf(tree.AttributeText(n, "id"))
			if n.figure && kind == "" {
				kind = Figure
			}

			if kind == Figure || kind == Table || kind == Listing {
				before := len(d.captions)
				d.numberBlock(n, kind, w, n.makeFigure())

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
func enclosingDivision(f *figure) *division {
	for n := f.Parent(); n != nil; n = n.Parent() {
		if d, ok := n.(*division); ok && d.figure {
			return d
		}
	}

	return nil
}

// letterFigure gives a part of a figure its letter, with which references name it. It
// is in no list.
func (d *draft) letterFigure(f *figure, whole *subfigures) {
	const alphabet = 26

	c, id := f.captionNode(), tree.AttributeText(f, "id")
	if c == nil && label.KindOf(id) != Figure || whole.count == alphabet {
		return
	}
	letter := string(rune('a' + whole.count))

	whole.count++
	if label.KindOf(id) == Figure {
		d.targets[id] = &target{kind: Figure, id: id, number: whole.number + letter}
	}

	if c == nil {
		c = &tree.Caption{Figure: true}
		f.AppendChild(f, c)
	}

	text := `<span class="xref-label">(` + letter + ")</span>"
	if c.FirstChild() != nil {
		text += " "
	}
	label := ast.NewString([]byte(text))
	label.SetCode(true)
	c.InsertBefore(c, c.FirstChild(), label)
}

// numbered reports whether an element with this id is numbered; it has a
// caption or not.
func (d *draft) numbered(kind Kind, id string, captioned bool) bool {
	return label.KindOf(id) == kind || captioned && slices.Contains(d.options.Numbered, kind)
}

// numberBlock numbers a block and begins its caption with the label, which makes
// one if there is none.
func (d *draft) numberBlock(n ast.Node, kind Kind, w vocabulary, c *tree.Caption) {
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
	n.SetAttributeString("id", []byte(t.id))
	label := ast.NewString([]byte(w.label(t, c.FirstChild() != nil)))
	label.SetCode(true)
	c.InsertBefore(c, c.FirstChild(), label)
}

// newTarget counts an element. One without a label gets an id of ours.
func (d *draft) newTarget(kind Kind, id, text string) *target {
	t := &target{kind: kind, id: id, number: d.counters.next(kind)}
	if id == "" {
		t.id = listIDs + string(kind) + "-" + strconv.Itoa(len(d.captions)+1)
	}

	if label.KindOf(id) == kind {
		d.targets[id] = t
	}
	d.captions = append(
		d.captions,
		Caption{Kind: kind, Number: t.number, Text: strings.Join(strings.Fields(text), " "), ID: t.id},
	)

	return t
}

// listIDs begins the ids of elements that are in a list and have no label.
const listIDs = "toc-"

// label is the beginning of a caption, as HTML.
func (w vocabulary) label(t *target, more bool) string {
	text := w.one[t.kind] + "\u00a0" + t.number
	if !more {
		return `<span class="xref-label">` + html.EscapeString(text) + "</span>"
	}

	return `<span class="xref-label">` + html.EscapeString(text+w.colon) + "</span> "
}

// numberListing numbers a code block that has a label.
func (d *draft) numberListing(n *ast.FencedCodeBlock, w vocabulary) {
	info := codeblock.InfoOf(n, d.src)

	id := info.Attributes.ID
	if own := tree.AttributeText(n, "id"); own != "" {
		id = own
	}

	id = tree.CleanID(id)
	if info.Language == "mermaid" {
		if d.numbered(Figure, id, info.Title != "") {
			f := &figure{caption: info.Title}
			f.SetAttributeString("id", []byte(id))
			tree.Replace(n, f)
			f.AppendChild(f, n)
			d.numberBlock(f, Figure, w, f.captionNode())
		}

		return
	}

	if !d.numbered(Listing, id, info.Title != "") {
		return
	}
	t := d.newTarget(Listing, id, info.Title)
	n.SetAttributeString("id", []byte(t.id))
	n.SetAttributeString(codeblock.LabelAttribute, []byte(w.label(t, info.Title != "")))
}

// equation is what a formula is numbered with.
type equation struct {
	chapter string
	// label is what refers to it, nil without a label. It gets its number when the formula is
	// rendered: only then is it known how many numbers the formulas before it have taken.
	label *target
}

// noteEquation notes the chapter of a formula and makes one with a label a target.
func (d *draft) noteEquation(n ast.Node) {
	e := equation{chapter: d.counters.chapter}
	if id := tree.AttributeText(n, "id"); label.KindOf(id) == Equation {
		e.label = &target{kind: Equation, id: id}
		d.targets[id] = e.label
	}

	if d.equations == nil {
		d.equations = map[ast.Node]equation{}
	}
	d.equations[n] = e
}

// captionNode is the caption of a figure, nil without one.
func (n *figure) captionNode() *tree.Caption {
	c, ok := n.LastChild().(*tree.Caption)
	if !ok && n.caption != "" {
		c = &tree.Caption{Figure: true}
		text := ast.NewString([]byte(n.caption))
		text.SetRaw(true)
		c.AppendChild(c, text)
		n.AppendChild(n, c)
		n.caption = ""
	}

	return c
}

// makeFigure makes a division a figure: its last paragraph is the caption.
func (n *division) makeFigure() *tree.Caption {
	n.figure = true
	if c, ok := n.LastChild().(*tree.Caption); ok { // it is one
		return c
	}

	p, ok := n.LastChild().(*ast.Paragraph)
	if !ok || p.PreviousSibling() == nil {
		return nil
	}
	c := &tree.Caption{Figure: true}

	for child := p.FirstChild(); child != nil; {
		next := child.NextSibling()
		c.AppendChild(c, child)
		child = next
	}
	tree.Replace(p, c)

	return c
}
