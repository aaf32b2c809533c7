package reference_test

import (
	"testing"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"

	"presswork/internal/markdown/ext/reference"
	"presswork/internal/markdown/label"
	"presswork/internal/test/rendered"
)

func TestReferences(t *testing.T) {
	t.Parallel()

	rendered.Check(t, rendered.Rows{
		"reference": {
			"@fig:a and @fig-a",
			"<p><a href=\"#fig:a\" class=\"xref\">Figure\u00a01</a> and @fig-a</p>",
		},
		"bare": {"-@fig:a", `<p><a href="#fig:a" class="xref">1</a></p>`},
		"several": {
			"[@fig:a; @fig:b]",
			"<p><a href=\"#fig:a\" class=\"xref\">Figures\u00a01</a> and <a href=\"#b%20%22%3C\" " +
				`class="xref">2</a></p>`,
		},
		"prefix and suffix": {
			"[see @fig:a, left]",
			"<p><a href=\"#fig:a\" class=\"xref\">see\u00a01</a>, left</p>",
		},
		"unknown label": {"@fig:none", "<p>@fig:none</p>"},
		"address": {
			"me@fig:a @fig:a",
			"<p>me@fig:a <a href=\"#fig:a\" class=\"xref\">Figure\u00a01</a></p>",
		},
		"in a link":       {"[a @fig:a](b)", "<p><a href=\"b\">a Figure\u00a01</a></p>"},
		"link definition": {"[@fig:a]\n\n[@fig:a]: b", "<p><a href=\"b\">Figure\u00a01</a></p>"},
		"not a label":     {"@name [@name]", "<p>@name [@name]</p>"},
		"braces":          {"@{fig:a}x", "<p><a href=\"#fig:a\" class=\"xref\">Figure\u00a01</a>x</p>"},
		"markup in a prefix": {
			"[<b> @fig:a]",
			"<p><a href=\"#fig:a\" class=\"xref\">&lt;b&gt;\u00a01</a></p>",
		},
		"nested brackets": {"[[@fig:a]]", "<p>[<a href=\"#fig:a\" class=\"xref\">Figure\u00a01</a>]</p>"},
	}, resolve, extension(reference.ToLabels))
}

func TestOtherDialectsHaveNoReferences(t *testing.T) {
	t.Parallel()

	rendered.Check(t, rendered.Rows{
		"names and keys": {"@name @fig:a [@a]", "<p>@name @fig:a [@a]</p>"},
	}, resolve, extension(reference.None))
}

func extension(keys reference.Keys) reference.Extension {
	return reference.Extension{
		Keys:  func(parser.Context) reference.Keys { return keys },
		Count: func(parser.Context) {},
	}
}

// resolve links the references to two figures.
func resolve(root ast.Node, src []byte) {
	reference.TakeHyphens(root, src)
	labels := label.Set{
		"fig:a": {Kind: label.Figure, Number: "1", ID: "fig:a"},
		"fig:b": {Kind: label.Figure, Number: "2", ID: "b \"<"},
	}
	isCitation := func(*reference.Reference) bool { return false }
	reference.Resolve(root, label.WordsOf("en"), labels, isCitation, func(*reference.Reference, string) {})
}
