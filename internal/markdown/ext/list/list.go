// Package list parses the ordered lists of Pandoc: with letters, Roman numerals and parentheses, and the numbered
// examples (https://pandoc.org/MANUAL.html#ordered-lists). It wraps goldmark's parsers, which know only numbers: they
// read a line with a number in place of the marker (asNumber).
package list

import (
	"bytes"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"presswork/internal/markdown/tree"
)

// Extension adds ordered lists with other markers than numbers, and references to numbered examples.
type Extension struct {
	// Enabled reports whether the parsed document may have such lists. Required, as Loose is.
	Enabled func(parser.Context) bool
	// Loose reports whether the rules of Pandoc apply: one item is a list, and a list does not interrupt a paragraph.
	// Otherwise a second item must follow, so that "a. Smith" stays text.
	Loose func(parser.Context) bool
}

// Extend implements goldmark.Extender. The parsers of lists have goldmark's own priorities, because they wrap its
// parsers.
func (e Extension) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(
		parser.WithBlockParsers(
			util.Prioritized(fancyListParser{parser.NewListParser(), e}, 300),
			util.Prioritized(fancyItemParser{parser.NewListItemParser()}, 400),
		),
		parser.WithInlineParsers(util.Prioritized(exampleParser{}, 110)),
	)
}

// styleAttribute is the attribute with the listStyle of a list. It is not rendered.
const styleAttribute = "marker"

// styleOf returns the style of a list, false for a list of plain Markdown.
func styleOf(n ast.Node) (listStyle, bool) {
	v, _ := n.AttributeString(styleAttribute)
	s, ok := v.(listStyle)

	return s, ok
}

// fancyListParser is goldmark's parser of lists with the markers of this package.
type fancyListParser struct {
	parser.BlockParser
	Extension
}

// listTriggers returns the first characters of all markers.
func listTriggers(of parser.BlockParser) []byte {
	triggers := append(bytes.Clone(of.Trigger()), "(#"...)
	for c := byte('a'); c <= 'z'; c++ {
		triggers = append(triggers, c, c-'a'+'A')
	}

	return triggers
}

func (p fancyListParser) Trigger() []byte { return listTriggers(p.BlockParser) }

// Open begins a list whose markers are letters, Roman numerals, "#." or "(@)". goldmark's own parser reads bullets
// and numbers.
func (p fancyListParser) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	if c := line[max(pc.BlockOffset(), 0)]; c == '-' || c == '+' || c == '*' || c >= '0' && c <= '9' {
		return p.BlockParser.Open(parent, reader, pc)
	}
	loose := p.Loose(pc)

	m, ok := readMarker(line, listStyle{})
	if !ok || !p.Enabled(pc) {
		return nil, parser.NoChildren
	}

	rest := reader.Source()[segment.Stop:]

	// A letter such as c is a Roman numeral if the next one follows.
	number, ok := readMarker(line, listStyle{kind: 'i'})
	if ok && loose && number.isContinued(rest) {
		m = number
	}
	last := pc.LastOpenedBlock().Node

	// Within a list, goldmark asks this parser before that of the items.
	if _, within := parent.(*ast.List); !within && !m.beginsList(line, rest, loose) {
		return nil, parser.NoChildren
	}

	// In Pandoc, a list needs a blank line before it, except in the item of another list.
	if ast.IsParagraph(last) && last.Parent() == parent && loose && parent.Kind() != ast.KindListItem {
		return nil, parser.NoChildren
	}

	node, state := p.BlockParser.Open(parent, asNumber{reader, m.listStyle}, pc)
	if list, ok := node.(*ast.List); ok {
		m.setOn(list, pc)
	}

	return node, state
}

// setOn sets the style of a list, the number of its first item, and the attributes for the style sheet.
func (m listMarker) setOn(list *ast.List, pc parser.Context) {
	list.SetAttributeString(styleAttribute, m.listStyle)

	switch m.kind {
	case '#':
		list.Start = 1
	case '@':
		list.Start = examplesOf(pc).count + 1
	default:
		list.Start = m.value
		if m.kind != '1' {
			list.SetAttributeString("type", []byte{m.kind})
		}
	}

	if m.shut == '.' {
		return
	}

	around := "parenthesis"
	if m.open != 0 {
		around = "parentheses"
	}
	tree.AddClass(list, around)
	// In HTML, the selectors [type=a] and [type=A] match the same lists.
	switch m.kind {
	case 'a':
		tree.AddClass(list, "lower-alpha")
	case 'A':
		tree.AddClass(list, "upper-alpha")
	case 'i':
		tree.AddClass(list, "lower-roman")
	case 'I':
		tree.AddClass(list, "upper-roman")
	}
}

// Continue lets goldmark's own parser continue the list, with its markers shown as numbers.
func (p fancyListParser) Continue(node ast.Node, reader text.Reader, pc parser.Context) parser.State {
	if style, ok := styleOf(node); ok {
		reader = asNumber{reader, style}
	}

	return p.BlockParser.Continue(node, reader, pc)
}

// fancyItemParser is goldmark's parser of list items with the markers of this package.
type fancyItemParser struct{ parser.BlockParser }

func (p fancyItemParser) Trigger() []byte { return listTriggers(p.BlockParser) }

// Open begins an item of such a list. An example counts up and records its label.
func (p fancyItemParser) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	style, ok := styleOf(parent)
	if !ok {
		return p.BlockParser.Open(parent, reader, pc)
	}
	line, _ := reader.PeekLine()

	m, ok := readMarker(line, style)
	if !ok || m.listStyle != style {
		return nil, parser.NoChildren
	}

	if e := examplesOf(pc); m.kind == '@' {
		e.count++
		if m.label != "" && e.labels[m.label] == 0 {
			e.labels[m.label] = e.count
		}
	}
	rest := line[m.end:]

	offset, _ := util.IndentWidth(rest, m.end)
	if offset > 4 { // indented code
		offset = 1
	}
	pos, padding := util.IndentPosition(rest, m.end, offset)
	reader.AdvanceAndSetPadding(m.end+pos, padding)

	return ast.NewListItem(m.end + offset), parser.HasChildren
}

// Continue lets goldmark's own parser continue the item, with the next marker shown as a number.
func (p fancyItemParser) Continue(node ast.Node, reader text.Reader, pc parser.Context) parser.State {
	if style, ok := styleOf(node.Parent()); ok {
		reader = asNumber{reader, style}
	}

	return p.BlockParser.Continue(node, reader, pc)
}

// asNumber is a reader that shows the markers of one style as numbers, and other markers as text. goldmark then
// continues a list only with markers of its style.
type asNumber struct {
	text.Reader
	style listStyle
}

// PeekLine returns the line with its marker replaced by "1", so that goldmark sees an item of the same list. A marker
// of another kind becomes text.
func (r asNumber) PeekLine() ([]byte, text.Segment) {
	line, segment := r.Reader.PeekLine()

	indent := len(line) - len(bytes.TrimLeft(line, " "))
	if indent > 3 || indent == len(line) {
		return line, segment
	}

	if m, ok := readMarker(line, r.style); ok && m.listStyle == r.style {
		return append(bytes.Repeat([]byte(" "), m.indent), '1', m.shut, ' ', 'x', '\n'), segment
	}

	// In this list, goldmark's own markers are text.
	if c := line[indent]; c >= '0' && c <= '9' || c == '-' || c == '+' || c == '*' {
		line = bytes.Clone(line)
		line[indent] = 'x'
	}

	return line, segment
}
