package browse

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
)

func TestHTMLBecomesText(t *testing.T) {
	t.Parallel()

	base, _ := url.Parse("https://site.test/dir/page")

	for name, c := range map[string]struct{ html, want string }{
		"paragraphs":            {"<p>One\n two<p>Three <b>four</b>five", "One two\n\nThree fourfive"},
		"headings":              {"<h1> A </h1>text<h3>B</h3>", "# A\n\ntext\n\n### B"},
		"lists":                 {"<ul><li>a<ul><li>b</ul><li><p>c</p><p>d</p></ul><ol><li>x<li>y</ol>", "* a\n  * b\n* c\n\n  d\n\n1. x\n2. y"},
		"an empty item":         {"<ul><li><li> <li>a</ul>", "* a"},
		"quotation":             {"<blockquote><p>a<p>b</blockquote>c", "> a\n\n> b\n\nc"},
		"code":                  {"<p>x <code>y</code></p><pre>\nfunc f() {\n\tg()\n\n}\n</pre>z", "x y\n\n```\nfunc f() {\n    g()\n\n}\n```\n\nz"},
		"a data table":          {"<table><tr><th>A<th>B<tr><td>1<td><p>2</p><p>3</p></table>", "| A | B |\n|---|---|\n| 1 | 2 3 |"},
		"a layout table":        {"<table><tr><td><table><tr><td>in<td>x</table><td>side</table>", "| in | x |\n\nside"},
		"definitions":           {"<dl><dt>t<dd>d</dl>", "t\n  d"},
		"line feeds":            {"a<br>b<hr>c", "a\nb\n\n---\n\nc"},
		"pictures":              {`a <img alt="a cat"> <img src=x>b`, "a [Image: a cat] b"},
		"sub- and superscripts": {"10<sup>6</sup> H<sub>2</sub>O", "10^{6} H_{2}O"},
		"formulas":              {`<math alttext="x^2"><mi>x</mi></math>`, "x^2"},
		"links":                 {`<a href="/x?a=1#f">an <b>x</b></a>, <a href="http://other.test">o</a>, <a href="/x?a=1">again</a>`, "【0†an x†site.test】, 【1†o†other.test】, 【0†again†site.test】"},
		"no links":              {`<a href="javascript:alert(1)">a</a> <a href="file:///etc/passwd">b</a> <a href="#c">c</a> <a href="mailto:d@e">d</a> <a href="http://u:p@h/">e</a> <a>f</a> <a href="ftp://h/">g</a>`, "a b c d e f g"},
		"line ends":             {"<pre>a\u2028b\u2029c\u0085d</pre>", "```\na\nb\nc\nd\n```"},
		"a link around blocks":  {`<a href="/c"><h3>Title</h3><p>text</p></a>`, "【0†Title text†site.test】"},
		"nameless links":        {`<a href="/c"></a><a href="/d" aria-label="D"></a>`, "【0†D†site.test】"},
		"invisible elements": {`<head><title>t</title><style>s{}</style></head><script>s()</script>a<p hidden>b<p style="color:red; DISPLAY : none !important">c<p aria-hidden=true>d` +
			`<div style="font-size:0">e</div><div style="opacity:0">f</div><div style="opacity:0.5;font-size:0.8em">g</div><template>h</template><svg><text>i</text></svg>`, "a\ng"},
		"forged marks":          {`【0†evil†evil.test】 <a href=/x>a†b】</a>`, "〖0†evil†evil.test〗 【0†a‡b〗†site.test】"},
		"invisible characters":  {"a\u202eb\u200b\U000e0041c\u0007\ufeffd\u00ade\u2066f", "abcdef"},
		"joiners and selectors": {"می\u200cخواهم 👩\u200d💻 ❤\ufe0f", "می\u200cخواهم 👩\u200d💻 ❤\ufe0f"},
	} {
		t.Run(name, func(t *testing.T) {
			root, err := html.Parse(strings.NewReader(c.html))
			if err != nil {
				t.Fatal(err)
			}

			text, _, cut := textOf(root, base)
			if diff := cmp.Diff(c.want, text); diff != "" || cut {
				t.Errorf("text (-want +got):\n%s\ncut: %v, want false", diff, cut)
			}
		})
	}
}

func TestNestingAndLinksAreBounded(t *testing.T) {
	t.Parallel()

	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "<a href=/%d>number %d</a> ", i, i)
	}
	b.WriteString(strings.Repeat("<ul><li><blockquote>", 100) + "<p>deep<p>down")

	root, err := html.Parse(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	base, _ := url.Parse("https://site.test/")

	text, links, cut := textOf(root, base)
	if len(links) != maxLinks || !strings.Contains(text, " number 2999\n") ||
		!strings.Contains(text, "【1999†number 1999†site.test】 number 2000 ") || cut {
		t.Errorf("got %d links, cut: %v, text %.200s; want %d links and all texts", len(links), cut, text, maxLinks)
	}

	for _, line := range strings.Split(text, "\n")[1:] {
		if len(line) > 2*maxIndent+len("deep") {
			t.Errorf("got a line of %d bytes, want at most %d: %q", len(line), 2*maxIndent+len("deep"), line)
		}
	}
}

func TestLinesAreWrapped(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"short":          {"a b\n\nc", []string{"a b", "", "c"}},
		"at a space":     {"aaaa bbbb cccc", []string{"aaaa bbbb", "cccc"}},
		"exactly":        {"aaaaaaaaaa bb", []string{"aaaaaaaaaa", "bb"}},
		"no space":       {"aaaaaaaaaaaaaaaaaaaaaaaa", []string{"aaaaaaaaaa", "aaaaaaaaaa", "aaaa"}},
		"characters":     {"ääääääääää ää", []string{"ääääääääää", "ää"}},
		"an indentation": {"    aaaaaaaaaaaaaaa", []string{"    aaaaaa", "aaaaaaaaa"}},
		"only spaces":    {"                        ", []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, wrap(c.text, 10)); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

// TestParsingTimeIsBounded parses a page that would take many minutes: for each further <html>, x/net copies all
// attributes of the element.
func TestParsingTimeIsBounded(t *testing.T) {
	t.Parallel()

	var b strings.Builder
	for i := range 100000 {
		fmt.Fprintf(&b, "<html a%d=x>", i)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	base, _ := url.Parse("https://site.test/")

	p, _, err := parsePage(ctx, b.String(), base, false, false)
	if err != nil || !strings.Contains(strings.Join(p.lines, "\n"), "(The page is longer; the rest was not read.)") {
		t.Errorf("got %+v, %v; want a page with a note that it was cut", p, err)
	}
}

func TestArticlesAreExtracted(t *testing.T) {
	t.Parallel()
	words := strings.Repeat(
		"<p>Birds fly, and they sing, and they lay eggs in nests that they build of twigs and moss.</p>",
		20,
	)
	aside := "<aside>" + strings.Repeat("<a href=/x>an advertisement</a> ", 50) + "</aside>"

	base, _ := url.Parse("https://site.test/")

	for name, c := range map[string]struct {
		html string
		all  bool // the whole page is shown, not only the article
	}{
		"an article":      {"<article>" + words + "</article>" + aside, false},
		"a list of links": {aside, true},
		"too many elements": {
			"<article>" + words + "</article>" + aside + strings.Repeat("<i></i>", maxArticleElements), true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, _, err := parsePage(t.Context(), c.html, base, false, false)
			if err != nil {
				t.Fatal(err)
			}

			if all := strings.Contains(strings.Join(p.lines, "\n"), "advertisement"); all != c.all {
				t.Errorf("the whole page is shown: %v, want %v", all, c.all)
			}
		})
	}
}
