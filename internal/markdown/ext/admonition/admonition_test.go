package admonition_test

import (
	"testing"

	"github.com/yuin/goldmark/ast"

	"presswork/internal/markdown/ext/admonition"
	"presswork/internal/markdown/ext/attribute"
	"presswork/internal/test/rendered"
)

func TestAdmonitionsAndDivisions(t *testing.T) {
	t.Parallel()

	rendered.Check(t, rendered.Rows{
		"alert of GitHub": {
			"> [!NOTE]\n> a",
			"<div class=\"alert alert-note\">\n<p class=\"alert-title\">Note</p>\n<p>a</p>\n</div>",
		},
		"callout with a title": {
			"> [!question]- Why *this*?\n> a",
			"<div class=\"alert alert-note\">\n<p class=\"alert-title\">Why <em>this</em>?</p>\n<p>a</p>\n</div>",
		},
		"unknown type": {
			"> [!odd]\n> a",
			"<div class=\"alert alert-note\">\n<p class=\"alert-title\">Odd</p>\n<p>a</p>\n</div>",
		},
		"quote": {"> [!a b]\n> c", "<blockquote>\n<p>[!a b]\nc</p>\n</blockquote>"},
		"block of MkDocs": {
			"!!! tip \"A & b\"\n    c\n\n    d\n\ne",
			"<div class=\"alert alert-tip\">\n<p class=\"alert-title\">A &amp; b</p>\n" +
				"<p>c</p>\n<p>d</p>\n</div>\n<p>e</p>",
		},
		"empty title":   {"??? note \"\"\n    a", "<div class=\"alert alert-note\">\n<p>a</p>\n</div>"},
		"tab of MkDocs": {"=== \"A\"\n    b", "<div>\n<p><strong>A</strong></p>\n<p>b</p>\n</div>"},
		"fenced": {
			":::warning Careful\na\n:::",
			"<div class=\"alert alert-warning\">\n<p class=\"alert-title\">Careful</p>\n<p>a</p>\n</div>",
		},
		"name in a class": {
			"::: {.callout-tip title=\"A\"}\nb\n:::",
			"<div class=\"alert alert-tip\">\n<p class=\"alert-title\">A</p>\n<p>b</p>\n</div>",
		},
		"division": {"::: {.aside #x}\na\n:::", "<div id=\"x\" class=\"aside\">\n<p>a</p>\n</div>"},
		"division in a division": {
			":::: a\n::: b\nc\n:::\n::::",
			"<div class=\"a\">\n<div class=\"b\">\n<p>c</p>\n</div>\n</div>",
		},
		"colons in code": {
			"::: a\n```\n:::\n```\n:::",
			"<div class=\"a\">\n<pre><code>:::\n</code></pre>\n</div>",
		},
		"columns": {
			"::: columns\n::: {.column width=\"30%\"}\na\n:::\n::: column\nb\n:::\n:::",
			"<div class=\"columns\">\n<div class=\"column\" width=\"30%\" style=\"flex-grow: 30.00\">\n" +
				"<p>a</p>\n</div>\n<div class=\"column\" style=\"flex-grow: 70.00\">\n" +
				"<p>b</p>\n</div>\n</div>",
		},
		"list table": {
			":::list-table {heads=1}\n- - a\n  - b\n- - c\n  - d\n:::",
			"<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n" +
				"</tr>\n</thead>\n<tbody>\n<tr>\n<td>c</td>\n<td>d</td>\n" +
				"</tr>\n</tbody>\n</table>",
		},
		"list table with text": {":::list-table\na\n:::", "<div>\n<p>a</p>\n</div>"},
		"figure": {
			":::figure\n![a](b)\n\nc\n:::",
			"<figure>\n<p><img src=\"b\" alt=\"a\"></p>\n\n<figcaption>c</figcaption></figure>",
		},
		"reserved class": {"::: {.cover .x}\na\n:::", "<div class=\"x\">\n<p>a</p>\n</div>"},
		"markup in a title": {
			":::note <script>x</script>\na\n:::",
			"<div class=\"alert alert-note\">\n<p class=\"alert-title\">&lt;script&gt;x&lt;/script&gt;</p>\n" +
				"<p>a</p>\n</div>",
		},
		"never closed": {
			":::note\na",
			"<div class=\"alert alert-note\">\n<p class=\"alert-title\">Note</p>\n<p>a</p>\n</div>",
		},
	}, func(root ast.Node, src []byte) { admonition.Place(root, src, "") }, admonition.Extension{}, attribute.Extension{})
}

func TestTitlesFollowTheLanguage(t *testing.T) {
	t.Parallel()

	rendered.Check(t, rendered.Rows{
		"translated title": {
			"> [!NOTE]\n> a",
			"<div class=\"alert alert-note\">\n<p class=\"alert-title\">Hinweis</p>\n<p>a</p>\n</div>",
		},
		"own title": {
			":::note A\nb\n:::",
			"<div class=\"alert alert-note\">\n<p class=\"alert-title\">A</p>\n<p>b</p>\n</div>",
		},
		"name without translation": {
			"!!! danger\n    a",
			"<div class=\"alert alert-caution\">\n<p class=\"alert-title\">Danger</p>\n<p>a</p>\n</div>",
		},
	}, inGerman, admonition.Extension{}, attribute.Extension{})
}

func inGerman(root ast.Node, src []byte) { admonition.Place(root, src, "de-AT") }
