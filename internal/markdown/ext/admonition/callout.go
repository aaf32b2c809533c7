package admonition

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"

	"presswork/internal/lazyregexp"
	names "presswork/internal/markdown/admonition"
	"presswork/internal/markdown/tree"
)

// quoteHead matches the first line of a GitHub alert or an Obsidian callout:
//
//	[!NOTE]
//	[!question]- A title
//
// The text after a bar within the brackets is for the style sheets of Obsidian. A plus or a minus unfolds or folds the
// callout. Both have no effect on paper.
var quoteHead = lazyregexp.New(`^\[!([A-Za-z][A-Za-z0-9_-]{0,39})(?:\|[^\]\n]{0,80})?\][+-]?(?:[ \t]+|$)`)

// placeQuote replaces a quote that begins with [!TYPE] by an alert. The rest of that line is the title of the alert. An
// unknown type looks like a note.
func placeQuote(quote *ast.Blockquote, src []byte, lang string) {
	p, ok := quote.FirstChild().(*ast.Paragraph)
	if !ok {
		return
	}

	first, ok := p.FirstChild().(*ast.Text)
	if !ok { // such as a link, if the document defines one with that name
		return
	}

	m := quoteHead().FindSubmatch(bytes.TrimRight(first.Segment.Value(src), " \t\n"))
	if m == nil {
		return
	}
	name := strings.ToLower(string(m[1]))
	a := &tree.Alert{Look: cmp.Or(names.KindOf(name), "note"), Name: name}
	a.SetPos(quote.Pos())
	// Remove the marker from the text. The rest of the line is the title.
	first.Segment = first.Segment.WithStart(min(first.Segment.Start+len(m[0]), first.Segment.Stop))

	if title := takeLine(p, src); title != nil {
		a.Titled = true
		a.AppendChild(a, title)
	}
	setTitle(a, lang)

	if p.FirstChild() == nil {
		quote.RemoveChild(quote, p)
	}

	for _, name := range []string{"id", "class"} {
		if value := tree.AttributeText(quote, name); value != "" {
			a.SetAttributeString(name, []byte(value))
		}
	}

	tree.MoveChildren(quote, a)
	tree.Replace(quote, a)
}

// takeTitle turns the first child of an alert into its title, if it is a division with TitleClass. In an alert with
// HeadingIsTitle, it may also be a heading.
func takeTitle(a *tree.Alert) {
	var written ast.Node

	switch first := a.FirstChild().(type) {
	case *ast.Heading:
		if !a.HeadingIsTitle || a.Titled {
			return
		}
		a.RemoveChild(a, first)
		written = first
	case *tree.Division:
		if !tree.HasClass(first, names.TitleClass) {
			return
		}
		a.RemoveChild(a, first)

		if p, ok := first.FirstChild().(*ast.Paragraph); ok {
			written = p
		}
	}

	if written != nil {
		title := &tree.AlertTitle{}
		tree.MoveChildren(written, title)
		a.Titled = true
		a.InsertBefore(a, a.FirstChild(), title)
	}
}

// takeLine removes the first line of a paragraph and returns it as a title, nil for a blank line.
func takeLine(p *ast.Paragraph, src []byte) *tree.AlertTitle {
	title := &tree.AlertTitle{}
	blank := true

	for c := p.FirstChild(); c != nil; {
		next := c.NextSibling()
		t, isText := c.(*ast.Text)
		blank = blank && isText && util.IsBlank(t.Segment.Value(src))
		title.AppendChild(title, c)

		if isText && (t.SoftLineBreak() || t.HardLineBreak()) {
			t.SetSoftLineBreak(false)
			t.SetHardLineBreak(false)
			break
		}
		c = next
	}

	if blank {
		return nil
	}

	return title
}
