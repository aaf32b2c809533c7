package figure

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"presswork/internal/markdown/tree"
)

// sizedImageParser parses ![alt](source =300x200) on one line. Goldmark parses all other images.
type sizedImageParser struct{}

func (sizedImageParser) Trigger() []byte { return []byte{'!'} }

// Parse implements parser.InlineParser. A title may come before the size, which may have only a width or a height.
// Parse returns nil for an image without a size, so that goldmark's parser reads it.
func (sizedImageParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	const longest = 4000 // bytes

	line, segment := block.PeekLine()
	if len(line) < 2 || line[1] != '[' {
		return nil
	}
	line = line[:min(len(line), longest)] // each image of the line searches the rest: bound that

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
