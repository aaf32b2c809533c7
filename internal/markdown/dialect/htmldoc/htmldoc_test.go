package htmldoc

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestDocumentsBecomeMarkdown(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ in, want string }{
		"title, author and language": {
			`<html lang="de"><head><title>A "b"
			: c</title><meta name="author" content="Ann"></head><body>x</body></html>`,
			"---\ntitle: \"A \\\"b\\\" : c\"\nauthor: \"Ann\"\nlang: \"de\"\n---\n\n<p>x</p>",
		},
		"a language that is none": {`<html lang="x y">`, "---\n---"},
		"headings with their ids": {
			`<section id="s"><h2>One <em>*two*</em></h2></section><h3 id="a b">Three<br>four</h3><h4></h4>`,
			"---\n---\n\n## One <em>&#42;two&#42;</em> {#s}\n\n### Three<br>four",
		},
		"text in containers": {
			"<div id=d>one <b>two</b><p>three</p>four</div>",
			"---\n---\n\n<p id=\"d\">one <b>two</b></p>\n\n<p>three</p>\n\n<p>four</p>",
		},
		"code with its language": {
			"<pre class=\"sourceCode python\"><code>a\n\n<span>```b</span>\n</code></pre>",
			"---\n---\n\n````python\na\n\n```b\n````",
		},
		"a block in one line": {
			"<ul>\n<li><pre>a\n\n b</pre></li>\n</ul>", "---\n---\n\n<ul> <li><pre>a&#10;&#10; b</pre></li> </ul>",
		},
		"what is no Markdown": {
			"<p>$x$ `c` {{ y }} [a](b) # --- <!-- c --></p>",
			"---\n---\n\n<p>&#36;x&#36; &#96;c&#96; &#123;&#123; y &#125;&#125; &#91;a&#93;(b) &#35; &#45;&#45;&#45; </p>",
		},
		"attributes": {
			"<img src=\"a.png?x&amp;y\" alt=\"&quot;$q$\n\" onerror='x'>",
			"---\n---\n\n<p><img src=\"a.png?x&amp;y\" alt=\"&quot;&#36;q&#36; \" onerror=\"x\"></p>",
		},
		"scripts, styles and frames": {
			"<style>a</style><script>b</script><iframe>c</iframe><svg><title>d</title></svg><p>e<script>f</script></p>",
			"---\n---\n\n<p>e</p>",
		},
		"an old encoding": {"<meta charset=windows-1252><p>gr\xfcn", "---\n---\n\n<p>grün</p>"},
		"a late letter":   {"<p>" + strings.Repeat("x", 2000) + "ü", "---\n---\n\n<p>" + strings.Repeat("x", 2000) + "ü</p>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := Markdown([]byte(c.in))
			if err != nil || strings.TrimSpace(string(got)) != c.want {
				t.Errorf("got\n%s\n%v, want\n%s", got, err, c.want)
			}
		})
	}
}

func TestHostileHTMLIsBounded(t *testing.T) {
	t.Parallel()

	if _, err := Markdown([]byte(strings.Repeat("<div>", 10_000))); !errors.Is(err, ErrNested) {
		t.Errorf("deep nesting: %v", err)
	}

	for name, unit := range map[string]string{
		"open formatting": "<b><p>", "tables in tables": "<table><tr><td>", "signs": "*_*_", "backticks": "<pre>```",
		"foster parents": "<table>x<b>", "ids": "<div id=x>", "quotes": "<p title='\"\"\"'>",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := []byte(strings.Repeat(unit, 500_000/len(unit)))
			began := time.Now()

			if out, err := Markdown(in); err == nil && len(out) > 100*len(in) {
				t.Errorf("%d bytes become %d", len(in), len(out))
			}
			const generous = time.Minute // less than a second without load

			if took := time.Since(began); took > generous {
				t.Errorf("it took %s", took)
			}
		})
	}
}
