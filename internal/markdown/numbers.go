package markdown

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"presswork/internal/markdown/dialect/quarto"
	"presswork/internal/markdown/ext/codeblock"
	"presswork/internal/markdown/ext/math"
	"presswork/internal/markdown/formula"
	"presswork/internal/markdown/label"
	"presswork/internal/markdown/numbering"
	"presswork/internal/markdown/tree"
)

// numberElements numbers the labelled elements and those that the options ask for, and writes "Figure 1:" and the
// like into their captions. Formulas get their numbers when they are rendered.
func (p *parserState) numberElements(root ast.Node, headings []*ast.Heading) {
	o := &p.options
	if !p.hasReferences && len(o.Numbered) == 0 && o.Numbering != ByChapter {
		return
	}

	n := numberer{
		src:       p.src,
		words:     label.WordsOf(o.Lang),
		numbered:  o.Numbered,
		outline:   p.out.Headings,
		chapters:  numbering.New(headings, p.src, o.Sections),
		counters:  p.counters,
		targets:   make(label.Set, len(o.Labels)),
		equations: map[ast.Node]formula.Equation{},
		wholes:    map[*tree.Division]*subfigures{},
	}
	for name, l := range o.Labels {
		n.targets[name] = &l
	}
	n.number(root)
	p.targets, p.equations, p.out.Captions = n.targets, n.equations, n.captions
	p.counters.BeginChapter("") // formulas are numbered later, from the start of the document
}

// numberer numbers the elements of one document.
type numberer struct {
	src   []byte
	words label.Words // in the language of the document
	// numbered are the kinds of which every element with a caption is numbered.
	numbered []Kind
	// outline has an entry for each heading. passed counts the headings before the current element.
	outline  []Heading
	passed   int
	chapters *numbering.Numbering
	counters *label.Counters

	// targets are the elements that references can lead to, captions the entries of the lists of figures and the
	// like. equations has the labels of each formula.
	targets   label.Set
	captions  []Caption
	equations map[ast.Node]formula.Equation
	// wholes are the numbered figures that may consist of several figures.
	wholes map[*tree.Division]*subfigures
}

// subfigures counts the parts of a numbered figure: (a), (b) and so on.
type subfigures struct {
	number string // the number of the whole figure
	count  int    // its parts so far
}

// number numbers the elements in the order of the document. It collects them first, because numbering changes the
// tree.
func (n *numberer) number(root ast.Node) {
	var found []ast.Node
	tree.Each(root, func(node ast.Node) {
		switch node.(type) {
		case *ast.Heading, *tree.Figure, *east.Table, *ast.FencedCodeBlock, *tree.Division, *math.Block, *math.Formula:
			found = append(found, node)
		}
	})

	for _, node := range found {
		switch node := node.(type) {
		case *ast.Heading:
			n.numberSection(node)
		case *tree.Figure:
			if whole := n.wholes[enclosingDivision(node)]; whole != nil {
				n.letterFigure(node, whole)
			} else {
				n.numberBlock(node, Figure, node.CaptionNode())
			}
		case *east.Table:
			c, _ := node.FirstChild().(*tree.Caption)
			n.numberBlock(node, Table, c)
		case *ast.FencedCodeBlock:
			n.numberCode(node)
		case *tree.Division:
			n.numberDivision(node)
		case *math.Block, *math.Formula:
			n.noteEquation(node)
		}
	}
}

// numberSection begins a chapter at its heading, and makes a labelled heading a target of references.
func (n *numberer) numberSection(h *ast.Heading) {
	if chapter := n.chapters.Chapter(h, n.chapters.Next(h)); chapter != "" {
		n.counters.BeginChapter(chapter)
	}

	entry := n.outline[n.passed]
	if label.KindOf(entry.ID) == Section || bytes.Contains(n.src, []byte(bookdownReference+entry.ID+")")) {
		n.targets[entry.ID] = &label.Label{Kind: Section, ID: entry.ID, Number: entry.Number, Title: entry.Text}
	}
	n.passed++
}

// numberDivision numbers a division that is a figure, table or listing by its label or class.
func (n *numberer) numberDivision(node *tree.Division) {
	kind := label.KindOf(tree.AttributeText(node, "id"))
	if node.Figure && kind == "" {
		kind = Figure
	}

	if kind.IsTheorem() {
		n.numberTheorem(node, kind)
	}

	if kind != Figure && kind != Table && kind != Listing {
		return
	}
	before := len(n.captions)
	n.numberBlock(node, kind, node.MakeFigure())

	if kind == Figure && len(n.captions) > before {
		n.wholes[node] = &subfigures{number: n.captions[before].Number}
	}
}

// enclosingDivision returns the figure that a figure is part of, nil for none.
func enclosingDivision(f *tree.Figure) *tree.Division {
	for n := f.Parent(); n != nil; n = n.Parent() {
		if d, ok := n.(*tree.Division); ok && d.Figure {
			return d
		}
	}

	return nil
}

// letterFigure gives a part of a figure its letter, up to z. References name it 2a. The list of figures has the whole
// figure only.
func (n *numberer) letterFigure(f *tree.Figure, whole *subfigures) {
	const alphabet = 26

	c, id := f.CaptionNode(), tree.AttributeText(f, "id")
	if c == nil && label.KindOf(id) != Figure || whole.count == alphabet {
		return
	}
	letter := string(rune('a' + whole.count))

	whole.count++
	if label.KindOf(id) == Figure {
		n.targets[id] = &label.Label{Kind: Figure, ID: id, Number: whole.number + letter}
	}

	if c == nil {
		c = &tree.Caption{Figure: true}
		f.AppendChild(f, c)
	}

	text := `<span class="xref-label">(` + letter + ")</span>"
	if c.FirstChild() != nil {
		text += " "
	}
	prepend(c, text)
}

// prepend puts HTML before the content of a caption.
func prepend(c *tree.Caption, html string) {
	s := ast.NewString([]byte(html))
	s.SetCode(true)
	c.InsertBefore(c, c.FirstChild(), s)
}

// isNumbered reports whether an element with an id, with or without a caption, is numbered.
func (n *numberer) isNumbered(kind Kind, id string, captioned bool) bool {
	return label.KindOf(id) == kind || captioned && slices.Contains(n.numbered, kind)
}

// numberBlock numbers a block and writes the label before its caption. Without a caption, the label is the
// caption.
func (n *numberer) numberBlock(node ast.Node, kind Kind, c *tree.Caption) {
	id := tree.AttributeText(node, "id")
	if !n.isNumbered(kind, id, c != nil) {
		return
	}

	if c == nil {
		c = &tree.Caption{}

		switch node.(type) {
		case *east.Table:
			node.InsertBefore(node, node.FirstChild(), c)
		default:
			c.Figure = true
			node.AppendChild(node, c)
		}
	}
	t := n.addTarget(kind, id, tree.PlainText(c, n.src))
	node.SetAttributeString("id", []byte(t.ID))
	prepend(c, n.words.Caption(kind, t.Number, c.FirstChild() != nil))
}

// listIDs begins the ids of elements that are in a list and have no label. tree.CleanID reserves it.
const listIDs = "toc-"

// addTarget counts an element, adds it to the list of its kind and makes it a target of references if id is
// its label. An element without an id gets one.
func (n *numberer) addTarget(kind Kind, id, text string) *label.Label {
	t := &label.Label{Kind: kind, ID: id, Number: n.counters.Next(kind)}
	if id == "" {
		t.ID = listIDs + string(kind) + "-" + strconv.Itoa(len(n.captions)+1)
	}

	if label.KindOf(id) == kind {
		n.targets[id] = t
	}
	n.captions = append(n.captions,
		Caption{Kind: kind, Number: t.Number, Text: strings.Join(strings.Fields(text), " "), ID: t.ID})

	return t
}

// numberCode numbers a code block as a listing, and a diagram as a figure.
func (n *numberer) numberCode(node *ast.FencedCodeBlock) {
	info := codeblock.InfoOf(node, n.src)

	id := info.Attributes.ID
	if own := tree.AttributeText(node, "id"); own != "" {
		id = own
	}
	id = tree.CleanID(id)
	info.Title = cmp.Or(info.Title, tree.AttributeText(node, quarto.CaptionAttribute))
	isDiagram, captioned := info.Diagram() != "", info.Title != ""

	switch {
	case isDiagram && n.isNumbered(Figure, id, captioned):
		f := &tree.Figure{Caption: info.Title}
		f.SetAttributeString("id", []byte(id))
		tree.Replace(node, f)
		f.AppendChild(f, node)
		n.numberBlock(f, Figure, f.CaptionNode())
	case !isDiagram && n.isNumbered(Listing, id, captioned):
		t := n.addTarget(Listing, id, info.Title)
		node.SetAttributeString("id", []byte(t.ID))
		node.SetAttributeString(codeblock.LabelAttribute, []byte(n.words.Caption(Listing, t.Number, captioned)))
	}
}

// noteEquation records the chapter of a formula, in which it is numbered when it is rendered. It makes a labelled
// formula a target of references.
func (n *numberer) noteEquation(node ast.Node) {
	e := formula.Equation{Chapter: n.counters.Chapter()}
	source := &[]byte{}

	switch node := node.(type) {
	case *math.Block:
		source = &node.Source
	case *math.Formula:
		source = &node.Source
	}

	if id := cmp.Or(tree.AttributeText(node, "id"), takeEquationLabel(source)); label.KindOf(id) == Equation {
		e.Label = &label.Label{Kind: Equation, ID: id}
		n.targets[id] = e.Label
	}
	e.Rows = n.rowLabels(source)

	if len(e.Rows) > 0 && e.Label == nil && e.Rows[0].Row < 0 && e.Rows[0].Tag == "" {
		e.Label = e.Rows[0].To
	}
	n.equations[node] = e
}

// rowLabels removes the \label commands from a formula and makes them targets of references. As in LaTeX, the last
// of equal labels counts.
func (n *numberer) rowLabels(source *[]byte) []formula.RowLabel {
	rest, rows := formula.TakeLabels(string(*source))
	*source = []byte(rest)

	for i := range rows {
		rows[i].To = &label.Label{Kind: Equation, ID: tree.CleanID(rows[i].Key)}
		n.targets[rows[i].Key] = rows[i].To
	}

	return rows
}
