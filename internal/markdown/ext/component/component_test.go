package component_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"presswork/internal/markdown/ext/component"
	"presswork/internal/test/rendered"
)

func TestComponents(t *testing.T) {
	t.Parallel()

	rendered.Check(t, rendered.Rows{
		"Markdown in an element": {
			"<div markdown=\"1\">\n*a*\n</div>",
			"<div markdown=\"1\">\n<p><em>a</em></p>\n</div>",
		},
		"raw element": {"<div>\n*a*\n</div>", "<div>\n*a*\n</div>"},
		"component around Markdown": {
			"<Card title=\"A\">\n*b*\n\n</Card>",
			"<Card title=\"A\">\n<p><strong>A</strong></p>\n<p><em>b</em></p>\n</Card>",
		},
		"admonition": {"<Tip>\n\na\n\n</Tip>", "<div class=\"alert alert-tip\">\n<p>a</p>\n</div>"},
		"callout with a type": {
			"<Callout type=\"warning\" title=\"T\">\n\na\n\n</Callout>",
			"<div class=\"alert alert-warning\">\n<p class=\"alert-title\">T</p>\n<p>a</p>\n</div>",
		},
		"admonition in a line": {
			"<Note>a *b*</Note>",
			"<div class=\"alert alert-note\">\n<p>a <em>b</em></p>\n</div>",
		},
		"admonition never closed": {"<Note>\n\na", "<Note>\n<p>a</p>"},
		"picture": {
			`<Image src="a.png" alt="b" caption="c"/>`,
			`<figure><img src="a.png" alt="b"><figcaption>c</figcaption></figure>`,
		},
		"texts in attributes": {
			`<Card title="A" description="b"/>`,
			"<p><strong>A</strong></p>\n<p>b</p>",
		},
		"texts in a line": {`a <Badge text="b"/> c`, "<p>a b c</p>"},
		"empty component": {"a <Odd /> b", "<p>a  b</p>"},
		"no space":        {"a <Odd/> b", "<p>a  b</p>"},
		"evil attributes": {`<Card title="<script>"/>`, "<p><strong>&lt;script&gt;</strong></p>"},
		"long attribute":  {"<Card title=\"" + strings.Repeat("a", 3000) + "\"/>", ""},
		"unsafe element": {
			"<script markdown=\"1\">\nx\n</script>",
			"<script markdown=\"1\">\nx\n</script>",
		},
	}, func(root ast.Node, src []byte) { component.Place(root, src, func(string, int) {}) }, component.Extension{
		HoldsMarkdown: func(_ parser.Context, tag []byte) bool { return bytes.HasPrefix(tag, []byte("<Card")) },
	})
}

func TestPlaceReportsEachDroppedNameOnce(t *testing.T) {
	t.Parallel()

	src := []byte("a <Odd /> <Odd />\n\n<Other />\n")
	m := rendered.New(component.Extension{HoldsMarkdown: func(parser.Context, []byte) bool { return false }})
	root := m.Parser().Parse(text.NewReader(src))

	var dropped []string
	component.Place(root, src, func(name string, offset int) {
		if !bytes.HasPrefix(src[offset:], []byte("<"+name)) {
			t.Errorf("%s is not at offset %d", name, offset)
		}
		dropped = append(dropped, name)
	})
	slices.Sort(dropped)

	if want := []string{"Odd", "Other"}; !slices.Equal(dropped, want) {
		t.Errorf("dropped %v, want %v", dropped, want)
	}
}
