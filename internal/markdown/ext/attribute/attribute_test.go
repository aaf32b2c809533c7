package attribute_test

import (
	"testing"

	"presswork/internal/markdown/ext/attribute"
	"presswork/internal/test/rendered"
)

func TestAttributes(t *testing.T) {
	t.Parallel()

	rendered.Check(t, rendered.Rows{
		"link":                  {"[a](b){.c}", `<p><a href="b" class="c">a</a></p>`},
		"code":                  {"`a`{.b #c}", `<p><code id="c" class="b">a</code></p>`},
		"heading":               {"# a {#b .c}", `<h1 id="b" class="c">a</h1>`},
		"unnumbered heading":    {"# a {-}", `<h1 class="unnumbered">a</h1>`},
		"paragraph":             {"a\n{.b}", `<p class="b">a</p>`},
		"paragraph of kramdown": {"{: .a}\nb", `<p class="a">b</p>`},
		"block before":          {"- a\n\n{.b}", "<ul class=\"b\">\n<li>a</li>\n</ul>"},
		"list of kramdown":      {"- a\n- b\n{: .c}", "<ul class=\"c\">\n<li>a</li>\n<li>b</li>\n</ul>"},
		"list item":             {"- a {.b}", "<ul>\n<li class=\"b\">a</li>\n</ul>"},
		"table": {
			"|a|\n|-|\n|b|\n{.c}",
			"<table class=\"c\">\n<thead>\n<tr>\n<th>a</th>\n" +
				"</tr>\n</thead>\n<tbody>\n<tr>\n<td>b</td>\n</tr>\n" +
				"</tbody>\n</table>",
		},
		"span":           {"[a *b*]{.c}", `<p><span class="c">a <em>b</em></span></p>`},
		"span in a span": {"[[a]{.b} c]{.d}", `<p><span class="d"><span class="b">a</span> c</span></p>`},
		"title of a table": {
			"|a|\n|-|\n\n{: title=\"T *c*\"}",
			"<table>\n<caption>T *c*</caption>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n</table>",
		},
		"size in inches":       {"![a](b){width=1in}", `<p><img src="b" alt="a" width="96"></p>`},
		"unknown attributes":   {"[a](b){onclick=x target=_blank}", `<p><a href="b">a</a></p>`},
		"alternative text":     {`![](b){fig-alt="a <b> & *c*"}`, `<p><img src="b" alt="a &lt;b&gt; &amp; *c*"></p>`},
		"own alternative text": {`![d](b){fig-alt="a" fig-pos=h}`, `<p><img src="b" alt="d"></p>`},
		"no attributes":        {"f(x){a=b} {c} d{.e}", "<p>f(x){a=b} {c} d{.e}</p>"},
		"reserved class":       {"[a](b){.cover .toc-x}", `<p><a href="b">a</a></p>`},
		"evil values": {
			`[a](b){.c" onclick="x #d}`,
			`<p><a href="b">a</a>{.c&quot; onclick=&quot;x #d}</p>`,
		},
		"never closed": {"[a](b){.c", `<p><a href="b">a</a>{.c</p>`},
	}, nil, attribute.Extension{})
}
