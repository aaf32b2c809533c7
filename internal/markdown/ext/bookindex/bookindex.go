// Package bookindex reads the entries of a book's index in the syntax of LaTeX and makeindex, and finds the place where
// the index is printed. Extension parses the entries, and Collect returns them and gives each an anchor. Package
// document sorts them and prints the index.
package bookindex

import (
	"bytes"
	"fmt"
	"html"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/tree"
)

const (
	// PlaceClass is the class of the empty block where the index of a document is printed.
	PlaceClass = "toc-index"
	// maxEntries is the largest number of entries of a document. Further entries are dropped.
	maxEntries = 20_000
	// maxTerm is the longest entry, in bytes. A longer \index{…} stays text.
	maxTerm = 300
	// indexClass is the class of a span whose text is an entry.
	indexClass = "index"
)

// Extension adds the entries \index{term}.
type Extension struct {
	// Enabled reports whether the parsed document may have entries. Required.
	Enabled func(parser.Context) bool
}

// Extend implements goldmark.Extender.
func (e Extension) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(parser.WithInlineParsers(util.Prioritized(markParser{e.Enabled}, 100)))
	m.Renderer().AddOptions(renderer.WithNodeRenderers(util.Prioritized(nodeRenderer{}, 100)))
}

// Entry is one line of an index.
type Entry struct {
	// Terms are the main term and the terms below it, at most three.
	Terms []string
	// SortBy has the sort key of each of Terms.
	SortBy []string
	// See is the term to which the entry refers in place of a page, "" for none.
	See string
	// Also reports whether "see also" introduces See, rather than "see".
	Also bool
	// ID is the anchor of the entry in the text.
	ID string
}

// mark is an entry at its place in the text:
//
//	\index{main term!lower term} \index{sorted by@shown} \index{term|see{other}}
type mark struct {
	ast.BaseInline
	entry string // the text in braces
	id    string // the anchor, which Collect sets; "" for a dropped entry
}

func (*mark) Kind() ast.NodeKind { return kindMark }

func (n *mark) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

// place is the node where the index is printed.
type place struct{ ast.BaseBlock }

func (*place) Kind() ast.NodeKind { return kindPlace }

func (n *place) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

var (
	kindMark  = ast.NewNodeKind("IndexMark")
	kindPlace = ast.NewNodeKind("IndexPlace")

	// indexForm matches an entry. Its group is the text, whose braces must be balanced.
	indexForm = lazyregexp.New(`^\\index\{((?:[^{}\n]|\{[^{}\n]*\})+)\}`)
	// seeForm matches the command after the bar: see{other}.
	seeForm = lazyregexp.New(`^(see|seealso)\{([^{}]*)\}$`)
)

// markParser parses entries. They print nothing but an anchor.
type markParser struct {
	enabled func(parser.Context) bool
}

func (markParser) Trigger() []byte { return []byte{'\\'} }

// Parse reads \index{…}.
func (p markParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	if !bytes.HasPrefix(line, []byte(`\index{`)) || !p.enabled(pc) {
		return nil
	}

	m := indexForm().FindSubmatch(line[:min(len(line), maxTerm)])
	if m == nil {
		return nil
	}
	block.Advance(len(m[0]))
	n := &mark{entry: string(m[1])}
	n.SetPos(segment.Start)

	return n
}

// Collect returns the entries of a document in their order and gives each an anchor. Entries are \index{…} and spans
// with the class "index". placed reports whether the source has \printindex, the place for the index. Collect replaces
// the first \printindex by that place and removes the others.
func Collect(root ast.Node, src []byte) (entries []Entry, placed bool) {
	marks := bytes.Contains(src, []byte(`\index{`)) || bytes.Contains(src, []byte("."+indexClass))
	if !marks && !bytes.Contains(src, []byte(`\printindex`)) {
		return nil, false
	}
	tree.EachBlock(root, func(n ast.Node) {
		if p, ok := n.(*ast.Paragraph); ok && p.Lines().Len() == 1 &&
			strings.TrimSpace(string(tree.BlockText(p, src, 1))) == `\printindex` {
			if placed {
				p.Parent().RemoveChild(p.Parent(), p)
				return
			}
			placed = true
			tree.Replace(p, &place{})
		}
	})
	tree.Each(root, func(n ast.Node) {
		id := fmt.Sprintf("toc-ix-%d", len(entries)+1)

		switch n := n.(type) {
		case *mark:
			if entry, ok := readEntry(n.entry); ok && len(entries) < maxEntries {
				n.id, entry.ID = id, id
				entries = append(entries, entry)
			}
		case *tree.Element:
			term := strings.Join(strings.Fields(tree.PlainText(n, src)), " ")
			if n.Tag != "span" || !tree.HasClass(n, indexClass) || term == "" || len(term) > maxTerm ||
				len(entries) == maxEntries {
				return
			}

			if own := tree.AttributeText(n, "id"); own != "" {
				id = own
			}
			n.SetAttributeString("id", []byte(id))
			entries = append(entries, Entry{Terms: []string{term}, SortBy: []string{term}, ID: id})
		}
	})
	tree.EachBlock(root, func(n ast.Node) {
		if p, ok := n.(*ast.Paragraph); ok && p.HasChildren() && onlyMarks(p, src) {
			marks := ast.NewTextBlock() // no line of its own
			tree.MoveChildren(p, marks)
			tree.Replace(p, marks)
		}
	})

	return entries, placed
}

// onlyMarks reports whether a paragraph has only entries. It would be printed as an empty line.
func onlyMarks(p *ast.Paragraph, src []byte) bool {
	for c := p.FirstChild(); c != nil; c = c.NextSibling() {
		if text, ok := c.(*ast.Text); c.Kind() != kindMark && (!ok || !util.IsBlank(text.Segment.Value(src))) {
			return false
		}
	}

	return true
}

// Append adds a place for the index at the end of a document. The heading above it is in the language lang (BCP 47) and
// has the level of the chapters. The text of a node is a range of the source, so Append returns the source with the
// heading appended.
func Append(root ast.Node, src []byte, lang string) []byte {
	titles, level := 0, 6
	tree.EachBlock(root, func(n ast.Node) {
		if h, ok := n.(*ast.Heading); ok {
			if h.Level == 1 {
				titles++
			} else {
				level = min(level, h.Level)
			}
		}
	})

	if titles > 1 {
		level = 1
	}

	if titles == 1 {
		level = 2
	}
	end := len(src)
	src = append(src[:end:end], Title(lang)...)
	words := ast.NewTextSegment(text.NewSegment(end, len(src)))
	words.SetRaw(true)
	h := ast.NewHeading(level)
	h.AppendChild(h, words)
	tree.AddClass(h, tree.Unnumbered)
	h.SetPos(end - 1) // on the last line
	root.AppendChild(root, h)
	root.AppendChild(root, &place{})

	return src
}

// readEntry reads an entry in the syntax of makeindex: "main!lower", "key@shown", "term|see{other}". It returns false
// for an empty term and for more than three terms, the levels of makeindex.
func readEntry(source string) (e Entry, ok bool) {
	terms, command, _ := strings.Cut(source, "|")
	if m := seeForm().FindStringSubmatch(command); m != nil {
		e.See, e.Also = strings.TrimSpace(m[2]), m[1] == "seealso"
	}

	for term := range strings.SplitSeq(terms, "!") {
		key, shown, sorted := strings.Cut(term, "@")
		if !sorted {
			shown = key
		}

		key, shown = strings.TrimSpace(key), strings.TrimSpace(shown)
		if key == "" || shown == "" || len(e.Terms) == 3 {
			return e, false
		}
		e.Terms, e.SortBy = append(e.Terms, shown), append(e.SortBy, key)
	}

	return e, true
}

// nodeRenderer renders the anchors of the entries and the place of the index.
type nodeRenderer struct{}

func (nodeRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(kindMark, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if id := n.(*mark).id; entering && id != "" {
			_, _ = w.WriteString(`<a id="` + html.EscapeString(id) + `"></a>`)
		}

		return ast.WalkContinue, nil
	})
	reg.Register(kindPlace, func(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			_, _ = w.WriteString(`<nav class="` + PlaceClass + "\"></nav>\n")
		}

		return ast.WalkContinue, nil
	})
}
