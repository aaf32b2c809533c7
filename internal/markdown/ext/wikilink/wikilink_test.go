package wikilink_test

import (
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"

	"presswork/internal/markdown/ext/wikilink"
	"presswork/internal/test/rendered"
)

func TestWikiLinks(t *testing.T) {
	t.Parallel()

	rendered.Check(t, rendered.Rows{
		"link with a text":  {"[[Page|a *b*]]", "<p>a *b*</p>"},
		"plain link":        {"[[Page]]", "<p>[[Page]]</p>"},
		"image":             {"![[a.png]]", `<p><img src="a.png" alt=""></p>`},
		"image with a size": {"![[a.png|b|300x200]]", `<p><img src="a.png" alt="b" width="300" height="200"></p>`},
		"image with a text": {"![[a.png|300 b]]", `<p><img src="a.png" alt="300 b"></p>`},
		"link of Markdown":  {"[[1]](b) [[a|b]](c)", `<p><a href="b">[1]</a> <a href="c">[a|b]</a></p>`},
		"link definition":   {"[[a]]\n\n[a]: b", `<p>[<a href="b">a</a>]</p>`},
		"bar in a table": {
			"|a|\n|-|\n|[[b\\|c]]|",
			"<table>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n" +
				"<tbody>\n<tr>\n<td>c</td>\n</tr>\n</tbody>\n</table>",
		},
		"markup in the name": {"[[<b>|c]]", "<p>[[<b>|c]]</p>"},
		"spaces":             {"[[ a|b]]", "<p>[[ a|b]]</p>"},
		"over two lines":     {"[[a\nb|c]]", "<p>[[a\nb|c]]</p>"},
		"too long": {
			"[[" + strings.Repeat("a", 501) + "|b]]",
			"<p>[[" + strings.Repeat("a", 501) + "|b]]</p>",
		},
		"evil size":     {`![[a.png|1"x]]`, `<p><img src="a.png" alt="1&quot;x"></p>`},
		"embedded page": {"![[a]]", "<p>a</p>"},
	}, func(root ast.Node, _ []byte) {
		wikilink.Resolve(root, wikilink.Targets{KeepPlain: true, Missing: func(string, int) {}})
	}, wikilink.Extension{Enabled: rendered.Always})
}
