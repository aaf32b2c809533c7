package markdown

import (
	"bytes"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"presswork/internal/fault"
	"presswork/internal/markdown/label"
	"presswork/internal/markdown/source"
	"presswork/internal/markdown/tree"
)

// maxReference bounds what stands between the brackets of a reference, in bytes.
const maxReference = 4000

// maxReferences bounds the references of a document. A book of 1000 pages has some
// five thousand.
const maxReferences = 20_000

// reference is @key, or keys in brackets: [see @fig:a; @fig:b].
type reference struct {
	ast.BaseInline
	items []referenceItem
	// bracketed reports whether it stands in brackets.
	bracketed bool
	source    string
	offset    int
	// citation is the HTML that it became, "" if it does not cite.
	citation string
	// namesOnly is set where its authors stand in the text and the rest in a note.
	namesOnly bool
	// linked are the elements that it names, in order; nil when one is missing.
	linked []*target
	words  vocabulary
}

// referenceItem is one of the keys of a reference.
type referenceItem struct {
	key string
	// bare is set by a - before the @: without the word, or the author.
	bare           bool
	prefix, suffix string
}

func (*reference) Kind() ast.NodeKind { return kindReference }

func (n *reference) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

var kindReference = ast.NewNodeKind("Reference")

// references says which @keys of a document are references.
type references int

const (
	noReferences references = iota
	toLabels
	toWorks // and to labels
)

// syntax is what the document may refer to.
func (d *draft) syntax() references {
	switch {
	case d.works != nil:
		return toWorks
	case d.references:
		return toLabels
	}

	return noReferences
}

// labelSyntax is the syntax of a document of which no more is known than its text.
func labelSyntax(src []byte) references {
	if HasLabels(src) {
		return toLabels
	}

	return noReferences
}

// takes reports whether a key may be one of a reference.
func (s references) takes(key string) bool { return s == toWorks || label.KindOf(key) != "" }

// referenceParser parses references in documents that have something to refer to.
// All others keep their @names and [@names] as they are.
type referenceParser struct{}

func (referenceParser) Trigger() []byte { return []byte{'@', '['} }

func (referenceParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	b, ok := pc.Get(budgetKey).(*budget)
	if !ok || b.references == noReferences {
		return nil
	}

	line, segment := block.PeekLine()
	if line[0] == '@' {
		before := block.PrecendingCharacter()

		key, size := readKey(line)
		if size == 0 || !mayPrecedeKey(before) || !b.references.takes(key) {
			return nil
		}
		b.refer()
		block.Advance(size)

		n := &reference{
			items:  []referenceItem{{key: key, bare: before == '-'}},
			source: string(line[:size]),
			offset: segment.Start,
		}
		if b.references == toWorks && label.KindOf(key) == "" {
			n.items[0].suffix = readPlace(block)
		}

		return n
	}
	row, at := block.Position()

	source, ok := readBrackets(block)
	if ok {
		if n := bracketedReference(source, b.references); n != nil {
			b.refer()

			if _, taken := pc.Reference(util.ToLinkReference([]byte(source))); !taken {
				n.offset = segment.Start
				return n
			}
		}
	}
	block.SetPosition(row, at)

	return nil
}

// readBrackets reads what stands between the bracket that the line begins with and
// the next one. What a link or a span is made of is left to others.
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

// refer counts a reference.
func (b *budget) refer() {
	if b.referred++; b.referred > maxReferences {
		panic(
			stopParsing{
				source.TooComplex(
					"the Markdown holds over %d references; at most %d are allowed",
					maxReferences,
					maxReferences,
				),
			},
		)
	}
}

// readPlace reads the place in a work that stands in brackets behind its key: [p. 3].
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

// bracketedReference reads the inside of brackets, nil if it is none: each part
// between semicolons has a key.
func bracketedReference(source string, syntax references) *reference {
	n := &reference{bracketed: true, source: "[" + strings.Join(strings.Fields(source), " ") + "]"}
	for part := range strings.SplitSeq(source, ";") {
		item, ok := readItem(strings.Join(strings.Fields(part), " "))
		if !ok || !syntax.takes(item.key) {
			return nil
		}
		n.items = append(n.items, item)
	}

	return n
}

// readItem reads "prefix -@key suffix".
func readItem(part string) (item referenceItem, ok bool) {
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

		key, size := readKey([]byte(part[i:]))
		if size == 0 || !mayPrecedeKey(before) {
			from = i + 1
			continue
		}
		prefix, bare := strings.CutSuffix(part[:i], "-")

		return referenceItem{key: key, bare: bare, prefix: strings.TrimSpace(prefix), suffix: part[i+size:]}, true
	}
}

// mayPrecedeKey reports whether an @ behind this character can begin a key: not
// that of an address. From 2E80 on are the letters of scripts without spaces.
func mayPrecedeKey(before rune) bool {
	return (before >= 0x2e80 || !unicode.IsLetter(before)) && !unicode.IsDigit(before) &&
		!strings.ContainsRune(`@/\_.`, before)
}

// readKey reads the key that begins with the @ of a line, and its whole length: 0
// if there is none. As in Pandoc, single signs may stand within a key, and
// anything within braces.
func readKey(line []byte) (key string, size int) {
	const longest = 200

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

	return string(line[1:end]), end * min(1, end-1)
}

// takeHyphens takes the - of bare references from the text before them, while that is
// still as it is in the source.
func takeHyphens(root ast.Node, src []byte) {
	tree.Each(root, func(n ast.Node) {
		r, ok := n.(*reference)
		if !ok || r.bracketed || !r.items[0].bare {
			return
		}

		if t, ok := r.PreviousSibling().(*ast.Text); ok && bytes.HasSuffix(t.Segment.Value(src), []byte("-")) {
			t.Segment = t.Segment.WithStop(t.Segment.Stop - 1)
		}
	})
}

// resolveReferences gives references what they refer to. One that names nothing
// stays as it is typed, with a warning.
func (d *draft) resolveReferences(root ast.Node) {
	if !d.references && d.works == nil {
		return
	}
	w := wordsOf(d.options.Lang)
	tree.Each(root, func(n ast.Node) {
		r, ok := n.(*reference)
		if !ok {
			return
		}

		r.words = w
		if d.works != nil && d.works.cites(r) { // within a link it stays a text
			return
		}

		for _, item := range r.items {
			t := d.targets.find(item.key)
			if t == nil {
				d.unresolved = true
				if r.linked = nil; len(d.targets) > 0 {
					d.warn(
						fault.LinkBroken,
						d.lines.At(r.offset),
						fmt.Sprintf("reference to %q, but nothing in the document has that label", clip(item.key)),
					)
				}

				if !r.bracketed && item.bare {
					r.source = "-" + r.source
				}

				return
			}
			r.linked = append(r.linked, t)
		}
	})
}

// PlainText returns the reference as it is read.
func (n *reference) PlainText() string {
	var b strings.Builder

	if n.citation != "" {
		return html.UnescapeString(anyTag.ReplaceAllString(n.citation, ""))
	}
	n.write(func(text string, _ *target) { b.WriteString(text) })

	return b.String()
}

var anyTag = regexp.MustCompile(`<[^>]*>`)

// write gives the pieces of the reference in order, each with what it links to or
// nil. Neighbours of one kind share its word: "Figures 1, 2 and 3".
func (n *reference) write(piece func(text string, to *target)) {
	if n.linked == nil {
		piece(n.source, nil)
		return
	}

	for i := 0; i < len(n.items); {
		end := i + 1
		for end < len(n.items) && n.linked[end].kind == n.linked[i].kind && n.items[end].prefix == "" && n.items[end-1].suffix == "" &&
			n.items[end].bare == n.items[i].bare && n.linked[end].number != "" && n.linked[i].number != "" &&
			(n.items[i].bare || n.items[i].prefix != "" || n.words.many[n.linked[i].kind] != "") {
			end++
		}

		if i > 0 {
			piece(", ", nil)
		}
		n.writeRun(i, end, piece)
		i = end
	}
}

// writeRun writes items that share a word.
func (n *reference) writeRun(from, to int, piece func(string, *target)) {
	first, item := n.linked[from], n.items[from]
	word := ""

	switch {
	case item.prefix != "":
		word = item.prefix
	case item.bare || first.number == "":
	case to-from > 1:
		word = n.words.many[first.kind]
	default:
		word = n.words.one[first.kind]
	}

	if word != "" {
		word += "\u00a0"
	}

	for i := from; i < to; i++ {
		switch {
		case i > from && i == to-1:
			piece(n.words.and, nil)
		case i > from:
			piece(", ", nil)
		}
		piece(word+n.linked[i].name(), n.linked[i])

		if n.items[i].suffix != "" {
			piece(n.items[i].suffix, nil)
		}
		word = ""
	}
}

var anchorTag = regexp.MustCompile(`</?a\b[^>]*>`)

// inLink reports whether a node is part of a link's text.
func inLink(n ast.Node) bool {
	for n = n.Parent(); n != nil && n.Type() == ast.TypeInline; n = n.Parent() {
		if n.Kind() == ast.KindLink {
			return true
		}
	}

	return false
}

type referenceRenderer struct{}

func (r referenceRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(kindReference, r.reference)
}

func (referenceRenderer) reference(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		if cited := node.(*reference).citation; cited != "" {
			if inLink(node) {
				cited = anchorTag.ReplaceAllString(cited, "")
			}
			_, _ = w.WriteString(cited)

			return ast.WalkSkipChildren, nil
		}
		within := inLink(node)
		node.(*reference).write(func(text string, to *target) {
			if to == nil || within {
				_, _ = w.WriteString(html.EscapeString(text))
				return
			}
			_, _ = w.WriteString(
				`<a href="#` + html.EscapeString(
					url.PathEscape(to.id),
				) + `" class="xref">` + html.EscapeString(
					text,
				) + "</a>",
			)
		})
	}

	return ast.WalkSkipChildren, nil
}
