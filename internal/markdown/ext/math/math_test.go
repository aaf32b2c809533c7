package math_test

import (
	"testing"

	"github.com/yuin/goldmark/ast"

	"presswork/internal/markdown/ext/math"
	"presswork/internal/markdown/tree"
	"presswork/internal/test/rendered"
)

func TestFormulas(t *testing.T) {
	t.Parallel()

	rendered.Check(t, rendered.Rows{
		"text":            {"a $x^2$ b", `<p>a <code class="math-error">x^2</code> b</p>`},
		"display in text": {"a $$x$$ b", `<p>a <code class="math-error">x</code> b</p>`},
		"backticks":       {"$`a$b`$", `<p><code class="math-error">a$b</code></p>`},
		"prices":          {"$5 and $6, $ x$, $x $", "<p>$5 and $6, $ x$, $x $</p>"},
		"escaped":         {`\$a$`, "<p>$a$</p>"},
		"block": {
			"$$\nx\n\\frac{a}{b}\n$$",
			"<pre class=\"math-error\"><code>x\n\\frac{a}{b}</code></pre>",
		},
		"block on a line":                    {"$$x$$", `<pre class="math-error"><code>x</code></pre>`},
		"display that ends in the next line": {"a $$\nx\n$$ b", "<p>a <code class=\"math-error\">\nx\n</code> b</p>"},
		"environment in text": {
			"a \\begin{align}\nb \\end{align} c",
			"<p>a <code class=\"math-error\">\\begin{align}\nb \\end{align}</code> c</p>",
		},
		"environment in text, not closed": {`a \begin{align} b`, `<p>a \begin{align} b</p>`},
		// The parser found an empty formula here, forever at the same place.
		"environment right after the end of another": {
			`a \end{align}\begin{align} b`,
			`<p>a \end{align}\begin{align} b</p>`,
		},
		"never closed": {"$$\na\n\nb", "<p>$$\na</p>\n<p>b</p>"},
		"parentheses of LaTeX": {
			`\(x\) and \(f(n-1)\)`,
			`<p><code class="math-error">x</code> and <code class="math-error">f(n-1)</code></p>`,
		},
		"brackets of LaTeX": {
			"\\[\n\\frac{a}{b}\n\\]",
			`<pre class="math-error"><code>\frac{a}{b}</code></pre>`,
		},
		"escaped parentheses": {
			`file\(s\), \(see below\), \[user_name=x]`,
			"<p>file(s), (see below), [user_name=x]</p>",
		},
		"usage of a command": {`git \[--size=<n>\]`, "<p>git [--size=<n>]</p>"},
		"environment": {
			"\\begin{align}\na &= b\n\\end{align}",
			"<pre class=\"math-error\"><code>\\begin{align}\na &amp;= b\n\\end{align}</code></pre>",
		},
		"environment never closed": {"\\begin{align}\na\n\nb", "<p>\\begin{align}\na</p>\n<p>b</p>"},
		"markup":                   {"$<b>$", `<p><code class="math-error">&lt;b&gt;</code></p>`},
		"in a quote": {
			"> $$\n> x\n> $$",
			"<blockquote>\n<pre class=\"math-error\"><code>x</code></pre>\n</blockquote>",
		},
	}, nil, math.Extension{})
}

func TestTypesetFormulasRenderTheirPlaces(t *testing.T) {
	t.Parallel()

	rendered.Check(t, rendered.Rows{
		"text":  {"a $x$", `<p>a <span data-embed="1"></span></p>`},
		"block": {"$$\nx\n$$", `<div data-embed="2"></div>`},
	}, func(root ast.Node, _ []byte) {
		tree.Each(root, func(n ast.Node) {
			switch n := n.(type) {
			case *math.Formula:
				n.Embed = 1
			case *math.Block:
				n.Embed = 2
			}
		})
	}, math.Extension{})
}
