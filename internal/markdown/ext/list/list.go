// Package list reads ordered lists with letters, Roman numerals and parentheses.
package list

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"presswork/internal/markdown/tree"
)

// Extension reads the markers of ordered lists beyond plain Markdown's, and numbered
// examples.
type Extension struct {
	// Enabled reports whether a document has such lists.
	Enabled func(parser.Context) bool
	// Loose reports whether one item makes a list and a list does not interrupt a
	// paragraph, as in Pandoc.
	Loose func(parser.Context) bool
}

// Extend implements goldmark.Extender.
func (e Extension) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(
		parser.WithBlockParsers(
			util.Prioritized(fancyListParser{parser.NewListParser(), e}, 300),
			util.Prioritized(fancyItemParser{parser.NewListItemParser()}, 400),
		),
		parser.WithInlineParsers(util.Prioritized(exampleParser{}, 110)),
	)
}

// listStyle is how the items of an ordered list are marked, beyond the numbers of
// plain Markdown: a. A) (i) (1) #. and the numbered examples of Pandoc, (@) and
// (@label), which are counted through the document.
type listStyle struct {
	// kind is what is counted with: a A i I 1 # or @.
	kind byte
	// open and shut stand around it; open may be 0.
	open, shut byte
}

// styled is the attribute of a list of ours, which is not rendered.
const styled = "marker"

func styleOf(n ast.Node) (listStyle, bool) {
	v, _ := n.AttributeString(styled)
	s, ok := v.(listStyle)

	return s, ok
}

// listMarker is a marker at the start of a line.
type listMarker struct {
	listStyle
	value int
	label string
	// indent is how many spaces stand before it, end is where it ends.
	indent, end int
}

// readMarker reads a marker of ours and the space behind it; a letter that may be a
// Roman number is read as the list has it, or as one if there is no list.
func readMarker(line []byte, within listStyle) (m listMarker, ok bool) {
	i := 0
	for i < len(line) && line[i] == ' ' {
		i++
	}

	if m.indent = i; i > 3 || i+2 >= len(line) {
		return m, false
	}

	if line[i] == '(' {
		m.open = '('
		i++
	}
	const longest = 40

	size := bytes.IndexAny(line[i:min(len(line), i+longest)], ".) \t\n")
	if size < 1 || line[i+size] != '.' && line[i+size] != ')' {
		return m, false
	}
	word := line[i : i+size]

	m.shut, m.end = line[i+size], i+size+1
	if m.open != 0 && m.shut != ')' || m.end >= len(line) || line[m.end] != ' ' && line[m.end] != '\t' ||
		util.IsBlank(line[m.end:]) {
		return m, false
	}

	return m, m.read(word, within.kind)
}

// read reads what is counted with.
func (m *listMarker) read(word []byte, kind byte) bool {
	switch c := word[0]; {
	case c == '@':
		m.kind, m.label = '@', string(word[1:])
		return m.open != 0 && (m.label == "" || tree.IsName(m.label, true, "-"))
	case c == '#':
		m.kind = '#'
		return len(word) == 1 && m.open == 0
	case c >= '0' && c <= '9':
		m.kind = '1'
		n, err := strconv.Atoi(string(word))
		m.value = n

		return m.open != 0 && err == nil && len(word) <= 9
	case kind != 'a' && kind != 'A' && (len(word) > 1 || c == 'i' || c == 'I' || kind == 'i' || kind == 'I'):
		m.kind, m.value = 'i', roman(word)
		if c < 'a' {
			m.kind, m.value = 'I', roman(bytes.ToLower(word))
		}

		return m.value > 0 && m.value < 4000 && writeRoman(m.value) == strings.ToLower(string(word)) && sameCase(word)
	case len(word) == 1 && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'):
		m.kind = 'a'
		if c < 'a' {
			m.kind = 'A'
		}
		m.value = int(c|0x20-'a') + 1

		return true
	}

	return false
}

func sameCase(word []byte) bool {
	return bytes.Equal(word, bytes.ToLower(word)) || bytes.Equal(word, bytes.ToUpper(word))
}

// roman reads a number of small letters, 0 if it is none.
func roman(word []byte) (n int) {
	values := map[byte]int{'i': 1, 'v': 5, 'x': 10, 'l': 50, 'c': 100, 'd': 500, 'm': 1000}
	for i, c := range word {
		v := values[c]
		if v == 0 || len(word) > 15 {
			return 0
		}

		if i+1 < len(word) && v < values[word[i+1]] {
			v = -v
		}
		n += v
	}

	return n
}

func writeRoman(n int) string {
	var b strings.Builder

	for _, r := range []struct {
		value int
		text  string
	}{{1000, "m"}, {900, "cm"}, {500, "d"}, {400, "cd"}, {100, "c"}, {90, "xc"}, {50, "l"}, {40, "xl"}, {10, "x"}, {9, "ix"}, {5, "v"}, {4, "iv"}, {1, "i"}} {
		for ; n >= r.value; n -= r.value {
			b.WriteString(r.text)
		}
	}

	return b.String()
}

// exampleCount is the numbered examples of a document.
type exampleCount struct {
	count  int
	labels map[string]int
}

var examplesKey = parser.NewContextKey()

func examplesOf(pc parser.Context) *exampleCount {
	e, _ := pc.Get(examplesKey).(*exampleCount)
	if e == nil {
		e = &exampleCount{labels: map[string]int{}}
		pc.Set(examplesKey, e)
	}

	return e
}

// follows reports whether the marker that comes after m stands on one of the next
// lines, at about the same indent and behind nothing but what belongs to the item:
// "a. Smith" alone is no list.
func (m listMarker) follows(rest []byte) bool {
	const most, within = 4000, 3 // bytes; spaces
	blank := false

	for line := range bytes.Lines(rest[:min(len(rest), most)]) {
		inner := bytes.TrimLeft(line, " \t>")
		if util.IsBlank(inner) {
			blank = true
			continue
		}

		if next, ok := readMarker(inner, m.listStyle); ok && next.listStyle == m.listStyle {
			return next.value == m.value+1
		}

		if blank && len(line)-len(inner) <= m.indent+1 {
			return false
		}
		blank = false
	}

	return false
}

// fancyListParser is goldmark's parser of lists, which takes the markers of ours
// for numbers.
type fancyListParser struct {
	parser.BlockParser
	Extension
}

// listTriggers are the characters that markers begin with, goldmark's and ours.
func listTriggers(of parser.BlockParser) []byte {
	triggers := append(bytes.Clone(of.Trigger()), "(#"...)
	for c := byte('a'); c <= 'z'; c++ {
		triggers = append(triggers, c, c-'a'+'A')
	}

	return triggers
}

func (p fancyListParser) Trigger() []byte { return listTriggers(p.BlockParser) }

func (p fancyListParser) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	if c := line[max(pc.BlockOffset(), 0)]; c == '-' || c == '+' || c == '*' || c >= '0' && c <= '9' {
		return p.BlockParser.Open(parent, reader, pc)
	}
	loose := p.Loose(pc)

	m, ok := readMarker(line, listStyle{})
	if !ok && loose { // not a Roman number, but a letter
		m, ok = readMarker(line, listStyle{kind: 'a'})
	}

	if !ok || !p.Enabled(pc) {
		return nil, parser.NoChildren
	}

	if number, ok := readMarker(
		line,
		listStyle{kind: 'i'},
	); ok && loose &&
		number.follows(reader.Source()[segment.Stop:]) {
		m = number
	}
	// Within a list the line is its next item's, which goldmark wants to be asked.
	last := pc.LastOpenedBlock().Node

	if _, within := parent.(*ast.List); !within && !m.begins(line, reader.Source()[segment.Stop:], loose) {
		return nil, parser.NoChildren
	}

	if ast.IsParagraph(last) && last.Parent() == parent && loose && parent.Kind() != ast.KindListItem {
		return nil, parser.NoChildren
	}

	node, state := p.BlockParser.Open(parent, asNumber{reader, m.listStyle}, pc)
	if list, ok := node.(*ast.List); ok {
		m.mark(list, pc)
	}

	return node, state
}

// begins reports whether a list begins with the marker of a line, rather than a
// sentence. Pandoc wants two spaces behind what could be a name's initial.
func (m listMarker) begins(line, rest []byte, loose bool) bool {
	switch {
	case m.kind == '#', m.kind == '@' && (m.label == "" || loose):
		return true
	case m.kind == '@':
		return false
	}
	initial := m.kind == 'A' && m.shut == '.' && line[m.end] == ' ' && line[m.end+1] != ' '

	return loose && !initial || m.value == 1 && m.follows(rest)
}

// mark gives a list its style.
func (m listMarker) mark(list *ast.List, pc parser.Context) {
	list.SetAttributeString(styled, m.listStyle)

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
	// Chromium's selectors do not tell type=a from type=A.
	if name := map[byte]string{'a': "lower-alpha", 'A': "upper-alpha", 'i': "lower-roman", 'I': "upper-roman"}[m.kind]; name != "" {
		tree.AddClass(list, name)
	}
}

func (p fancyListParser) Continue(node ast.Node, reader text.Reader, pc parser.Context) parser.State {
	if style, ok := styleOf(node); ok {
		reader = asNumber{reader, style}
	}

	return p.BlockParser.Continue(node, reader, pc)
}

// fancyItemParser is goldmark's parser of list items, with the markers of ours.
type fancyItemParser struct{ parser.BlockParser }

func (p fancyItemParser) Trigger() []byte { return listTriggers(p.BlockParser) }

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

func (p fancyItemParser) Continue(node ast.Node, reader text.Reader, pc parser.Context) parser.State {
	if style, ok := styleOf(node.Parent()); ok {
		reader = asNumber{reader, style}
	}

	return p.BlockParser.Continue(node, reader, pc)
}

// asNumber shows markers of a style as numbers, and numbers as text.
type asNumber struct {
	text.Reader
	style listStyle
}

func (r asNumber) PeekLine() ([]byte, text.Segment) {
	line, segment := r.Reader.PeekLine()

	indent := len(line) - len(bytes.TrimLeft(line, " "))
	if indent > 3 || indent == len(line) {
		return line, segment
	}

	if m, ok := readMarker(line, r.style); ok && m.listStyle == r.style {
		return append(bytes.Repeat([]byte(" "), m.indent), '1', m.shut, ' ', 'x', '\n'), segment
	}

	if c := line[indent]; c >= '0' && c <= '9' || c == '-' || c == '+' || c == '*' {
		line = bytes.Clone(line)
		line[indent] = 'x'
	}

	return line, segment
}

// exampleParser parses references to numbered examples: (@label).
type exampleParser struct{}

func (exampleParser) Trigger() []byte { return []byte{'('} }

func (exampleParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, _ := block.PeekLine()
	if len(line) < 4 || line[1] != '@' {
		return nil
	}
	end := bytes.IndexByte(line[:min(len(line), 40)], ')')

	e, _ := pc.Get(examplesKey).(*exampleCount)
	if end < 0 || e == nil || e.labels[string(line[2:end])] == 0 {
		return nil
	}
	block.Advance(end + 1)

	return ast.NewString([]byte("(" + strconv.Itoa(e.labels[string(line[2:end])]) + ")"))
}
