// Package reference parses references and citations in the syntax of Pandoc: @fig:x, @key [p. 3] and
// [see @a; -@b] (https://pandoc.org/MANUAL.html#citation-syntax).
package reference

import (
	"bytes"
	"html"
	"net/url"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/label"
	"presswork/internal/markdown/tree"
)

// Reference is @key, or keys in brackets: [see @fig:a; @fig:b].
type Reference struct {
	ast.BaseInline
	// Items are the keys, at least one.
	Items []Item
	// Bracketed reports whether the source has brackets.
	Bracketed bool
	// NoParens reports whether the number of an equation has no parentheses.
	NoParens bool
	// Source is the text of the reference in the source.
	Source string
	// Offset is the offset of the reference in the source.
	Offset int
	// Citation is the HTML that replaces the reference, "" if it does not cite.
	Citation string
	// NamesOnly reports whether only the names of the authors are in the text. The rest of the citation
	// is in a note.
	NamesOnly bool

	// linked has the element for each of Items. It is nil if one is missing. Resolve sets it and words.
	linked []*label.Label
	words  label.Words
}

// Item is one key of a reference.
type Item struct {
	// Key is the key without the @.
	Key string
	// Bare reports whether a hyphen precedes the @. The hyphen omits "Figure" or the author.
	Bare bool
	// Prefix and Suffix are the texts before and after the key.
	Prefix, Suffix string
}

// Kind implements ast.Node.
func (*Reference) Kind() ast.NodeKind { return kindReference }

// Dump implements ast.Node.
func (n *Reference) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

var kindReference = ast.NewNodeKind("Reference")

// IsInText reports whether the authors of a citation are part of the sentence: @key.
func (n *Reference) IsInText() bool { return !n.Bracketed && !n.Items[0].Bare }

// TakeHyphens removes the hyphen of bare references, -@key, from the text before them. Call it before package
// typography replaces hyphens.
func TakeHyphens(root ast.Node, src []byte) {
	tree.Each(root, func(n ast.Node) {
		r, ok := n.(*Reference)
		if !ok || r.Bracketed || !r.Items[0].Bare {
			return
		}

		if t, ok := r.PreviousSibling().(*ast.Text); ok && bytes.HasSuffix(t.Segment.Value(src), []byte("-")) {
			t.Segment = t.Segment.WithStop(t.Segment.Stop - 1)
		}
	})
}

// Resolve links references to the elements that they name, with the given words for their kinds. It skips references
// for which isCitation returns true. If labels lacks a key of a reference, the reference renders its source, and
// Resolve calls missing with the first such key.
func Resolve(
	root ast.Node,
	words label.Words,
	labels label.Set,
	isCitation func(*Reference) bool,
	missing func(r *Reference, key string),
) {
	tree.Each(root, func(n ast.Node) {
		r, ok := n.(*Reference)
		if !ok {
			return
		}

		r.words = words
		if isCitation(r) {
			return
		}

		for _, item := range r.Items {
			to := labels.Find(item.Key)
			if to == nil {
				r.linked = nil
				missing(r, item.Key)

				if !r.Bracketed && item.Bare && r.Source[0] == '@' {
					r.Source = "-" + r.Source
				}

				return
			}
			r.linked = append(r.linked, to)
		}
	})
}

// PlainText returns the reference as a reader sees it.
func (n *Reference) PlainText() string {
	var b strings.Builder

	if n.Citation != "" {
		return html.UnescapeString(anyTag().ReplaceAllString(n.Citation, ""))
	}
	n.write(func(text string, _ *label.Label) { b.WriteString(text) })

	return b.String()
}

// anyTag matches a tag of HTML.
var anyTag = lazyregexp.New(`<[^>]*>`)

// write calls piece for the parts of the reference in order, each with the element that it links to, nil for none.
// Consecutive items of one kind share a word: "Figures 1, 2 and 3".
func (n *Reference) write(piece func(text string, to *label.Label)) {
	if n.linked == nil {
		piece(n.Source, nil)
		return
	}

	for i := 0; i < len(n.Items); {
		end := i + 1
		for end < len(n.Items) && n.sharesWord(i, end) {
			end++
		}

		if i > 0 {
			piece(", ", nil)
		}
		n.writeRun(i, end, piece)
		i = end
	}
}

// sharesWord reports whether item i shares a word with the items before it, which begin at first.
func (n *Reference) sharesWord(first, i int) bool {
	head, item := n.Items[first], n.Items[i]
	if item.Prefix != "" || n.Items[i-1].Suffix != "" || item.Bare != head.Bare {
		return false
	}

	kind := n.linked[first].Kind
	if n.linked[i].Kind != kind || n.linked[i].Number == "" || n.linked[first].Number == "" {
		return false
	}

	return head.Bare || head.Prefix != "" || n.words.Many[kind] != ""
}

// writeRun writes Items[from:to], which share a word.
func (n *Reference) writeRun(from, to int, piece func(string, *label.Label)) {
	first, item := n.linked[from], n.Items[from]
	word := ""

	switch {
	case item.Prefix != "":
		word = item.Prefix
	case item.Bare || first.Number == "":
	case to-from > 1:
		word = n.words.Many[first.Kind]
	default:
		word = n.words.One[first.Kind]
	}

	if word != "" {
		word += "\u00a0"
	}

	for i := from; i < to; i++ {
		switch {
		case i > from && i == to-1:
			piece(n.words.And, nil)
		case i > from:
			piece(", ", nil)
		}

		name := n.linked[i].Name()
		if n.NoParens && n.linked[i].Number != "" {
			name = n.linked[i].Number
		}
		piece(word+name, n.linked[i])

		if n.Items[i].Suffix != "" {
			piece(n.Items[i].Suffix, nil)
		}
		word = ""
	}
}

// anchorTag matches a tag of a link.
var anchorTag = lazyregexp.New(`</?a\b[^>]*>`)

// InLink reports whether a node is part of the text of a link.
func InLink(n ast.Node) bool {
	for n = n.Parent(); n != nil && n.Type() == ast.TypeInline; n = n.Parent() {
		if n.Kind() == ast.KindLink {
			return true
		}
	}

	return false
}

type referenceRenderer struct{}

func (r referenceRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(kindReference, r.render)
}

// render renders a citation or links. A reference in a link has no links of its own.
func (referenceRenderer) render(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkSkipChildren, nil
	}
	n, inLink := node.(*Reference), InLink(node)

	if n.Citation != "" {
		cited := n.Citation
		if inLink {
			cited = anchorTag().ReplaceAllString(cited, "")
		}
		_, _ = w.WriteString(cited)

		return ast.WalkSkipChildren, nil
	}

	n.write(func(text string, to *label.Label) {
		text = html.EscapeString(text)
		if to != nil && !inLink {
			text = `<a href="#` + html.EscapeString(url.PathEscape(to.ID)) + `" class="xref">` + text + "</a>"
		}
		_, _ = w.WriteString(text)
	})

	return ast.WalkSkipChildren, nil
}
