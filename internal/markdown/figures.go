package markdown

import (
	"bytes"
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	htmlrender "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"presswork/internal/markdown/label"
	"presswork/internal/markdown/tree"
)

// figure is an image with a caption: one that stands alone in its paragraph and
// has a title.
type figure struct {
	ast.BaseBlock
	caption string
}

func (*figure) Kind() ast.NodeKind { return kindFigure }

func (n *figure) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

var kindFigure = ast.NewNodeKind("Figure")

// placeFigure replaces a paragraph that is nothing but a titled image, or a
// link of one.
func placeFigure(p *ast.Paragraph, src []byte) {
	only := p.FirstChild()
	if only == nil || only.NextSibling() != nil {
		return
	}

	if link, ok := only.(*ast.Link); ok {
		if only = link.FirstChild(); only == nil || only.NextSibling() != nil {
			return
		}
	}

	img, ok := only.(*ast.Image)
	if !ok {
		return
	}

	titled := len(bytes.TrimSpace(img.Title)) > 0
	if !titled && label.KindOf(tree.AttributeText(img, "id")) != Figure &&
		label.KindOf(tree.AttributeText(p, "id")) != Figure {
		return
	}
	f := &figure{}
	f.SetPos(p.Pos())

	if titled {
		f.caption = tree.Unescape(img.Title)
	}

	img.Title = nil
	for _, name := range []string{"id", "class"} { // attributes of the image are meant for the figure
		for _, from := range []ast.Node{p, img} {
			if value := tree.AttributeText(from, name); value != "" {
				f.SetAttributeString(name, []byte(value))
				from.SetAttributeString(name, []byte(nil))
			}
		}
	}
	f.AppendChild(f, p.FirstChild())

	if !titled && img.FirstChild() != nil {
		f.AppendChild(f, altCaption(img, src))
	}
	tree.Replace(p, f)
}

// altCaption makes the caption of an image with a label of its alternative text,
// which stays as a text.
func altCaption(img *ast.Image, src []byte) *tree.Caption {
	alt := ast.NewString([]byte(html.EscapeString(tree.PlainText(img, src))))
	c := &tree.Caption{Figure: true}

	for n := img.FirstChild(); n != nil; {
		next := n.NextSibling()
		c.AppendChild(c, n)
		n = next
	}
	img.AppendChild(img, alt)

	return c
}

type figureRenderer struct{}

func (r figureRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(kindFigure, r.figure)
}

func (figureRenderer) figure(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString("<figure")
		htmlrender.RenderAttributes(w, n, nil)
		_, _ = w.WriteString(">\n")

		return ast.WalkContinue, nil
	}

	if text := n.(*figure).caption; text != "" {
		_, _ = w.WriteString("\n<figcaption>" + html.EscapeString(text) + "</figcaption>")
	}
	_, _ = w.WriteString("\n</figure>\n")

	return ast.WalkContinue, nil
}

// captionTable makes the paragraph behind a table its caption if it begins with
// "Table:" or ":", and so the one before it, for "Table:".
func captionTable(t *east.Table, src []byte) {
	if _, titled := t.FirstChild().(*tree.Caption); titled { // by attributes
		return
	}

	above, _ := t.PreviousSibling().(*ast.Paragraph)
	if below, ok := t.NextSibling().(*ast.Paragraph); ok {
		// Where captions are above their tables, the one below is that of the next table.
		if _, next := below.NextSibling().(*east.Table); next && above != nil && takeCaption(t, above, src, "Table:") {
			return
		}

		if takeCaption(t, below, src, "Table:", ":") {
			return
		}
	}

	if above != nil && takeCaption(t, above, src, "Table:") {
		return
	}
	// Right under the table it was taken for a row.
	row, ok := t.LastChild().(*east.TableRow)
	if !ok || row.PreviousSibling() == nil {
		return
	}

	first := row.FirstChild()
	for c := first.NextSibling(); c != nil; c = c.NextSibling() {
		if c.FirstChild() != nil {
			return
		}
	}

	if takeCaption(t, first, src, "Table:", ": ") {
		t.RemoveChild(t, row)
	}
}

// takeCaption moves the inline content of a block into a caption if it begins
// with one of the prefixes.
func takeCaption(t *east.Table, from ast.Node, src []byte, prefixes ...string) bool {
	first, ok := from.FirstChild().(*ast.Text)
	if !ok {
		return false
	}

	value := first.Segment.Value(src)
	for _, prefix := range prefixes {
		rest, ok := bytes.CutPrefix(value, []byte(prefix))
		if !ok || strings.TrimSpace(string(tree.BlockText(from, src, 0))) == strings.TrimSpace(prefix) {
			continue
		}
		first.Segment = first.Segment.WithStart(first.Segment.Stop - len(bytes.TrimLeft(rest, " \t")))
		c := &tree.Caption{}

		for n := from.FirstChild(); n != nil; {
			next := n.NextSibling()
			c.AppendChild(c, n)
			n = next
		}

		if id := tree.AttributeText(from, "id"); id != "" {
			t.SetAttributeString("id", []byte(id))
		}

		if class := tree.AttributeText(from, "class"); class != "" {
			tree.AddClass(t, class)
		}

		if from.Kind() == ast.KindParagraph {
			from.Parent().RemoveChild(from.Parent(), from)
		}
		t.InsertBefore(t, t.FirstChild(), c)

		return true
	}

	return false
}

// sizedImageParser parses ![alt](source =300x200), on one line. All other
// images are left to goldmark.
type sizedImageParser struct{}

func (sizedImageParser) Trigger() []byte { return []byte{'!'} }

func (sizedImageParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	const longest = 4000

	line, segment := block.PeekLine()
	if len(line) < 2 || line[1] != '[' {
		return nil
	}
	line = line[:min(len(line), longest)]

	shut := 2 + bytes.IndexAny(line[2:], "[]\\`")
	if shut < 2 || line[shut] != ']' || len(line) <= shut+2 || line[shut+1] != '(' {
		return nil
	}
	target := line[shut+2:]

	end := bytes.IndexAny(target, "()<> \t\n")
	if end < 1 || target[end] != ' ' && target[end] != '\t' {
		return nil
	}
	img := ast.NewImage(ast.NewLink())
	img.Destination = bytes.Clone(target[:end])

	rest := bytes.TrimLeft(target[end:], " \t")
	if title, n, ok := tree.ReadValue(rest); ok && (rest[0] == '"' || rest[0] == '\'') {
		img.Title = []byte(title)
		rest = bytes.TrimLeft(rest[n:], " \t")
	}

	stop := bytes.IndexByte(rest, ')')
	if stop < 2 || rest[0] != '=' {
		return nil
	}

	width, height, ok := strings.Cut(strings.TrimSpace(string(rest[1:stop])), "x")
	if !ok && !strings.HasSuffix(width, "%") {
		return nil
	}
	var size tree.Attributes

	for _, p := range []tree.Attribute{{Key: "width", Value: width}, {Key: "height", Value: height}} {
		if p.Value == "" {
			continue
		}

		if _, ok := tree.CleanPair(p); !ok {
			return nil
		}
		size.Pairs = append(size.Pairs, p)
	}

	if len(size.Pairs) == 0 {
		return nil
	}
	size.SetOn(img)
	img.AppendChild(img, ast.NewTextSegment(text.NewSegment(segment.Start+2, segment.Start+shut)))
	block.Advance(len(line) - len(rest) + stop + 1)

	return img
}
