// Package quarto reads syntax of Quarto and Bookdown: options of code cells, conditional content, parts, sets of tabs
// and variables. InsertVariables rewrites the source; the other functions change the parsed tree.
package quarto

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/tree"
)

// cellOption matches an option of a cell, such as "#| echo: false": a comment in the language of the
// cell. Its groups are the name and the value.
var cellOption = lazyregexp.New(`^(?:#|//|--|%%)\| ?([\w.-]*)(?::[ \t]*([^\n]*))?`)

// diagramCell matches the info string of a cell with a diagram. Its code is never shown.
var diagramCell = lazyregexp.New(`^\{(?:dot|mermaid)[ ,}]`)

// CaptionAttribute is the attribute of a diagram cell with the caption of its figure.
const CaptionAttribute = "fig-cap"

// MayHoldLabels reports whether a source may have a diagram cell with a label.
func MayHoldLabels(src []byte) bool { return bytes.Contains(src, []byte("| label: fig-")) }

// DropOptions removes the options from the start of each code cell, and the cells that their options hide. The label
// and the caption of a diagram become the attributes id and CaptionAttribute of its node. isCell reports whether the
// info string of a code block makes it a cell.
func DropOptions(root ast.Node, src []byte, isCell func(info []byte) bool) {
	var hidden []ast.Node
	tree.Each(root, func(n ast.Node) {
		code, ok := n.(*ast.FencedCodeBlock)
		if !ok || code.Info == nil || !isCell(code.Info.Segment.Value(src)) {
			return
		}

		if dropOptions(code, src) {
			hidden = append(hidden, code)
		}
	})

	for _, n := range hidden {
		n.Parent().RemoveChild(n.Parent(), n)
	}
}

// PartClass and AppendixClass are the classes of headings that begin a part and the appendix of a book.
const (
	PartClass     = "part"
	AppendixClass = "appendix"
)

// TakeParts gives the headings "(PART) Title" and "(APPENDIX) Title" of Bookdown their classes, and removes the marks.
// They have no number.
func TakeParts(root ast.Node, src []byte) {
	tree.EachBlock(root, func(n ast.Node) {
		h, ok := n.(*ast.Heading)
		if !ok || h.Level != 1 {
			return
		}

		words, ok := h.FirstChild().(*ast.Text)
		if !ok {
			return
		}
		m := partMark().FindSubmatch(words.Value(src))

		switch {
		case m == nil:
			return
		case m[1] == nil:
			tree.AddClass(h, AppendixClass)
		default:
			tree.AddClass(h, PartClass)
		}
		words.Segment = words.Segment.WithStart(words.Segment.Start + len(m[0]))
		tree.AddClass(h, tree.Unnumbered)
	})
}

// partMark begins the title of a part or of the appendix.
var partMark = lazyregexp.New(`^(?:\((PART)(?:\\?\*)?\)|\(APPENDIX\))[ \t]+`)

// TakeTabsets turns the headings in sets of tabs into titles in bold. The tabs are printed one after another.
func TakeTabsets(root ast.Node) {
	tree.Each(root, func(n ast.Node) {
		if _, ok := n.(*tree.Division); !ok || !tree.HasClass(n, "panel-tabset") {
			return
		}

		level := 0 // the level of the titles; deeper headings are part of a tab

		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			h, ok := c.(*ast.Heading)
			if !ok || level > 0 && h.Level > level {
				continue
			}
			level = h.Level
			title := ast.NewEmphasis(2)
			tree.MoveChildren(h, title)
			p := ast.NewParagraph()
			p.AppendChild(p, title)
			n.ReplaceChild(n, h, p)
			c = p
		}
	})
}

// DropHidden removes conditional content for other output formats
// (https://quarto.org/docs/authoring/conditional.html). formats are the names of the format that is printed.
func DropHidden(root ast.Node, formats []string) {
	var hidden []ast.Node
	tree.Each(root, func(n ast.Node) {
		if isHidden(n, formats) {
			hidden = append(hidden, n)
		}
	})

	for _, n := range hidden {
		n.Parent().RemoveChild(n.Parent(), n)
	}
}

// isHidden reports whether a node is conditional content that is not printed in a format with these names.
func isHidden(n ast.Node, formats []string) bool {
	visible := tree.HasClass(n, "content-visible")
	if !visible && !tree.HasClass(n, "content-hidden") {
		return false
	}
	names := func(attribute string) bool {
		isSeparator := func(r rune) bool { return strings.ContainsRune(" ,[]\"'", r) }
		words := strings.FieldsFunc(strings.ToLower(tree.AttributeText(n, attribute)), isSeparator)

		return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(formats, word) })
	}

	switch {
	case tree.AttributeText(n, tree.WhenFormat) != "":
		return names(tree.WhenFormat) != visible
	case tree.AttributeText(n, tree.UnlessFormat) != "":
		return names(tree.UnlessFormat) == visible
	}

	return false
}

// dropOptions removes the options of one cell, and a blank line after them. It reports whether they
// hide the cell.
func dropOptions(code *ast.FencedCodeBlock, src []byte) (hidden bool) {
	lines, options := code.Lines(), 0
	isDiagram := diagramCell().Match(code.Info.Segment.Value(src))

	for ; options < lines.Len(); options++ {
		line := lines.At(options)

		m := cellOption().FindSubmatch(line.Value(src))
		if m == nil {
			break
		}

		name, value := string(m[1]), strings.TrimSpace(string(m[2]))
		// The code of a diagram is never shown, so `echo` does not hide a diagram.
		hidden = hidden || (name == "echo" && !isDiagram || name == "include") && value == "false"

		switch value = strings.Trim(value, `"'`); {
		case !isDiagram || value == "":
		case name == "label":
			code.SetAttributeString("id", []byte(value))
		case name == "fig-cap":
			code.SetAttributeString(CaptionAttribute, []byte(value))
		}
	}

	if options > 0 && options < lines.Len() {
		if line := lines.At(options); util.IsBlank(line.Value(src)) {
			options++
		}
	}
	lines.SetSliced(options, lines.Len())

	return hidden
}
