package reference

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/label"
)

// maxReference is the longest text between the brackets of a reference, in bytes.
const maxReference = 4000

// referenceParser parses the references of a document.
type referenceParser Extension

func (referenceParser) Trigger() []byte { return []byte{'@', '[', '\\'} }

// Parse reads @label, [@label], and LaTeX's commands for references.
func (p referenceParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	keys := p.Keys(pc)
	if keys == None {
		return nil
	}

	switch line, _ := block.PeekLine(); line[0] {
	case '@':
		return p.parseKey(block, pc, keys)
	case '\\':
		return p.parseCommand(block, pc)
	}

	return p.parseBrackets(block, pc, keys)
}

// parseKey parses @key. A key of a work may be followed by a place in it: @key [p. 3].
func (p referenceParser) parseKey(block text.Reader, pc parser.Context, keys Keys) ast.Node {
	line, segment := block.PeekLine()
	before := block.PrecendingCharacter()

	key, size := ReadKey(line)
	if size == 0 || !mayPrecedeKey(before) || !keys.allows(key) {
		return nil
	}
	p.Count(pc)
	block.Advance(size)

	n := &Reference{
		Items:  []Item{{Key: key, Bare: before == '-'}},
		Source: string(line[:size]),
		Offset: segment.Start,
	}
	if keys == ToWorks && label.KindOf(key) == "" {
		n.Items[0].Suffix = readPlace(block)
	}

	return n
}

// bookdown matches a reference of Bookdown (https://bookdown.org/yihui/bookdown/cross-references.html). It prints only
// the number.
var bookdown = lazyregexp.New(`^\\@ref\(([\w:.-]{1,200})\)`)

// latex matches a reference of LaTeX. \autoref and \cref also print the word, \ref and \eqref only the number.
var latex = lazyregexp.New(`^\\(eqref|ref|autoref|[cC]ref)\s*\{([^{}]{1,200})\}`)

// parseCommand parses \@ref(key) and the references of LaTeX.
func (p referenceParser) parseCommand(block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()

	n := OfLaTeX(line)
	if m := bookdown().FindSubmatch(line); m != nil {
		n = &Reference{Items: []Item{{Key: string(m[1]), Bare: true}}, Source: string(m[0])}
	}

	if n == nil {
		return nil
	}
	p.Count(pc)
	block.Advance(len(n.Source))
	n.Offset = segment.Start

	return n
}

// OfLaTeX returns the reference of LaTeX, such as \eqref{key}, at the start of a text, nil for none.
func OfLaTeX(source []byte) *Reference {
	m := latex().FindSubmatch(source)
	if m == nil {
		return nil
	}
	command, key := string(m[1]), string(m[2])

	return &Reference{
		Items:    []Item{{Key: key, Bare: command == "ref" || command == "eqref"}},
		NoParens: command == "ref",
		Source:   string(m[0]),
	}
}

// parseBrackets parses [see @a; @b], unless the document has a link definition with that text.
func (p referenceParser) parseBrackets(block text.Reader, pc parser.Context, keys Keys) ast.Node {
	row, at := block.Position()
	_, segment := block.PeekLine()

	source, ok := readBrackets(block)
	if ok {
		if n := bracketedReference(source, keys); n != nil {
			p.Count(pc)

			if _, defined := pc.Reference(util.ToLinkReference([]byte(source))); !defined {
				n.Offset = segment.Start
				return n
			}
		}
	}
	block.SetPosition(row, at)

	return nil
}

// readBrackets reads the text between the opening bracket at the start of the line and the closing one.
// It returns false for nested brackets, and for brackets that belong to a link or a span.
func readBrackets(block text.Reader) (source string, ok bool) {
	var b strings.Builder

	line, _ := block.PeekLine()
	for skip := 1; line != nil && b.Len() < maxReference; skip = 0 {
		if i := bytes.IndexAny(line[skip:], "[]"); i >= 0 {
			i += skip
			b.Write(line[skip:i])

			if line[i] == '[' || i+1 < len(line) && bytes.IndexByte([]byte("([{:"), line[i+1]) >= 0 {
				return "", false
			}
			block.Advance(i + 1)

			return b.String(), true
		}
		b.Write(line[skip:])
		block.AdvanceLine()
		line, _ = block.PeekLine()
	}

	return "", false
}

// readPlace reads the place in a work that follows a key in brackets, [p. 3]. It returns "" for none.
func readPlace(block text.Reader) string {
	row, at := block.Position()

	line, _ := block.PeekLine()
	if rest := bytes.TrimPrefix(line, []byte(" ")); len(rest) > 0 && rest[0] == '[' {
		block.Advance(len(line) - len(rest))

		if source, ok := readBrackets(block); ok && !strings.ContainsAny(source, "@^") {
			return ", " + strings.Join(strings.Fields(source), " ")
		}
	}
	block.SetPosition(row, at)

	return ""
}

// bracketedReference returns the reference for the text in brackets. It returns nil unless each part between semicolons
// has a key that keys allows.
func bracketedReference(source string, keys Keys) *Reference {
	n := &Reference{Bracketed: true, Source: "[" + strings.Join(strings.Fields(source), " ") + "]"}
	for part := range strings.SplitSeq(source, ";") {
		item, ok := readItem(strings.Join(strings.Fields(part), " "))
		if !ok || !keys.allows(item.Key) {
			return nil
		}
		n.Items = append(n.Items, item)
	}

	return n
}

// readItem reads "prefix -@key suffix".
func readItem(part string) (item Item, ok bool) {
	for from := 0; ; {
		i := strings.IndexByte(part[from:], '@')
		if i < 0 {
			return item, false
		}
		i += from

		before, _ := utf8.DecodeLastRuneInString(part[:i])
		if i == 0 {
			before = ' '
		}

		key, size := ReadKey([]byte(part[i:]))
		if size == 0 || !mayPrecedeKey(before) {
			from = i + 1
			continue
		}
		prefix, bare := strings.CutSuffix(part[:i], "-")

		return Item{Key: key, Bare: bare, Prefix: strings.TrimSpace(prefix), Suffix: part[i+size:]}, true
	}
}

// mayPrecedeKey reports whether an @ after this character can begin a key. After a letter, an @ belongs to an e-mail
// address. Letters from U+2E80 on are of scripts without spaces between words, so they may precede a key.
func mayPrecedeKey(before rune) bool {
	return (before >= 0x2e80 || !unicode.IsLetter(before)) && !unicode.IsDigit(before) &&
		!strings.ContainsRune(`@/\_.`, before)
}

// ReadKey reads the key at the start of a line that begins with @. size is its length in bytes with the @ and any
// braces, 0 if there is no key. As in Pandoc, a key without braces contains punctuation marks only one at a time, and
// does not end with one.
func ReadKey(line []byte) (key string, size int) {
	const longest = 200 // bytes

	if len(line) < 2 {
		return "", 0
	}

	if line[1] == '{' {
		end := bytes.IndexAny(line[2:min(len(line), longest)], "}{ \t\n")
		if end < 1 || line[2+end] != '}' {
			return "", 0
		}

		return string(line[2 : 2+end]), end + 3
	}
	end := 1

	for i := 1; i < min(len(line), longest); {
		r, n := utf8.DecodeRune(line[i:])
		switch {
		// These characters may end a key; other signs only within it.
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) && i > 1:
			i += n
			end = i
			continue
		case i > end || i == 1 || !strings.ContainsRune(":.#$%&-+?<>~/", r): // two signs in a row
		default:
			i += n
			continue
		}
		break
	}

	if end == 1 {
		return "", 0
	}

	return string(line[1:end]), end
}
