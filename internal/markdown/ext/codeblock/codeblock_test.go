package codeblock_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"

	"presswork/internal/markdown/ext/codeblock"
	"presswork/internal/test/rendered"
)

func TestCodeBlocks(t *testing.T) {
	t.Parallel()

	rendered.Check(t, rendered.Rows{
		"highlighted": {
			"```go\nvar a = \"b\"\n```",
			`<pre class="chroma keep"><code class="language-go"><span class="kd">var</span> a = <span ` +
				"class=\"s\">&#34;b&#34;</span>\n</code></pre>",
		},
		"title and marks": {
			"```text title=\"a & b\" {2}\nx\ny\n```",
			"<figure class=\"code-figure\"><figcaption class=\"code-title\">a &amp; b</figcaption>\n" +
				"<pre class=\"chroma keep\"><code class=\"language-text\">x\n" +
				"<span class=\"line line-marked\">y\n</span></code></pre>\n" +
				"</figure>",
		},
		"file name": {
			"```text:a.txt\nx\n```",
			"<figure class=\"code-figure\"><figcaption class=\"code-title\">a.txt</figcaption>\n" +
				"<pre class=\"chroma keep\"><code class=\"language-text\">x\n" +
				"</code></pre>\n</figure>",
		},
		"line numbers": {
			"```text linenos start=5\nx\n```",
			`<pre class="chroma keep numbered" data-start="5"><code class="language-text"><span ` +
				"class=\"line\">x\n</span></code></pre>",
		},
		"classes of Pandoc": {
			"```{.text .numberLines startFrom=3 .x}\na\n```",
			`<pre class="x chroma keep numbered" data-start="3"><code class="language-text"><span ` +
				"class=\"line\">a\n</span></code></pre>",
		},
		"cell": {"```{r}\n```", `<pre class="chroma keep"><code class="language-r"></code></pre>`},
		"diff": {
			"```diff\n--- a\n-b\n+c\n```",
			"<pre class=\"chroma keep\"><code class=\"language-diff\"><span class=\"gd\">--- a\n" +
				"</span><span class=\"line line-removed\"><span class=\"gd\">-b\n" +
				"</span></span><span class=\"line line-added\"><span class=\"gi\">+c\n" +
				"</span></span></code></pre>",
		},
		"diff of a language": {
			"```diff-text\n-b\n+c\n d\n```",
			"<pre class=\"chroma keep\"><code class=\"language-text\"><span class=\"line line-removed\">-b\n" +
				"</span><span class=\"line line-added\">+c\n</span> d\n" +
				"</code></pre>",
		},
		"indented": {"    a <b>", "<pre><code>a &lt;b&gt;\n</code></pre>"},
		"evil info string": {
			"```\"><script>\na\n```",
			"<pre class=\"chroma keep\"><code class=\"language-&#34;&gt;&lt;script&gt;\">a\n</code></pre>",
		},
		"evil title": {
			"```text title=\"<script>\"\na\n```",
			"<figure class=\"code-figure\"><figcaption class=\"code-title\">&lt;script&gt;</figcaption>\n" +
				"<pre class=\"chroma keep\"><code class=\"language-text\">a\n" +
				"</code></pre>\n</figure>",
		},
		"long line": {
			"```text\n" + strings.Repeat("a", 60) + "\n```",
			`<pre class="chroma keep" data-columns="61"><code class="language-text"><span ` +
				"class=\"line\">aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n" +
				"</span></code></pre>",
		},
		"drawing": {
			"```\n┌─┐\n│ │\n└─┘\n```",
			"<pre class=\"chroma keep drawing\"><code>┌─┐\n│ │\n└─┘\n</code></pre>",
		},
	}, func(root ast.Node, src []byte) { codeblock.Prepare(root, src, false, nil) }, codeblock.Extension{})
}

func TestLargeCodeIsPrintedPlain(t *testing.T) {
	t.Parallel()

	source := "```go\n" + strings.Repeat("return 1\n", 20_000) + "```\n\n```go\nreturn\n```\n"
	if n := strings.Count(render(t, source, nil), "<span"); n != 1 {
		t.Errorf("%d spans, want only that of the small block", n)
	}
}

// Chromium takes 11 s to tag one element of 2000 coloured lines, and 1 s to tag 20 of 100.
func TestLongCodeIsSplitIntoElements(t *testing.T) {
	t.Parallel()

	for lines, want := range map[int]int{100: 1, 101: 2, 1000: 10} {
		t.Run(fmt.Sprint(lines), func(t *testing.T) {
			t.Parallel()
			html := render(t, "```go\n"+strings.Repeat("x := 1\n", lines)+"```\n", nil)

			got := strings.Count(html, `<code class="language-go">`)
			if got != want || strings.Count(html, "</code>") != want || strings.Count(html, "<pre") != 1 {
				t.Errorf("%d lines are in %d elements, want %d", lines, got, want)
			}
		})
	}
}

// render returns the HTML of a source with highlighted code.
func render(t *testing.T, source string, look func(class string) bool) string {
	t.Helper()

	return rendered.HTML(t, rendered.New(codeblock.Extension{}), source, func(root ast.Node, src []byte) {
		codeblock.Prepare(root, src, false, look)
	})
}
