package figure_test

import (
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"

	"presswork/internal/markdown/ext/attribute"
	"presswork/internal/markdown/ext/figure"
	"presswork/internal/markdown/tree"
	"presswork/internal/test/rendered"
)

func TestFigures(t *testing.T) {
	t.Parallel()

	rendered.Check(t, rendered.Rows{
		"title": {
			`![a](b "T & c")`,
			"<figure>\n<img src=\"b\" alt=\"a\">\n<figcaption>T &amp; c</figcaption>\n</figure>",
		},
		"label": {
			"![a *b*](c){#fig:d}",
			"<figure id=\"fig:d\">\n<img src=\"c\" alt=\"a b\" id=\"\">\n" +
				"<figcaption>a <em>b</em></figcaption>\n</figure>",
		},
		"image in a link": {
			`[![a](b "T")](c)`,
			"<figure>\n<a href=\"c\"><img src=\"b\" alt=\"a\"></a>\n<figcaption>T</figcaption>\n</figure>",
		},
		"no title":        {"![a](b)", `<p><img src="b" alt="a"></p>`},
		"text next to it": {`![a](b "T") c`, `<p><img src="b" alt="a" title="T"> c</p>`},
		"class": {
			`![a](b "T"){.c}`,
			"<figure class=\"c\">\n<img src=\"b\" alt=\"a\" class=\"\">\n<figcaption>T</figcaption>\n</figure>",
		},
	}, place, figure.Extension{}, attribute.Extension{})
}

func TestImagesWithASize(t *testing.T) {
	t.Parallel()

	rendered.Check(t, rendered.Rows{
		"width and height": {"![a](b =300x200)", `<p><img src="b" alt="a" width="300" height="200"></p>`},
		"width in percent": {"![a](b =50%)", `<p><img src="b" alt="a" width="50%"></p>`},
		"with a title":     {`![a](b "T" =30x)`, `<p><img src="b" alt="a" title="T" width="30"></p>`},
		"height":           {"![a](b =x20)", `<p><img src="b" alt="a" height="20"></p>`},
		"no size":          {"![a](b =c)", "<p>![a](b =c)</p>"},
		"evil size":        {`![a](b =1x1"onerror=x)`, "<p>![a](b =1x1&quot;onerror=x)</p>"},
		"too long": {
			"![a](" + strings.Repeat("b", 4000) + " =1x1)",
			"<p>![a](" + strings.Repeat("b", 4000) + " =1x1)</p>",
		},
	}, nil, figure.Extension{})
}

func TestCaptionsOfTables(t *testing.T) {
	t.Parallel()

	rendered.Check(t, rendered.Rows{
		"below": {
			"|a|\n|-|\n\n: T *c*",
			"<table>\n<caption>T <em>c</em></caption>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n</table>",
		},
		"above": {
			"Table: T\n\n|a|\n|-|",
			"<table>\n<caption>T</caption>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n</table>",
		},
		"last row": {
			"|a|\n|-|\n|b|\nTable: T",
			"<table>\n<caption>T</caption>\n<thead>\n<tr>\n" +
				"<th>a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>b</td>\n" +
				"</tr>\n</tbody>\n</table>",
		},
		"between two tables": {
			"Table: one\n\n|a|\n|-|\n\nTable: two\n\n|b|\n|-|",
			"<table>\n<caption>one</caption>\n<thead>\n<tr>\n" +
				"<th>a</th>\n</tr>\n</thead>\n</table>\n<table>\n" +
				"<caption>two</caption>\n<thead>\n<tr>\n<th>b</th>\n" +
				"</tr>\n</thead>\n</table>",
		},
		"label": {
			"|a|\n|-|\n\nTable: T {#tbl:x}",
			"<table id=\"tbl:x\">\n<caption>T</caption>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n</table>",
		},
		"empty": {
			"|a|\n|-|\n\nTable:",
			"<table>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n</table>\n<p>Table:</p>",
		},
	}, place, figure.Extension{}, attribute.Extension{})
}

// place replaces paragraphs by figures and gives tables their captions.
func place(root ast.Node, src []byte) {
	tree.EachBlock(root, func(n ast.Node) {
		if p, ok := n.(*ast.Paragraph); ok {
			figure.Place(p, src)
		}
	})
	figure.CaptionTables(root, src)
}
