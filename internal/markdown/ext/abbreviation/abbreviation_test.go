package abbreviation_test

import (
	"fmt"
	"strings"
	"testing"

	"presswork/internal/markdown/ext/abbreviation"
	"presswork/internal/test/rendered"
)

func TestAbbreviations(t *testing.T) {
	t.Parallel()

	rendered.Check(t, rendered.Rows{
		"definition": {
			"*[HTML]: Hyper Text\n\nHTML is HTML.",
			`<p><abbr title="Hyper Text" class="abbr-first">HTML</abbr> is <abbr title="Hyper Text">HTML</abbr>.</p>`,
		},
		"in parentheses": {
			"*[HTML]: Hyper Text\n\nHyper Text (HTML)",
			`<p>Hyper Text (<abbr title="Hyper Text">HTML</abbr>)</p>`,
		},
		"part of a word": {"*[HTML]: Hyper Text\n\nXHTML HTMLs HTML5", "<p>XHTML HTMLs HTML5</p>"},
		"longest wins": {
			"*[a b]: one\n*[a]: two\n\na b a",
			`<p><abbr title="one" class="abbr-first">a b</abbr> <abbr title="two" class="abbr-first">a</abbr></p>`,
		},
		"first definition counts": {
			"*[a]: one\n*[a]: two\n\na",
			`<p><abbr title="one" class="abbr-first">a</abbr></p>`,
		},
		"after text": {
			"text\n*[a]: one\nmore a",
			"<p>text\nmore <abbr title=\"one\" class=\"abbr-first\">a</abbr></p>",
		},
		"code and images":      {"*[a]: one\n\n`a` ![a](b)", `<p><code>a</code> <img src="b" alt="a"></p>`},
		"empty":                {"*[]: one\n\n*[a]:\n\na", "<p>*[]: one</p>\n<p>*[a]:</p>\n<p>a</p>"},
		"brackets in the name": {"*[a[b]: one\n\na[b", "<p>*[a[b]: one</p>\n<p>a[b</p>"},
		"markup in the explanation": {
			"*[a]: \"><script>x</script>\n\na",
			`<p><abbr title="&quot;&gt;&lt;script&gt;x&lt;/script&gt;" class="abbr-first">a</abbr></p>`,
		},
	}, nil, abbreviation.Extension{})
}

func TestDefinitionsAndTitlesAreBounded(t *testing.T) {
	t.Parallel()

	var definitions strings.Builder
	for i := range 1001 {
		fmt.Fprintf(&definitions, "*[a%d]: x\n", i)
	}

	long := strings.Repeat("x", 300)
	m := rendered.New(abbreviation.Extension{})

	for name, row := range map[string]struct {
		source string
		most   int
	}{
		"definitions": {definitions.String() + "\na999 a1000\n", 1},
		"titles":      {"*[a]: " + long + "\n\n" + strings.Repeat("a ", 20_000), 7000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var out strings.Builder
			if err := m.Convert([]byte(row.source), &out); err != nil {
				t.Fatal(err)
			}

			if n := strings.Count(out.String(), "<abbr"); n < 1 || n > row.most {
				t.Errorf("%d abbreviations are marked, want 1 to %d", n, row.most)
			}
		})
	}
}
