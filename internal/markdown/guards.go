package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"presswork/internal/markdown/source"
)

// The guards wrap the parsers of goldmark and charge the budget for the work of each step. They do not change what
// the parsers return. Costs are in units of about 3 ns.
const (
	continueCost = 10  // for each open block on each line
	cellCost     = 150 // for each table cell, in time and memory
)

// guardBlocks wraps all block parsers, because any may open blocks with children.
func guardBlocks(list util.PrioritizedSlice) []util.PrioritizedValue {
	guarded := make([]util.PrioritizedValue, len(list))
	for i, v := range list {
		guarded[i] = util.Prioritized(containerGuard{v.Value.(parser.BlockParser)}, v.Priority)
	}

	return guarded
}

// guardInlines wraps the inline parsers that read runs of delimiters. They implement parser.DelimiterProcessor.
func guardInlines(list util.PrioritizedSlice) []util.PrioritizedValue {
	guarded := make([]util.PrioritizedValue, len(list))
	for i, v := range list {
		if _, delimiters := v.Value.(parser.DelimiterProcessor); delimiters {
			v = util.Prioritized(inlineGuard{v.Value.(parser.InlineParser)}, v.Priority)
		}
		guarded[i] = v
	}

	return guarded
}

// containerGuard wraps a block parser and bounds the nesting of blocks.
type containerGuard struct {
	parser.BlockParser
}

// Open ends the parse if the opened container is nested deeper than maxNesting.
func (g containerGuard) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	node, state := g.BlockParser.Open(parent, reader, pc)
	if node != nil && state&parser.HasChildren != 0 {
		budgetOf(pc).checkNesting(containers(pc.OpenedBlocks()) + 1)
	}

	return node, state
}

// Continue charges for each line of each open container: goldmark asks all open containers at every line.
func (g containerGuard) Continue(node ast.Node, reader text.Reader, pc parser.Context) parser.State {
	state := g.BlockParser.Continue(node, reader, pc)
	if state&parser.HasChildren != 0 {
		budgetOf(pc).spend(continueCost)
	}

	return state
}

// containers returns the number of levels that a reader sees in the open blocks: a list and its item are one level.
func containers(blocks []parser.Block) int {
	n := 0

	for _, b := range blocks {
		if _, item := b.Node.(*ast.ListItem); !item {
			n++
		}
	}

	return n
}

// paragraphGuard wraps a paragraph transformer and charges the result of cost before each paragraph.
type paragraphGuard struct {
	parser.ParagraphTransformer
	cost func(lines *text.Segments, source []byte) int
}

// Transform charges for a paragraph, then transforms it.
func (g paragraphGuard) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	budgetOf(pc).spend(g.cost(node.Lines(), reader.Source()))
	g.ParagraphTransformer.Transform(node, reader, pc)
}

// definitionsCost returns the cost of link definitions. goldmark removes each one from the start of the paragraph and
// moves the lines after it, so n lines cost n²/2.
func definitionsCost(lines *text.Segments, source []byte) int {
	if n := lines.Len(); n > 0 {
		first := lines.At(0)
		if bytes.HasPrefix(bytes.TrimLeft(first.Value(source), " "), []byte("[")) {
			return n * n / 2
		}
	}

	return 0
}

// tableCost returns the cost of a table. goldmark fills short rows to the width of the head: a wide head with many
// short rows takes far more memory than its source.
func tableCost(lines *text.Segments, source []byte) int {
	if lines.Len() < 2 {
		return 0
	}

	rule := lines.At(1)
	if len(bytes.Trim(rule.Value(source), "|:- \t\r\n")) > 0 {
		return 0
	}

	return lines.Len() * (bytes.Count(rule.Value(source), []byte("|")) + 1) * cellCost
}

// inlineGuard wraps an inline parser. It keeps lists of open delimiters and brackets like those of goldmark, to charge
// for goldmark's searches in them.
type inlineGuard struct {
	parser.InlineParser
}

// Parse charges for the work of an inline parser, and skips work whose result is known.
func (g inlineGuard) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	b := budgetOf(pc)
	b.enterBlock(parent)

	line, segment := block.PeekLine()
	switch {
	case line[0] == ']':
		b.spendOnLink(line, segment, parent)
	case line[0] == '~' && block.PrecendingCharacter() == '~':
		return nil // goldmark returns the same after reading the run again
	}
	first, siblings := pc.FirstDelimiter(), parent.ChildCount()

	node := g.InlineParser.Parse(parent, block, pc)
	// A reference link, and a closing bracket that ends no link, make goldmark read a label.
	if link, ok := node.(*ast.Link); line[0] == ']' && (node == nil || ok && link.Reference != nil) {
		b.spend(labelCost(parent))
	}

	switch n := node.(type) {
	case nil:
	case *parser.Delimiter:
		b.pushMark(mark{
			char: n.Char, canOpen: n.CanOpen, canClose: n.CanClose,
			length: n.Length, original: n.OriginalLength, offset: n.Segment.Start,
		})
	case *ast.Link, *ast.Image:
		b.dropMarksFrom(n.Pos())
		// With delimiters in the link and none before it, goldmark walks back to the start of the block.
		if first != nil && first.Segment.Start >= n.Pos() {
			b.spend(3 * siblings)
		}
	default:
		if line[0] == '[' || line[0] == '!' {
			b.brackets = append(b.brackets, segment.Start)
			b.checkOpen(len(b.brackets))
		}
	}

	return node
}

// CloseBlock forwards the call to parsers that have this method, such as the link parser.
func (g inlineGuard) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	if c, ok := g.InlineParser.(parser.CloseBlocker); ok {
		c.CloseBlock(parent, block, pc)
	}
}

// labelCost returns the cost of reading a link label: goldmark searches for it from the first line of the block.
func labelCost(block ast.Node) int { return block.Lines().Len() / 2 }

// codeGuard wraps the parser of code spans. Goldmark searches the rest of the block for each run of backticks
// without a match. The guard finds those runs in one pass over the block.
type codeGuard struct {
	parser.InlineParser
}

// Parse passes a run of backticks to goldmark only if a run of the same length follows. Any other run becomes text,
// which is also goldmark's result.
func (g codeGuard) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	b := budgetOf(pc)
	if b.ticksOf != parent {
		b.ticksOf, b.ticks = parent, lastTicks(parent.Lines(), block.Source())
	}
	line, segment := block.PeekLine()

	run := len(line) - len(bytes.TrimLeft(line, "`"))
	if b.ticks[run] <= segment.Start {
		block.Advance(run)
		return ast.NewTextSegment(segment.WithStop(segment.Start + run))
	}

	return g.InlineParser.Parse(parent, block, pc)
}

// lastTicks returns, for each length of a run of backticks, the offset of the last such run in a block.
func lastTicks(lines *text.Segments, source []byte) map[int]int {
	last := map[int]int{}

	for i := range lines.Len() {
		s := lines.At(i)
		for at := s.Start; at < s.Stop; at++ {
			if source[at] != '`' {
				continue
			}

			start := at
			for at < s.Stop && source[at] == '`' {
				at++
			}
			last[at-start] = start
		}
	}

	return last
}

// checkOpen ends the parse if too many marks or brackets wait for their match.
func (b *budget) checkOpen(n int) {
	if n > maxOpen {
		panic(stopParsing{source.TooComplex(
			"one paragraph of the Markdown holds over %d unmatched *, _ or [", maxOpen)})
	}
}

// enterBlock drops the marks and brackets of the previous block.
func (b *budget) enterBlock(block ast.Node) {
	if b.block != block {
		b.block, b.marks, b.brackets = block, b.marks[:0], b.brackets[:0]
	}
}

// pushMark adds a run of delimiters. It matches the run with earlier ones as goldmark does, two delimiters at a time
// for strong emphasis, and charges for goldmark's steps.
func (b *budget) pushMark(m mark) {
	for m.canClose && m.length > 0 {
		at := b.findOpener(m)
		if at < 0 {
			break
		}
		o := &b.marks[at]

		n := 1
		if o.length >= 2 && m.length >= 2 {
			n = 2
		}
		o.length -= n
		m.length -= n

		b.marks = b.marks[:at+1]
		if o.length == 0 {
			b.marks = b.marks[:at]
		}
	}
	// Goldmark may drop an unmatched mark. Keeping it charges at least as much.
	if m.length > 0 {
		b.marks = append(b.marks, m)
		b.checkOpen(len(b.marks))
	}
}

// findOpener returns the index of the last mark that m closes, -1 if there is none. It charges for each mark that
// goldmark compares.
func (b *budget) findOpener(m mark) int {
	for i := len(b.marks) - 1; i >= 0; i-- {
		o := &b.marks[i]
		if !o.canOpen || o.char != m.char {
			continue
		}

		// The rule of three in the specification of CommonMark.
		if (o.canClose || m.canOpen) && (o.original+m.original)%3 == 0 && m.original%3 != 0 {
			continue
		}
		b.spend(len(b.marks) - i)

		return i
	}
	b.spend(len(b.marks))

	return -1
}

// dropMarksFrom drops the marks within a finished link, which begins at offset.
func (b *budget) dropMarksFrom(offset int) {
	n := len(b.marks)
	for n > 0 && b.marks[n-1].offset >= offset {
		n--
	}
	// Goldmark walks back over the nodes of the block to find the start of the link.
	b.spend(len(b.marks) - n)
	b.marks = b.marks[:n]
}

// spendOnLink charges for what goldmark reads at a closing bracket: the text since the opening bracket, and the
// address, title or label after it.
func (b *budget) spendOnLink(line []byte, at text.Segment, block ast.Node) {
	n := len(b.brackets)
	if n == 0 {
		return
	}
	b.spend((at.Start - b.brackets[n-1]) / 2)
	b.brackets = b.brackets[:n-1]

	if len(line) < 2 {
		return
	}

	rest := line[1:]
	switch rest[0] {
	case '(':
		address := bytes.TrimLeft(rest[1:], " \t\n")

		end := bytes.IndexAny(address, " \t\n")
		if bytes.HasPrefix(address, []byte("<")) {
			end = bytes.IndexByte(address, '>')
		}

		if end < 0 {
			end = len(address)
		}
		b.spend(end * 2)

		if title := bytes.TrimLeft(address[end:], "> \t\n"); len(title) > 0 &&
			bytes.IndexByte([]byte(`"'(`), title[0]) >= 0 {
			closing := title[0]
			if closing == '(' {
				closing = ')'
			}
			b.spendUntil(title[1:], closing, at, block)
		}
	case '[':
		b.spendUntil(rest[1:], ']', at, block)
	}
}

// spendUntil charges for the search for a byte. The search ends at the byte if this line has it, else at the end of the
// block.
func (b *budget) spendUntil(line []byte, closing byte, at text.Segment, block ast.Node) {
	if i := bytes.IndexByte(line, closing); i >= 0 {
		b.spend(i * 2)
		return
	}

	if lines := block.Lines(); lines != nil && lines.Len() > 0 {
		b.spend(max(0, lines.At(lines.Len()-1).Stop-at.Start) * 2)
	}
}
