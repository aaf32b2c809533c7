// Package abbreviation reads the abbreviations of PHP Markdown Extra: *[HTML]: Hyper Text Markup Language. A paragraph
// transformer collects the definitions, and a transformer of the tree marks the abbreviations in the text.
package abbreviation

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"presswork/internal/markdown/tree"
)

const (
	// maxAbbreviations is the largest number of definitions. Further ones are ignored.
	maxAbbreviations = 1000
	// maxShort and maxLong are the longest abbreviation and explanation, in bytes.
	maxShort = 60
	maxLong  = 300
	// maxLookups bounds the steps in the tree of abbreviations, for all texts of a document.
	maxLookups = 20_000_000
	// maxTitles bounds the size of the title attributes of a document, in bytes: a text may have one abbreviation a
	// million times. Further occurrences are not marked.
	maxTitles = 2 << 20
)

// abbreviationsKey is the key of the *abbreviations in a parser.Context.
var abbreviationsKey = parser.NewContextKey()

// abbreviations holds the definitions of a document as a tree of bytes.
type abbreviations struct {
	root    letter
	count   int // the definitions
	lookups int // the steps so far, up to maxLookups
	titles  int // the size of the titles so far, up to maxTitles
}

// letter is a node of the tree.
type letter struct {
	next map[byte]*letter // nil at the end of all abbreviations that lead here
	// long is the explanation of the abbreviation that ends here, "" for none.
	long string
	// used reports whether the abbreviation has occurred in the text.
	used bool
}

// define adds a definition. The first definition of an abbreviation counts.
func (a *abbreviations) define(short, long string) {
	if a.count == maxAbbreviations {
		return
	}

	at := &a.root
	for i := range len(short) {
		if at.next == nil {
			at.next = map[byte]*letter{}
		}

		if at.next[short[i]] == nil {
			at.next[short[i]] = &letter{}
		}
		at = at.next[short[i]]
	}

	if at.long == "" {
		at.long = long
		a.count++
	}
}

// longest returns the longest abbreviation at the start of text that ends where a word ends, and its length. It returns
// nil for none.
func (a *abbreviations) longest(text []byte) (found *letter, size int) {
	at := &a.root
	for i := 0; i < len(text) && at.next != nil; i++ {
		if a.lookups++; a.lookups > maxLookups {
			return nil, 0
		}

		if at = at.next[text[i]]; at == nil {
			break
		}

		if at.long != "" && endsWord(text[i+1:]) {
			found, size = at, i+1
		}
	}

	return found, size
}

// endsWord reports whether a word ends before rest.
func endsWord(rest []byte) bool {
	r, _ := utf8.DecodeRune(rest)
	return len(rest) == 0 || !isWordRune(r)
}

// isWordRune reports whether a character is part of a word.
func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// abbreviationTransformer removes the definitions from paragraphs.
type abbreviationTransformer struct{}

// Transform removes the definitions, "*[PDF]: meaning", from a paragraph and records them.
func (abbreviationTransformer) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines, kept := node.Lines(), 0
	for i := range lines.Len() {
		line := lines.At(i)

		short, long := readAbbreviation(line.Value(reader.Source()))
		if short == "" {
			lines.Set(kept, line)
			kept++
			continue
		}

		a, _ := pc.Get(abbreviationsKey).(*abbreviations)
		if a == nil {
			a = &abbreviations{}
			pc.Set(abbreviationsKey, a)
		}
		a.define(short, long)
	}
	lines.SetSliced(0, kept)

	if kept == 0 {
		node.Parent().RemoveChild(node.Parent(), node)
	}
}

// readAbbreviation reads a definition. It returns "" for any other line.
func readAbbreviation(line []byte) (short, long string) {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(line, " "), []byte("*["))
	if !ok {
		return "", ""
	}

	end := bytes.Index(rest, []byte("]:"))
	if end < 1 || end > maxShort || bytes.ContainsAny(rest[:end], "[]") {
		return "", ""
	}

	explained := bytes.TrimSpace(rest[end+2:])
	if len(explained) == 0 || len(explained) > maxLong {
		return "", ""
	}

	return string(bytes.TrimSpace(rest[:end])), string(explained)
}

// abbreviationMarker replaces the abbreviations in the text by abbr elements.
type abbreviationMarker struct{}

// Transform marks the abbreviations in all texts except code and images.
func (abbreviationMarker) Transform(root *ast.Document, reader text.Reader, pc parser.Context) {
	a, _ := pc.Get(abbreviationsKey).(*abbreviations)
	if a == nil {
		return
	}
	// Marking changes the tree, so collect the texts before.
	var texts []*ast.Text
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering && !t.IsRaw() {
			texts = append(texts, t)
		}

		if n.Kind() == ast.KindCodeSpan || n.Kind() == ast.KindImage {
			return ast.WalkSkipChildren, nil
		}

		return ast.WalkContinue, nil
	})

	for _, t := range texts {
		a.mark(t, reader.Source())
	}
}

// mark splits a text at its abbreviations. The first occurrence of each gets the class "abbr-first": the style sheet
// prints the explanation after it. After an opening parenthesis it gets no class, because the words before the
// parenthesis usually are the explanation.
func (a *abbreviations) mark(t *ast.Text, src []byte) {
	start := true // whether a word may begin at i

	for i := t.Segment.Start; i < t.Segment.Stop; {
		r, size := utf8.DecodeRune(src[i:t.Segment.Stop])
		if !start || a.titles > maxTitles {
			start = !isWordRune(r)
			i += size
			continue
		}

		found, length := a.longest(src[i:t.Segment.Stop])
		if found == nil {
			start = !isWordRune(r)
			i += size
			continue
		}
		n := &tree.Element{Tag: "abbr"}
		n.SetPos(i)
		n.SetAttributeString("title", []byte(found.long))

		if !found.used && (i == 0 || src[i-1] != '(') {
			n.SetAttributeString("class", []byte("abbr-first"))
		}
		found.used = true
		a.titles += len(found.long)
		n.AppendChild(n, ast.NewTextSegment(text.NewSegment(i, i+length)))
		parent := t.Parent()
		parent.InsertBefore(parent, t, n)

		if i > t.Segment.Start {
			parent.InsertBefore(parent, n, ast.NewTextSegment(t.Segment.WithStop(i)))
		}
		i += length
		t.Segment = text.NewSegment(i, t.Segment.Stop)
		start = false
	}
}
