package bookindex_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"presswork/internal/markdown/ext/bookindex"
	"presswork/internal/test/rendered"
)

func TestEntriesRenderAnchors(t *testing.T) {
	t.Parallel()

	rendered.Check(t, rendered.Rows{
		"entry": {`a\index{b} c`, `<p>a<a id="toc-ix-1"></a> c</p>`},
		"line of entries": {
			"\\index{a}\n\\index{b!c}\n\nd",
			"<a id=\"toc-ix-1\"></a>\n<a id=\"toc-ix-2\"></a>\n<p>d</p>",
		},
		"place":             {"a\n\n\\printindex\n\n\\printindex", "<p>a</p>\n<nav class=\"toc-index\"></nav>"},
		"unbalanced braces": {`\index{a{b} c`, `<p>\index{a{b} c</p>`},
		"too long": {
			`\index{` + strings.Repeat("a", 300) + "}",
			`<p>\index{` + strings.Repeat("a", 300) + "}</p>",
		},
		"code": {"`\\index{a}`", `<p><code>\index{a}</code></p>`},
	}, func(root ast.Node, src []byte) { bookindex.Collect(root, src) }, bookindex.Extension{Enabled: rendered.Always})
}

func TestCollectReadsEntries(t *testing.T) {
	t.Parallel()
	m := rendered.New(bookindex.Extension{Enabled: rendered.Always})

	for name, row := range map[string]struct {
		source string
		want   []bookindex.Entry
	}{
		"term": {`\index{a}`, []bookindex.Entry{{Terms: []string{"a"}, SortBy: []string{"a"}, ID: "toc-ix-1"}}},
		"lower terms": {
			`\index{a!b}`,
			[]bookindex.Entry{{Terms: []string{"a", "b"}, SortBy: []string{"a", "b"}, ID: "toc-ix-1"}},
		},
		"sort key": {
			`\index{alpha@α}`,
			[]bookindex.Entry{{Terms: []string{"α"}, SortBy: []string{"alpha"}, ID: "toc-ix-1"}},
		},
		"see": {
			`\index{a|see{b}}`,
			[]bookindex.Entry{{Terms: []string{"a"}, SortBy: []string{"a"}, See: "b", ID: "toc-ix-1"}},
		},
		"see also": {
			`\index{a|seealso{b}}`,
			[]bookindex.Entry{{Terms: []string{"a"}, SortBy: []string{"a"}, See: "b", Also: true, ID: "toc-ix-1"}},
		},
		"four terms": {`\index{a!b!c!d}`, nil},
		"empty term": {`\index{a!}`, nil},
		"no entry":   {`index{a}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			src := []byte(row.source)
			got, _ := bookindex.Collect(m.Parser().Parse(text.NewReader(src)), src)

			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEntriesAreBounded(t *testing.T) {
	t.Parallel()

	src := []byte(strings.Repeat(`\index{a} `, 20_001))
	root := rendered.New(bookindex.Extension{Enabled: rendered.Always}).Parser().Parse(text.NewReader(src))

	if got, _ := bookindex.Collect(root, src); len(got) != 20_000 {
		t.Errorf("%d entries, want 20000", len(got))
	}
}

func TestAppendAddsAHeadingInTheLanguage(t *testing.T) {
	t.Parallel()

	for name, row := range map[string]struct{ source, lang, want string }{
		"no heading":    {"a\n", "en", "<h6 class=\"unnumbered\">Index</h6>"},
		"one title":     {"# a\n\n### b\n", "de", "<h2 class=\"unnumbered\">Register</h2>"},
		"many chapters": {"# a\n\n# b\n", "tlh", "<h1 class=\"unnumbered\">Index</h1>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m, src := rendered.New(bookindex.Extension{Enabled: rendered.Always}), []byte(row.source)
			root := m.Parser().Parse(text.NewReader(src))
			src = bookindex.Append(root, src, row.lang)
			var out strings.Builder

			if err := m.Renderer().Render(&out, src, root); err != nil {
				t.Fatal(err)
			}

			if !strings.HasSuffix(out.String(), row.want+"\n<nav class=\"toc-index\"></nav>\n") {
				t.Errorf("%q does not end with %q and the place", out.String(), row.want)
			}
		})
	}
}
