// Package math parses formulas in LaTeX: Formula within a paragraph, and Block on lines of its own. It does not typeset
// them: package markdown/formula does so and sets the Embed of each.
package math

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"presswork/internal/markdown/tree"
)

// Formula is a formula within a paragraph.
type Formula struct {
	ast.BaseInline
	// Source is the LaTeX without its delimiters.
	Source []byte
	// Display reports whether the formula is printed on a line of its own.
	Display bool
	// Offset is the offset of the opening delimiter in the source.
	Offset int
	// Embed is the number of its HTML in tree.Embeds, 0 if it could not be typeset.
	Embed int
	// Plain is the typeset formula as plain text, "" if it has parts above or below its line.
	Plain string
}

// Kind implements ast.Node.
func (*Formula) Kind() ast.NodeKind { return kindFormula }

// Dump implements ast.Node.
func (n *Formula) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

// IsDisplay returns Display, for packages that know formulas by an interface.
func (n *Formula) IsDisplay() bool { return n.Display }

// PlainText returns the text of the formula: Plain, or the LaTeX if Plain is "".
func (n *Formula) PlainText() string { return cmp.Or(n.Plain, string(n.Source)) }

// dollarKey is the key of the *dollars of the current block in a parser.Context.
var dollarKey = parser.NewContextKey()

// dollars holds the offsets in a block at which a formula may end. Without them, each opening dollar would search the
// rest of the block.
type dollars struct {
	block ast.Node
	// single, double and ticks are the offsets of $, $$ and `$.
	single, double, ticks []int
	// tickBefore and dollarBefore are the offsets of the last backtick and of the last single dollar
	// before each element of single.
	tickBefore, dollarBefore []int
}

// dollarParser parses $…$, $$…$$ and $`…`$. As in Pandoc, no space follows an opening single dollar. A closing one
// follows no space, and no digit follows it. There is no dollar between them. So $5 and $6 are prices.
type dollarParser struct{}

func (dollarParser) Trigger() []byte { return []byte{'$'} }

// Parse reads a formula within a paragraph: $x$, $`x`$ or $$x$$. Dollars that end no formula stay text.
func (dollarParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	run := len(line) - len(bytes.TrimLeft(line, "$"))
	at, from, to := segment.Start, 0, -1

	known, _ := pc.Get(dollarKey).(*dollars)
	if known == nil || known.block != parent {
		known = findDollars(parent, block.Source())
		pc.Set(dollarKey, known)
	}

	shut := run
	switch {
	case run == 1 && len(line) > 1 && line[1] == '`':
		from, shut = at+2, 2
		to = next(known.ticks, from+1)
	case run == 1 && len(line) > 1 && !startsWithSpace(line[1:]):
		from = at + 1

		i := sort.SearchInts(known.single, from+1)
		if i < len(known.single) && max(known.tickBefore[i], known.dollarBefore[i]) < from {
			to = known.single[i]
		}
	case run == 2:
		from = at + 2
		to = next(known.double, from+1)
	}

	if to < 0 {
		block.Advance(run)
		return ast.NewTextSegment(segment.WithStop(at + run))
	}

	source := between(parent.Lines(), block.Source(), from, to)
	if len(bytes.TrimSpace(source)) == 0 {
		block.Advance(run)
		return ast.NewTextSegment(segment.WithStop(at + run))
	}
	block.Advance(from - at + len(source) + shut)

	return &Formula{Source: source, Display: run == 2, Offset: at}
}

// next returns the first of the offsets that is not before from, -1 for none.
func next(offsets []int, from int) int {
	if i := sort.SearchInts(offsets, from); i < len(offsets) {
		return offsets[i]
	}

	return -1
}

// findDollars returns the offsets in a block at which a formula may end.
func findDollars(block ast.Node, source []byte) *dollars {
	d := &dollars{block: block}
	lastTick, lastDollar := -1, -1

	for _, s := range linesOf(block) {
		for at := s.Start; at < s.Stop; at++ {
			switch source[at] {
			case '\\':
				at++
				continue
			case '`':
				if at+1 < s.Stop && source[at+1] == '$' {
					d.ticks = append(d.ticks, at)
				}
				lastTick = at
				continue
			case '$':
			default:
				continue
			}

			run := at
			for at+1 < s.Stop && source[at+1] == '$' {
				at++
			}

			switch at - run {
			case 0:
				before, _ := utf8.DecodeLastRune(source[s.Start:run])
				// The rules for a closing dollar: see dollarParser.
				if run > s.Start && !unicode.IsSpace(before) &&
					(at+1 == len(source) || source[at+1] < '0' || source[at+1] > '9') {
					d.single = append(d.single, run)
					d.tickBefore = append(d.tickBefore, lastTick)
					d.dollarBefore = append(d.dollarBefore, lastDollar)
				}
				lastDollar = run
			case 1:
				d.double = append(d.double, run)
			}
		}
	}

	return d
}

// between returns the text of lines between two offsets of the source.
func between(lines *text.Segments, source []byte, from, to int) []byte {
	first := sort.Search(lines.Len(), func(i int) bool { return lines.At(i).Stop > from })
	var out []byte

	for i := first; i < lines.Len() && lines.At(i).Start < to; i++ {
		s := lines.At(i)
		out = append(out, source[max(s.Start, from):min(s.Stop, to)]...)
	}

	return out
}

// linesOf returns the lines of a block.
func linesOf(block ast.Node) []text.Segment {
	return block.Lines().Sliced(0, block.Lines().Len())
}

// startsWithSpace reports whether a text begins with white space, of any script.
func startsWithSpace(b []byte) bool {
	r, _ := utf8.DecodeRune(b)
	return unicode.IsSpace(r)
}

// Block is a formula on lines of its own: between $$ or \[…\], an environment, or the content of a
// ```math block.
type Block struct {
	ast.BaseBlock
	// Source is the LaTeX without its delimiters, but with \begin and \end.
	Source []byte
	// Offset is the offset of the opening delimiter in the source.
	Offset int
	// Embed is the number of its HTML in tree.Embeds, 0 if it could not be typeset.
	Embed int

	// end is the offset after the closing delimiter if the parser found it when it opened the block, else 0.
	end int
	// closed reports whether the lines so far include the closing delimiter.
	closed bool
	// bare reports whether the delimiters are part of the LaTeX: \begin and \end.
	bare bool
}

// Kind implements ast.Node.
func (*Block) Kind() ast.NodeKind { return kindBlock }

// IsRaw implements ast.Node.
func (*Block) IsRaw() bool { return true }

// Dump implements ast.Node.
func (n *Block) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

var (
	kindFormula = ast.NewNodeKind("Formula")
	kindBlock   = ast.NewNodeKind("Block")
)

// blockParser parses $$ … $$ on lines of their own. An unclosed formula ends at a blank line and becomes
// a paragraph.
type blockParser struct{}

func (blockParser) Trigger() []byte { return []byte{'$'} }

func (blockParser) CanInterruptParagraph() bool { return true }

func (blockParser) CanAcceptIndentedLine() bool { return false }

// Open reads "$$" at the beginning of a block.
func (blockParser) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()

	at := pc.BlockOffset()
	if at < 0 || !bytes.HasPrefix(line[at:], []byte("$$")) || closesParagraph(reader.Source(), pc) {
		return nil, parser.NoChildren
	}

	rest := bytes.TrimSpace(line[at+2:])
	if bytes.HasPrefix(rest, []byte("$")) {
		return nil, parser.NoChildren
	}
	n := &Block{Offset: segment.Start + at}

	if i := bytes.Index(rest, []byte("$$")); i >= 0 {
		// The inline parser reads a formula with more text on its line.
		if i != len(rest)-2 || i == 0 || rest[i-1] == '\\' {
			return nil, parser.NoChildren
		}
		n.closed = true
	}
	n.Lines().Append(segment.WithStart(segment.Start + at))
	reader.AdvanceToEOL()

	return n, parser.NoChildren
}

// openKey is the context key of the *openDollars of the current paragraph.
var openKey = parser.NewContextKey()

// openDollars counts the $$ in the first lines of a paragraph.
type openDollars struct {
	paragraph    ast.Node
	lines, count int // the lines that have been searched, and the $$ in them
}

// closesParagraph reports whether $$ at the start of a line ends a formula that the paragraph before it has begun.
func closesParagraph(source []byte, pc parser.Context) bool {
	paragraph, ok := pc.LastOpenedBlock().Node.(*ast.Paragraph)
	if !ok {
		return false
	}

	known, _ := pc.Get(openKey).(*openDollars)
	if known == nil || known.paragraph != paragraph {
		known = &openDollars{paragraph: paragraph}
		pc.Set(openKey, known)
	}

	for ; known.lines < paragraph.Lines().Len(); known.lines++ {
		s := paragraph.Lines().At(known.lines)
		known.count += bytes.Count(s.Value(source), []byte("$$"))
	}

	return known.count%2 == 1
}

// Continue accepts lines up to the closing "$$". A blank line ends the block without it.
func (blockParser) Continue(node ast.Node, reader text.Reader, _ parser.Context) parser.State {
	n := node.(*Block)

	line, segment := reader.PeekLine()
	if n.closed || len(bytes.TrimSpace(line)) == 0 {
		return parser.Close
	}
	n.Lines().Append(segment)
	reader.AdvanceToEOL()

	if n.end > 0 {
		n.closed = n.end <= segment.Stop
	} else if line = bytes.TrimSpace(line); bytes.HasSuffix(line, []byte("$$")) && !bytes.HasSuffix(line, []byte(`\$$`)) {
		n.closed = true
	}

	return parser.Continue | parser.NoChildren
}

// Close sets the source of the formula. A block without its closing "$$" becomes a paragraph.
func (blockParser) Close(node ast.Node, reader text.Reader, _ parser.Context) {
	n := node.(*Block)
	if !n.closed {
		paragraph := ast.NewParagraph()
		for _, s := range linesOf(n) {
			paragraph.Lines().Append(s.TrimLeftSpace(reader.Source()))
		}
		last := paragraph.Lines().At(paragraph.Lines().Len() - 1)
		paragraph.Lines().Set(paragraph.Lines().Len()-1, last.TrimRightSpace(reader.Source()))
		tree.Replace(n, paragraph)

		return
	}

	source := bytes.TrimSpace(tree.BlockText(n, reader.Source(), 0))
	if !n.bare {
		source = source[2 : len(source)-2]
	}
	n.Source = slices.Clone(source)
}
