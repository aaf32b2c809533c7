// Package wikilink reads the links and embedded images of Obsidian: [[Page#Heading|text]]. The parser makes Link nodes.
// Resolve replaces them when all headings are known.
package wikilink

import (
	"bytes"
	"path"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"presswork/internal/markdown/tree"
)

// maxWikiLink is the longest text between the brackets, in bytes.
const maxWikiLink = 500

// Link is a link to another note or to a heading by its name:
//
//	[[Page]] [[Page#Heading]] [[#Heading|shown]]
//
// Its children are the text of the link.
type Link struct {
	ast.BaseInline
	// Page and Heading are the names in the source, "" for none.
	Page, Heading string
	// Plain reports whether the link has the form [[Page]], which may also be text in brackets.
	Plain bool
	// Source is the link with its brackets.
	Source text.Segment
}

// Kind implements ast.Node.
func (*Link) Kind() ast.NodeKind { return KindLink }

// Dump implements ast.Node.
func (n *Link) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

// KindLink is the kind of a Link.
var KindLink = ast.NewNodeKind("WikiLink")

// wikiParser parses wiki links, and embedded images: ![[image.png|300]].
type wikiParser struct{ enabled func(parser.Context) bool }

func (wikiParser) Trigger() []byte { return []byte{'[', '!'} }

// Parse reads [[Page]], [[Page|text]], and ![[image.png]].
func (p wikiParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()

	start := 0
	if line[0] == '!' {
		start = 1
	}

	if len(line) < start+5 || line[start] != '[' || line[start+1] != '[' || !p.enabled(pc) {
		return nil
	}
	start += 2
	inside := line[start:min(len(line), start+maxWikiLink)]

	end := bytes.IndexAny(inside, "[]\n")
	if end < 1 || !bytes.HasPrefix(inside[end:], []byte("]]")) || start == 2 && block.PrecendingCharacter() == '[' {
		return nil
	}
	// These are links of plain Markdown with brackets in their text: [[1]](target), [[1]][label].
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
	// An embedded image begins with the three characters ![[.
	if start == 3 && IsImageName(target) {
		img := embeddedImage(target, inside[:end], shown, at)
		block.Advance(start + end + 2)

		return img
	}
	n := newLink(target, inside[:end], shown, at)
	n.Source = segment.WithStop(at + end + 2)
	n.Plain = start == 2 && shown < 0 && bytes.IndexByte(target, '#') < 0
	block.Advance(start + end + 2)

	return n
}

// newLink returns the link for the text inside the brackets, which is at the offset at of the source. target is the
// text before the bar, and shown the index of the text after it, -1 for none. Without that text, the link shows the
// names of the page and the heading.
func newLink(target, inside []byte, shown, at int) *Link {
	n := &Link{}
	n.Page, n.Heading, _ = strings.Cut(string(target), "#")
	show := func(from, to int) { n.AppendChild(n, ast.NewTextSegment(text.NewSegment(at+from, at+to))) }

	if shown >= 0 && len(bytes.TrimSpace(inside[shown:])) > 0 {
		show(shown, len(inside))
		return n
	}
	show(0, len(n.Page))

	if n.Page != "" && n.Heading != "" {
		n.AppendChild(n, ast.NewString([]byte(" › ")))
	}

	if n.Heading != "" {
		show(len(n.Page)+1, len(target))
	}

	return n
}

// IsImageName reports whether a name has the extension of an image file.
func IsImageName(target []byte) bool {
	switch strings.ToLower(path.Ext(string(target))) {
	case ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif", ".bmp":
		return true
	}

	return false
}

// embeddedImage returns the image for ![[image.png|text|300x200]]. The parts after the bars are the
// alternative text and the size. shown is the offset of the first of them in inside, -1 for none.
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

// imageSize reads a size in pixels: 300 or 300x200.
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
