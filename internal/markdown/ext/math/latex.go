package math

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/tree"
)

// This file has the formulas in LaTeX's own delimiters: \(…\) and \[…\] in text, \[…\] and environments
// on lines of their own. In CommonMark, \( and \[ are an escaped parenthesis and an escaped bracket.
// Programs that write Markdown escape both often, so only a text that looks like a formula is one.

// bracketKey is the key of the *brackets of the current block in a parser.Context.
var bracketKey = parser.NewContextKey()

// brackets holds the offsets of the escaped brackets of a block, by the bracket.
type brackets struct {
	block ast.Node
	at    map[byte][]int
}

// escapeParser parses \(…\), \[…\] and environments in text. After a letter they are escaped brackets: file\(s\).
type escapeParser struct{}

func (escapeParser) Trigger() []byte { return []byte{'\\'} }

// Parse reads \(…\), \[…\] and environments within a paragraph.
func (escapeParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	if name := environment().FindSubmatch(line); name != nil {
		return parseEnvironment(parent, block, string(name[1]), pc)
	}

	if len(line) < 2 || line[1] != '(' && line[1] != '[' || tree.IsASCIIWord(block.PrecendingCharacter()) {
		return nil
	}

	known, _ := pc.Get(bracketKey).(*brackets)
	if known == nil || known.block != parent {
		known = findBrackets(parent, block.Source())
		pc.Set(bracketKey, known)
	}
	open, shut := line[1], closing(line[1])
	from := segment.Start + 2
	to := next(known.at[shut], from)
	// Formulas do not nest. This rule also keeps \(\(\(… from taking quadratic time.
	if again := next(known.at[open], from); to < 0 || again >= 0 && again < to {
		return nil
	}

	source := between(parent.Lines(), block.Source(), from, to)
	if !looksLikeFormula(source, open == '(') {
		return nil
	}
	block.Advance(2 + len(source) + 2)

	return &Formula{Source: source, Display: open == '[', Offset: segment.Start}
}

// endsKey is the context key of the *environmentEnds of the current block.
var endsKey = parser.NewContextKey()

// environmentEnds holds the offsets after each \end{name} of a block, by the name. Without it, each \begin would search
// the rest of the block.
type environmentEnds struct {
	block ast.Node
	of    map[string][]int
}

// environmentEnd matches the end of an environment.
var environmentEnd = lazyregexp.New(`\\end\{([A-Za-z]+\*?)\}`)

// parseEnvironment parses an environment that begins within a line of text.
func parseEnvironment(parent ast.Node, block text.Reader, name string, pc parser.Context) ast.Node {
	_, segment := block.PeekLine()

	known, _ := pc.Get(endsKey).(*environmentEnds)
	if known == nil || known.block != parent {
		known = &environmentEnds{block: parent, of: map[string][]int{}}
		for _, s := range linesOf(parent) {
			for _, m := range environmentEnd().FindAllSubmatchIndex(s.Value(block.Source()), -1) {
				ended := string(block.Source()[s.Start+m[2] : s.Start+m[3]])
				known.of[ended] = append(known.of[ended], s.Start+m[1])
			}
		}
		pc.Set(endsKey, known)
	}

	// The search begins after \begin{name}. An \end right before it would give an empty formula, and goldmark would call
	// this parser forever at the same place.
	to := next(known.of[name], segment.Start+len(`\begin{}`)+len(name))
	if to < 0 {
		return nil
	}
	source := between(parent.Lines(), block.Source(), segment.Start, to)
	block.Advance(len(source))

	return &Formula{Source: source, Display: true, Offset: segment.Start}
}

// closing returns the closing bracket for an opening one, ( or [.
func closing(open byte) byte {
	if open == '(' {
		return ')'
	}

	return ']'
}

// findBrackets returns the escaped brackets of a block.
func findBrackets(block ast.Node, source []byte) *brackets {
	b := &brackets{block: block, at: map[byte][]int{}}
	for _, s := range linesOf(block) {
		for at := s.Start; at+1 < s.Stop; at++ {
			if source[at] == '\\' {
				if c := source[at+1]; c == '(' || c == ')' || c == '[' || c == ']' {
					b.at[c] = append(b.at[c], at)
				}
				at++
			}
		}
	}

	return b
}

var (
	// latexCommand matches a command, latexEscape an escaped character, and latexSign a character of formulas.
	latexCommand = lazyregexp.New(`\\[A-Za-z]`)
	latexEscape  = lazyregexp.New(`(?s)\\[^A-Za-z]`)
	latexSign    = lazyregexp.New(`[\^_=<>+{}]`)
	// prose matches two words in a row, and letters of scripts that formulas do not use.
	prose = lazyregexp.New(`\pL{2}\s+\pL{2}|[\x{400}-\x{1CFF}\x{2E80}-\x{10FFFF}]`)
	// usage matches the options in the usage line of a command: [--size=<n>].
	usage = lazyregexp.New(`--|<\pL[\pL\pN_-]*>|>\s*$|^\s*\^`)
	// clearSign matches the signs in places where only formulas have them. Text with a word needs one:
	// [user_name=x] is code.
	clearSign = lazyregexp.New(`\s[=<>+]\s|[\^_]\{|[\pL\pN)]\^`)
	// someWord matches three letters in a row: names of variables are shorter.
	someWord  = lazyregexp.New(`\pL{3}`)
	anyLetter = lazyregexp.New(`\pL`)
)

// looksLikeFormula reports whether the text between brackets is a formula. It needs a command such as \frac, or a
// latexSign and no words. If short is set, a variable or an expression such as f(n-1) is enough.
func looksLikeFormula(source []byte, short bool) bool {
	source = latexEscape().ReplaceAll(source, []byte("."))
	switch {
	case bytes.IndexByte(source, '`') >= 0:
		return false
	case latexCommand().Match(source):
		return true
	case prose().Match(source) || usage().Match(source) || !anyLetter().Match(source):
		return false
	case someWord().Match(source):
		return clearSign().Match(source)
	}

	return short || latexSign().Match(source)
}

// environment matches the start of an environment. Its group is the name.
var environment = lazyregexp.New(
	`^\\begin\{((?:align|alignat|equation|gather|multline)\*?|` +
		`aligned|alignedat|gathered|split|[dr]?cases|[pbBvV]?matrix|array|CD)\}`,
)

// futileKey is the context key of a map from closing delimiters to offsets. Up to the offset, the block parser has
// found no such delimiter.
var futileKey = parser.NewContextKey()

// latexBlockParser parses \[ … \] and environments such as \begin{align} on lines of their own. A formula contains no
// blank line.
type latexBlockParser struct{ blockParser }

func (latexBlockParser) Trigger() []byte { return []byte{'\\'} }

// Open reads a formula in \[…\] or an environment that begins a block.
func (latexBlockParser) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()

	at := pc.BlockOffset()
	if at < 0 {
		return nil, parser.NoChildren
	}

	shut, name := []byte(`\]`), environment().FindSubmatch(line[at:])
	switch {
	case name != nil:
		shut = []byte(`\end{` + string(name[1]) + "}")
	case !bytes.HasPrefix(line[at:], []byte(`\[`)):
		return nil, parser.NoChildren
	}

	futile, _ := pc.Get(futileKey).(map[string]int)
	if futile == nil {
		futile = map[string]int{}
		pc.Set(futileKey, futile)
	}

	from := segment.Start + at
	if from < futile[string(shut)] {
		return nil, parser.NoChildren
	}
	source := reader.Source()

	end, found := endOfFormula(source, from+2, shut)
	if !found {
		futile[string(shut)] = end
		return nil, parser.NoChildren
	}

	if name == nil && !looksLikeFormula(source[from+2:end-2], false) {
		return nil, parser.NoChildren
	}
	n := &Block{Offset: from, end: end, bare: name != nil, closed: end <= segment.Stop}
	n.Lines().Append(segment.WithStart(from))
	reader.AdvanceToEOL()

	return n, parser.NoChildren
}

// endOfFormula returns the offset after the closing delimiter. found is false if text follows the delimiter on its
// line, or if a blank line comes before it. end is then the offset where the search stopped.
func endOfFormula(source []byte, from int, shut []byte) (end int, found bool) {
	for first := true; from < len(source); first = false {
		stop := len(source)
		if i := bytes.IndexByte(source[from:], '\n'); i >= 0 {
			stop = from + i + 1
		}

		if len(bytes.Trim(source[from:stop], "> \t\n")) == 0 && !first {
			return stop, false
		}

		for at := from; at < stop; at++ {
			if source[at] != '\\' {
				continue
			}

			if bytes.HasPrefix(source[at:stop], shut) {
				end = at + len(shut)
				return end, len(bytes.TrimSpace(source[end:stop])) == 0
			}
			at++
		}
		from = stop
	}

	return len(source), false
}
