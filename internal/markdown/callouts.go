package markdown

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"

	"presswork/internal/markdown/admonition"
	"presswork/internal/markdown/tree"
)

// alertHead is the first line of a GitHub alert or an Obsidian callout:
//
//	[!NOTE]
//	[!question]- A title
//
// What stands behind a bar in the brackets is for Obsidian's style sheets; plus
// and minus say whether it is folded, which nothing is on paper.
var alertHead = regexp.MustCompile(`^\[!([A-Za-z][A-Za-z0-9_-]{0,39})(?:\|[^\]\n]{0,80})?\][+-]?(?:[ \t]+|$)`)

// alertTitle is the title of an alert that is written as Markdown, its first
// child.
type alertTitle struct{ ast.BaseBlock }

func (*alertTitle) Kind() ast.NodeKind { return kindAlertTitle }

func (n *alertTitle) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

var kindAlertTitle = ast.NewNodeKind("AlertTitle")

// placeAlert replaces a quote that begins with [!TYPE] by an alert. The rest of
// that line is its title; a type that nobody knows looks like a note.
func (d *draft) placeAlert(quote *ast.Blockquote) {
	p, ok := quote.FirstChild().(*ast.Paragraph)
	if !ok {
		return
	}

	first, ok := p.FirstChild().(*ast.Text)
	if !ok { // or the document defines a link of that name
		return
	}

	m := alertHead.FindSubmatch(bytes.TrimRight(first.Segment.Value(d.src), " \t\n"))
	if m == nil {
		return
	}
	a := &alert{name: strings.ToLower(string(m[1]))}
	a.SetPos(quote.Pos())

	if a.kind = admonition.Kinds()[a.name]; a.kind == "" {
		a.kind = "note"
	}
	first.Segment = first.Segment.WithStart(min(first.Segment.Start+len(m[0]), first.Segment.Stop))

	if title := takeLine(p, d.src); title != nil {
		a.titled = true
		a.AppendChild(a, title)
	}
	a.setTitle(d.options.Lang)

	if p.FirstChild() == nil {
		quote.RemoveChild(quote, p)
	}

	for _, name := range []string{"id", "class"} {
		if value := tree.AttributeText(quote, name); value != "" {
			a.SetAttributeString(name, []byte(value))
		}
	}

	for c := quote.FirstChild(); c != nil; {
		next := c.NextSibling()
		a.AppendChild(a, c)
		c = next
	}
	tree.Replace(quote, a)
}

// takeTitle makes a division of TitleClass that an alert begins with its title.
func (a *alert) takeTitle() {
	first, ok := a.FirstChild().(*division)
	if !ok || !tree.HasClass(first, admonition.TitleClass) {
		return
	}
	a.RemoveChild(a, first)

	if p, ok := first.FirstChild().(*ast.Paragraph); ok {
		title := &alertTitle{}
		tree.MoveChildren(p, title)
		a.titled = true
		a.InsertBefore(a, a.FirstChild(), title)
	}
}

// takeLine moves the first line of a paragraph into a title, nil if nothing is
// on it.
func takeLine(p *ast.Paragraph, src []byte) *alertTitle {
	title := &alertTitle{}
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
