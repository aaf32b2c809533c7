package markdown

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
	nethtml "golang.org/x/net/html"

	"presswork/internal/markdown/ext/reference"
	"presswork/internal/markdown/ext/wikilink"
	"presswork/internal/markdown/source"
)

// example is an example of a specification.
type example struct {
	Example   int
	Section   string
	Extension string
	Markdown  string
	HTML      string
}

func examples(t *testing.T, file string) []example {
	t.Helper()

	data, err := os.ReadFile("testdata/spec/" + file)
	if err != nil {
		t.Fatal(err)
	}

	var list []example
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}

	return list
}

// plainRenderer returns a renderer that writes goldmark's nodes as the specifications do, and other nodes as
// documents do.
func plainRenderer() renderer.Renderer {
	const first = 10 // these renderers override those of documents
	r := newHTMLRenderer()
	r.AddOptions(renderer.WithNodeRenderers(
		util.Prioritized(html.NewRenderer(html.WithUnsafe(), html.WithXHTML()), first),
		util.Prioritized(extension.NewFootnoteHTMLRenderer(), first),
		util.Prioritized(wikiSource{}, first),
	))

	return r
}

// wikiSource renders wiki links as their source. Documents print them so if no page has the name.
type wikiSource struct{}

// RegisterFuncs renders wiki links as their source, because the specification does not know them.
func (wikiSource) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(
		wikilink.KindLink,
		func(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
			if entering {
				_, _ = w.Write(util.EscapeHTML(n.(*wikilink.Link).Source.Value(src)))
			}

			return ast.WalkSkipChildren, nil
		},
	)
}

// renderExample renders an example with the parser for documents, with all extensions and guards.
func renderExample(t *testing.T, e example) string {
	t.Helper()
	src := source.NormalizeNewlines([]byte(e.Markdown))

	root, err := parse(t.Context(), newParser(), src, "", reference.None)
	if err != nil {
		t.Fatalf("example %d: %v", e.Example, err)
	}

	var b bytes.Buffer
	if err := plainRenderer().Render(&b, src, root); err != nil {
		t.Fatal(err)
	}

	return b.String()
}

// checkSpec compares every example with its specification. deviations has the reasons for the examples that
// differ.
func checkSpec(t *testing.T, list []example, deviations map[int]string) {
	t.Helper()

	for _, e := range list {
		got := renderExample(t, e)

		reason, deviates := deviations[e.Example]
		switch {
		case got == e.HTML && deviates:
			t.Errorf("example %d is as specified; remove it from the deviations: %s", e.Example, reason)
		case got != e.HTML && !deviates:
			t.Errorf("example %d (%s)\n%s\ngot  %q\nwant %q", e.Example, e.Section, e.Markdown, got, e.HTML)
		}
	}
}

func TestCommonMarkSpec(t *testing.T) {
	t.Parallel()

	list := examples(t, "commonmark-0.31.2.json")
	if len(list) != 652 {
		t.Fatalf("%d examples, want 652", len(list))
	}
	const bare = "bare addresses are links, as on GitHub"
	checkSpec(t, list, map[int]string{608: bare, 611: bare, 612: bare})
}

func TestGitHubSpec(t *testing.T) {
	t.Parallel()
	checkSpec(
		t,
		examples(t, "gfm-0.29.json"),
		map[int]string{653: "the sanitiser removes unsafe raw HTML later, and more of it"},
	)
}

// The whole pipeline turns every example into well-formed HTML, and into the same HTML twice.
func TestSpecExamplesRenderWellFormedHTML(t *testing.T) {
	t.Parallel()
	r := New()

	for _, e := range append(examples(t, "commonmark-0.31.2.json"), examples(t, "gfm-0.29.json")...) {
		o := Options{Lang: "fr", LineNumbers: true, NumberHeadings: true}

		d, err := r.Parse(t.Context(), []byte(e.Markdown), o)
		if err != nil {
			t.Errorf("example %d: %v", e.Example, err)
			continue
		}

		if again, err := r.Parse(t.Context(), []byte(e.Markdown), o); err != nil || again.HTML != d.HTML {
			t.Errorf("example %d gives other HTML the second time (%v)", e.Example, err)
		}

		if open := unclosed(d.HTML); open != "" && unclosed(e.HTML) == "" {
			t.Errorf("example %d leaves <%s> open: %s", e.Example, open, d.HTML)
		}
	}
}

// unclosed returns the first element without its end tag, "" if there is none.
func unclosed(out string) string {
	var stack []string

	z := nethtml.NewTokenizer(strings.NewReader(out))
	for {
		kind := z.Next()
		if kind == nethtml.ErrorToken {
			break
		}

		name, _ := z.TagName()
		switch tag := string(name); {
		case kind == nethtml.StartTagToken && tag != "br" && tag != "hr" && tag != "img" && tag != "input" && tag != "wbr" && tag != "col":
			stack = append(stack, tag)
		case kind == nethtml.EndTagToken:
			if len(stack) == 0 || stack[len(stack)-1] != tag {
				return tag
			}
			stack = stack[:len(stack)-1]
		}
	}

	if len(stack) > 0 {
		return stack[len(stack)-1]
	}

	return ""
}
