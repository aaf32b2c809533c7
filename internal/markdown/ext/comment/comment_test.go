package comment_test

import (
	"testing"

	"github.com/yuin/goldmark/parser"

	"presswork/internal/markdown/ext/comment"
	"presswork/internal/test/rendered"
)

func TestComments(t *testing.T) {
	t.Parallel()

	rendered.Check(t, rendered.Rows{
		"block of Obsidian": {"%%\na\n\nb\n%%\n\nc", "<p>c</p>"},
		"text of Obsidian":  {"a %%b\nc%% d", "<p>a  d</p>"},
		"per cent signs":    {"100%% b%%", "<p>100%% b%%</p>"},
		"never closed":      {"%% a\n\nb", "<p>%% a</p>\n<p>b</p>"},
		"block of MDX":      {"{/* a\n\nb */}\n\nc", "<p>c</p>"},
		"text of MDX":       {"a{/* b */} {/* c */}d", "<p>a{/* b */} d</p>"},
		"text after it":     {"%%a%% b", "<p> b</p>"},
		"import":            {"import A from \"b\"\n\nc", "<p>c</p>"},
		"export":            {"export const a = {\n  b\n}\n\nc", "<p>c</p>"},
		"sentence": {
			"import duties are high\n\nexport is easy",
			"<p>import duties are high</p>\n<p>export is easy</p>",
		},
		"import in a quote": {`> import "a"`, "<blockquote>\n<p>import &quot;a&quot;</p>\n</blockquote>"},
	}, nil, comment.Extension{Percents: rendered.Always, Braces: rendered.Always, Modules: rendered.Always})
}

func TestOtherDialectsHaveNoComments(t *testing.T) {
	t.Parallel()

	rendered.Check(t, rendered.Rows{
		"comments and imports": {
			"a %%b%% {/* c */}\n\nimport \"d\"",
			"<p>a %%b%% {/* c */}</p>\n<p>import &quot;d&quot;</p>",
		},
	}, nil, comment.Extension{Percents: never, Braces: never, Modules: never})
}

func never(parser.Context) bool { return false }
