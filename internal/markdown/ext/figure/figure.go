// Package figure turns images into figures, and paragraphs next to tables into captions. It also parses images with a
// size.
package figure

import (
	"bytes"
	"html"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/util"

	"presswork/internal/markdown/label"
	"presswork/internal/markdown/tree"
)

// Extension adds images with a size: ![alt](source =300x200).
type Extension struct{}

// Extend implements goldmark.Extender. The parser comes before goldmark's parser of links and images (200).
func (Extension) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(parser.WithInlineParsers(util.Prioritized(sizedImageParser{}, 190)))
}

// Place replaces a paragraph by a figure if its only content is an image, or a link around an image. The image or the
// paragraph must have a title or the label of a figure. The caption is the title, else the alternative text.
func Place(p *ast.Paragraph, src []byte) {
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
	if !titled && label.KindOf(tree.AttributeText(img, "id")) != label.Figure &&
		label.KindOf(tree.AttributeText(p, "id")) != label.Figure {
		return
	}
	f := &tree.Figure{}
	f.SetPos(p.Pos()) // for the line numbers of warnings

	if titled {
		f.Caption = tree.Unescape(img.Title)
	}

	// The caption replaces the title. The figure gets the id and the classes, because references lead to the figure.
	img.Title = nil
	for _, name := range []string{"id", "class"} {
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

// altCaption returns a caption with the nodes of an image's alternative text. The image keeps it as plain text.
func altCaption(img *ast.Image, src []byte) *tree.Caption {
	alt := ast.NewString([]byte(html.EscapeString(tree.PlainText(img, src))))
	c := &tree.Caption{Figure: true}

	tree.MoveChildren(img, c)
	img.AppendChild(img, alt)

	return c
}
