package list_test

import (
	"testing"

	"github.com/yuin/goldmark/parser"

	"presswork/internal/markdown/ext/list"
	"presswork/internal/test/rendered"
)

func TestLists(t *testing.T) {
	t.Parallel()

	rendered.Check(t, rendered.Rows{
		"letters": {"a. b\nb. c", "<ol type=\"a\">\n<li>b</li>\n<li>c</li>\n</ol>"},
		"capitals in parentheses": {
			"(A) b\n(B) c",
			"<ol type=\"A\" class=\"parentheses upper-alpha\">\n<li>b</li>\n<li>c</li>\n</ol>",
		},
		"Roman numerals": {
			"i) b\nii) c",
			"<ol type=\"i\" class=\"parenthesis lower-roman\">\n<li>b</li>\n<li>c</li>\n</ol>",
		},
		"not from the first": {"c. d\nd. e", "<p>c. d\nd. e</p>"},
		"gap":                {"a. b\nc. d", "<p>a. b\nc. d</p>"},
		"hash marks":         {"#. a\n#. b", "<ol>\n<li>a</li>\n<li>b</li>\n</ol>"},
		"numbers in parentheses": {
			"(1) a\n(2) b",
			"<ol class=\"parentheses\">\n<li>a</li>\n<li>b</li>\n</ol>",
		},
		"examples": {
			"(@) a\n(@b) c\n\nSee (@b).",
			"<ol class=\"parentheses\">\n<li>a</li>\n<li>c</li>\n</ol>\n<p>See (2).</p>",
		},
		"example after text": {
			"(@a) b\n\nc\n\n(@) d\n\n(@a) (@e)",
			"<p>(2) b</p>\n<p>c</p>\n<ol class=\"parentheses\">\n" +
				"<li>\n<p>d</p>\n</li>\n<li>\n<p>(@e)</p>\n</li>\n" +
				"</ol>",
		},
		"another style": {
			"a. b\nb. c\n1. d",
			"<ol type=\"a\">\n<li>b</li>\n<li>c</li>\n</ol>\n<ol>\n<li>d</li>\n</ol>",
		},
		"name": {"a. Smith", "<p>a. Smith</p>"},
		"initial": {
			"A. Smith wrote\nB. Jones did",
			"<ol type=\"A\">\n<li>Smith wrote</li>\n<li>Jones did</li>\n</ol>",
		},
		"wrong numeral": {"iiii) a\nv) b", "<p>iiii) a\nv) b</p>"},
		"no space":      {"a.b\nb.c", "<p>a.b\nb.c</p>"},
	}, nil, list.Extension{Enabled: rendered.Always, Loose: never})
}

func TestListsOfPandoc(t *testing.T) {
	t.Parallel()

	rendered.Check(t, rendered.Rows{
		"one item": {
			"b) c",
			"<ol start=\"2\" type=\"a\" class=\"parenthesis lower-alpha\">\n<li>c</li>\n</ol>",
		},
		"list in a list": {
			"a. b\n   i. c\n   ii. d",
			"<ol type=\"a\">\n<li>b\n<ol type=\"i\">\n<li>c</li>\n<li>d</li>\n</ol>\n</li>\n</ol>",
		},
		"initial":           {"A. Smith", "<p>A. Smith</p>"},
		"two spaces":        {"A.  Smith", "<ol type=\"A\">\n<li>Smith</li>\n</ol>"},
		"after a paragraph": {"text\na. b", "<p>text\na. b</p>"},
		"Roman numeral":     {"i. a\nii. b", "<ol type=\"i\">\n<li>a</li>\n<li>b</li>\n</ol>"},
		"letter": {
			"i. a\nj. b",
			"<ol type=\"i\">\n<li>a</li>\n</ol>\n<ol start=\"10\" type=\"a\">\n<li>b</li>\n</ol>",
		},
	}, nil, list.Extension{Enabled: rendered.Always, Loose: rendered.Always})
}

func never(parser.Context) bool { return false }
