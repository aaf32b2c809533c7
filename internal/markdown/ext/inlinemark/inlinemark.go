// Package inlinemark reads ==marked==, ++inserted++, x^2^ and H~2~O.
package inlinemark

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"presswork/internal/markdown/tree"
)

// maxScript is the longest raised or lowered text, in bytes.
const maxScript = 200

// scriptParser parses H~2~O and x^2^. The text has no spaces. Lowered text must follow a word, because GitHub strikes
// ~this~ out.
type scriptParser struct{}

func (scriptParser) Trigger() []byte { return []byte{'~', '^'} }

// Parse reads H~2~O and x^2^. The text between the signs is one short word without markup.
func (scriptParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, segment := block.PeekLine()

	char, before := line[0], block.PrecendingCharacter()
	// A doubled character belongs to ~~struck out~~ text.
	if before == rune(char) ||
		char == '~' && (util.IsSpaceRune(before) || util.IsPunctRune(before) && before != ')' && before != ']') {
		return nil
	}
	inside := line[1:min(len(line), maxScript)]

	end := bytes.IndexAny(inside, "~^ \t\n`[]<>\\")
	if end < 1 || inside[end] != char || end+1 < len(inside) && inside[end+1] == char {
		return nil
	}
	tag := map[byte]string{'~': "sub", '^': "sup"}[char]
	n := &tree.Element{Tag: tag}
	n.AppendChild(n, ast.NewTextSegment(text.NewSegment(segment.Start+1, segment.Start+1+end)))
	block.Advance(end + 2)

	return n
}

// markParser parses ==marked== and ++inserted++. A mark does not open after a Latin letter or a digit, and does not
// close before one: C++17 and a==b are common.
type markParser struct {
	char byte   // of which two are the mark
	tag  string // the name of the HTML element
}

func (p markParser) Trigger() []byte { return []byte{p.char} }

// Parse reads the signs of ==marked== and ++inserted++ text.
func (p markParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()

	before := block.PrecendingCharacter()
	// The run must have exactly two signs.
	if len(line) < 2 || line[1] != line[0] || before == rune(line[0]) || len(line) > 2 && line[2] == line[0] {
		return nil
	}

	// The rules of CommonMark for delimiter runs apply. Goldmark matches the delimiters later.
	d := parser.ScanDelimiter(line, before, 2, p)
	if d == nil {
		return nil
	}

	if tree.IsASCIIWord(before) {
		d.CanOpen = false
	}

	if len(line) > 2 && tree.IsASCIIWord(rune(line[2])) {
		d.CanClose = false
	}

	if !d.CanOpen && !d.CanClose {
		return nil
	}
	d.Segment = segment.WithStop(segment.Start + 2)
	block.Advance(2)
	pc.PushDelimiter(d)

	return d
}

func (p markParser) IsDelimiter(c byte) bool { return c == p.char }

func (p markParser) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char
}

func (p markParser) OnMatch(int) ast.Node { return &tree.Element{Tag: p.tag} }
