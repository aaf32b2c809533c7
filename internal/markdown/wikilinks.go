package markdown

import (
	"bytes"
	"path"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"presswork/internal/fault"
	"presswork/internal/markdown/tree"
)

// maxWikiLink bounds, in bytes, what stands in the brackets of a wiki link.
const maxWikiLink = 500

// wikiLink is a link to another note, or to a heading, by its name:
//
//	[[Page]] [[Page#Heading]] [[#Heading|shown]]
//
// Its children are what is shown.
type wikiLink struct {
	ast.BaseInline
	page, heading string
	// plain reports whether it could be text in brackets: [[Page]].
	plain bool
	// source is the whole of it.
	source text.Segment
}

func (*wikiLink) Kind() ast.NodeKind { return kindWikiLink }

func (n *wikiLink) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

var kindWikiLink = ast.NewNodeKind("WikiLink")

// wikiParser parses wiki links, and embedded images: ![[image.png|300]].
type wikiParser struct{}

func (wikiParser) Trigger() []byte { return []byte{'[', '!'} }

func (wikiParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()

	start := 0
	if line[0] == '!' {
		start = 1
	}

	if len(line) < start+5 || line[start] != '[' || line[start+1] != '[' || dialectOf(pc) == GFM {
		return nil
	}
	start += 2
	inside := line[start:min(len(line), start+maxWikiLink)]

	end := bytes.IndexAny(inside, "[]\n")
	if end < 1 || !bytes.HasPrefix(inside[end:], []byte("]]")) || start == 2 && block.PrecendingCharacter() == '[' {
		return nil
	}
	// Brackets around a link of plain Markdown: [[1]](target), [[1]][label].
	if after := line[start+end+2:]; len(after) > 0 && bytes.IndexByte([]byte("([]"), after[0]) >= 0 {
		return nil
	}

	target, shown := inside[:end], -1
	if bar := bytes.IndexByte(target, '|'); bar >= 0 {
		target, shown = target[:bar], bar+1
	}

	target = bytes.TrimSuffix(target, []byte(`\`)) // in a table the bar is escaped
	if len(target) == 0 || target[0] == '^' || len(bytes.TrimSpace(target)) < len(target) ||
		bytes.ContainsAny(target, "`<>{}$*\"") {
		return nil
	}

	if _, defined := pc.Reference(util.ToLinkReference(inside[:end])); defined {
		return nil
	}

	at := segment.Start + start
	if start == 3 && isImageName(target) {
		img := embeddedImage(target, inside[:end], shown, at)
		block.Advance(start + end + 2)

		return img
	}
	n := &wikiLink{
		source: segment.WithStop(at + end + 2),
		plain:  start == 2 && shown < 0 && bytes.IndexByte(target, '#') < 0,
	}
	page, heading, _ := strings.Cut(string(target), "#")
	n.page, n.heading = page, heading
	show := func(from, to int) { n.AppendChild(n, ast.NewTextSegment(text.NewSegment(at+from, at+to))) }

	switch {
	case shown >= 0 && len(bytes.TrimSpace(inside[shown:end])) > 0:
		show(shown, end)
	default:
		show(0, len(page))

		if page != "" && heading != "" {
			n.AppendChild(n, ast.NewString([]byte(" › ")))
		}

		if heading != "" {
			show(len(page)+1, len(target))
		}
	}
	block.Advance(start + end + 2)

	return n
}

func isImageName(target []byte) bool {
	switch strings.ToLower(path.Ext(string(target))) {
	case ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif", ".bmp":
		return true
	}

	return false
}

// embeddedImage is the image of ![[image.png|text|300x200]]: what stands behind the
// bars is its text, and its size at the end.
func embeddedImage(target, inside []byte, shown, at int) ast.Node {
	img := ast.NewImage(ast.NewLink())

	img.Destination = bytes.Clone(target)
	if shown < 0 {
		return img
	}
	end := len(inside)

	last := shown + bytes.LastIndexByte(inside[shown:], '|') + 1
	if size, ok := imageSize(string(inside[last:])); ok {
		size.SetOn(img)
		end = max(shown, last-1)
	}

	if alt := bytes.TrimSuffix(inside[shown:end], []byte(`\`)); len(alt) > 0 {
		img.AppendChild(img, ast.NewTextSegment(text.NewSegment(at+shown, at+shown+len(alt))))
	}

	return img
}

// imageSize reads 300 and 300x200.
func imageSize(size string) (a tree.Attributes, ok bool) {
	width, height, both := strings.Cut(size, "x")

	a.Pairs = []tree.Attribute{{Key: "width", Value: width}}
	if both {
		a.Pairs = append(a.Pairs, tree.Attribute{Key: "height", Value: height})
	}

	for _, p := range a.Pairs {
		if _, ok := tree.CleanPair(p); !ok || strings.Trim(p.Value, "0123456789") != "" {
			return tree.Attributes{}, false
		}
	}

	return a, true
}

// placeWikiLinks makes links of the wiki links that lead somewhere in print: to a
// heading, or to a document that is printed with this one. Others become the words
// they show; brackets around words stay what they are unless the document is
// Obsidian's.
func (d *draft) placeWikiLinks(root ast.Node) {
	var found []*wikiLink
	tree.Each(root, func(n ast.Node) {
		if w, ok := n.(*wikiLink); ok {
			found = append(found, w)
		}
	})

	if len(found) == 0 {
		return
	}

	ids := map[string]string{}
	for _, h := range d.headings {
		if key := strings.ToLower(h.Text); ids[key] == "" {
			ids[key] = h.ID
		}
	}

	for _, n := range found {
		target := d.wikiTarget(n, ids)
		switch {
		case target != "":
			link := ast.NewLink()
			link.Destination = []byte(target)
			link.SetPos(n.source.Start)
			tree.MoveChildren(n, link)
			tree.Replace(n, link)
		case n.plain && d.dialect != Obsidian:
			tree.Replace(n, ast.NewTextSegment(n.source))
		default:
			for c := n.FirstChild(); c != nil; c = n.FirstChild() {
				n.Parent().InsertBefore(n.Parent(), n, c)
			}
			n.Parent().RemoveChild(n.Parent(), n)
		}
	}
}

// wikiTarget is where a wiki link leads in print, "" if nowhere.
func (d *draft) wikiTarget(n *wikiLink, ids map[string]string) string {
	// The last of several is the heading: [[#Chapter#Section]].
	heading := n.heading[strings.LastIndexByte(n.heading, '#')+1:]
	if n.page == "" {
		if id := ids[strings.ToLower(strings.TrimSpace(heading))]; id != "" {
			return "#" + id
		}

		if !strings.HasPrefix(heading, "^") { // else a block that Obsidian has named
			d.warn(
				fault.LinkBroken,
				d.lines.At(n.source.Start),
				"link to "+clip(`"#`+heading+`"`)+", but no heading is named like that",
			)
		}

		return ""
	}

	if d.options.Links == nil {
		return ""
	}

	fragment := ""
	if heading != "" && !strings.HasPrefix(heading, "^") {
		fragment = "#" + make(anchors).name(heading)
	}

	for _, name := range []string{n.page + ".md", n.page} {
		if _, ok := d.options.Links(name+fragment, d.lines.At(n.source.Start)); ok {
			return name + fragment
		}
	}

	return ""
}
