package sanitize_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"presswork/internal/markdown/sanitize"
	"presswork/internal/markdown/tree"
)

func TestPolicyKeepsWhatIsPrintedAndDropsTheRest(t *testing.T) {
	t.Parallel()
	policy := sanitize.New()

	for name, row := range map[string]struct{ html, want string }{
		"elements":          {"<p>a <kbd>b</kbd></p>", "<p>a <kbd>b</kbd></p>"},
		"script":            {"a<script>alert(1)</script>b", "ab"},
		"style":             {"a<style>p{}</style>b", "ab"},
		"frame":             {`a<iframe src="x">c</iframe>b`, "ab"},
		"drawing":           {"a<svg><text>c</text></svg>b", "ab"},
		"form":              {`<form action="x"><button>a</button></form>`, "a"},
		"refresh":           {`<meta http-equiv="refresh" content="0">a`, "a"},
		"event handler":     {`<p onclick="x()">a</p>`, "<p>a</p>"},
		"script address":    {`<a href="javascript:x()">a</a>`, "<a>a</a>"},
		"address in a tag":  {`<a href="https://a.example/x">a</a>`, `<a href="https://a.example/x">a</a>`},
		"style for breaks":  {`<p style="page-break-after: always">a</p>`, `<p style="page-break-after: always">a</p>`},
		"style for layout":  {`<p style="position: fixed; text-align: right">a</p>`, `<p style="text-align: right">a</p>`},
		"address in style":  {`<p style="background: url(http://x)">a</p>`, "<p>a</p>"},
		"size":              {`<img src="a.png" width="50%" height="9em">`, `<img src="a.png" width="50%">`},
		"unknown attribute": {`<div data-slide aria-label="x">a</div>`, "<div>a</div>"},
		"embed":             {`<div data-embed="12"></div>`, `<div data-embed="12"></div>`},
		"false embed":       {`<div data-embed="x"></div>`, "<div></div>"},
		"comment":           {"a<!-- b -->c", "ac"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := policy.Sanitize(strings.NewReader(row.html)).String(); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

// render returns the HTML of Markdown after a change to its tree.
func render(t *testing.T, src string, change func(root ast.Node, src []byte)) string {
	t.Helper()
	m := goldmark.New(goldmark.WithRendererOptions(
		html.WithUnsafe(),
		renderer.WithNodeRenderers(util.Prioritized(tree.Renderer{}, 100)),
	))
	root := m.Parser().Parse(text.NewReader([]byte(src)))
	change(root, []byte(src))

	var out bytes.Buffer
	if err := m.Renderer().Render(&out, []byte(src), root); err != nil {
		t.Fatal(err)
	}

	return out.String()
}

func TestEscapePrintsRawHTMLAsText(t *testing.T) {
	t.Parallel()

	for name, row := range map[string]struct{ source, want string }{
		"inline":        {"a <b>c</b>", "<p>a &lt;b&gt;c&lt;/b&gt;</p>\n"},
		"block":         {"<div>\na\n</div>\n", "<p>&lt;div&gt;\na\n&lt;/div&gt;\n</p>\n"},
		"closing line":  {"<script>\na\n</script>\n", "<p>&lt;script&gt;\na\n&lt;/script&gt;\n</p>\n"},
		"code":          {"`<b>`", "<p><code>&lt;b&gt;</code></p>\n"},
		"emphasis in b": {"<b>*a*</b>", "<p>&lt;b&gt;<em>a</em>&lt;/b&gt;</p>\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := render(t, row.source, func(root ast.Node, _ []byte) { sanitize.Escape(root) })
			if got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestRawHTMLDoesNotRemoveWhatFollows(t *testing.T) {
	t.Parallel()

	for name, row := range map[string]struct{ source, want string }{
		"plain element":       {"a <b>c</b>", "<p>a <b>c</b></p>\n"},
		"script in a text":    {"use the <script> tag", "<p>use the &lt;script&gt; tag</p>\n"},
		"whole script":        {"a <script>b</script> c", "<p>a <script>b</script> c</p>\n"},
		"drawing without end": {"<svg>\n\nb", "<p>&lt;svg&gt;\n</p>\n<p>b</p>\n"},
		"end without start":   {"a </svg> b", "<p>a &lt;/svg&gt; b</p>\n"},
		"cut tag":             {"<svg\n\nb", "<p>&lt;svg</p>\n<p>b</p>\n"},
		"reserved class":      {`<p class="cover ok">a</p>`, `<p class="ok">a</p>`},
		"reserved inline":     {`a <span class="toc-x">b</span>`, "<p>a <span class=\"\">b</span></p>\n"},
		"emoji":               {"<p>:tada:</p>", "<p>🎉</p>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := render(t, row.source, sanitize.RawHTML); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}
