package lineblock_test

import (
	"strings"
	"testing"

	"presswork/internal/markdown/ext/lineblock"
	"presswork/internal/test/rendered"
)

func TestLineBlocks(t *testing.T) {
	t.Parallel()

	rendered.Check(t, rendered.Rows{
		"poem": {
			"| a\n|   b\n|\n| *c*\n  d",
			"<div class=\"line-block\">\n<div>a\n</div>\n<div>\u00a0\u00a0b\n" +
				"</div>\n<div>\u00a0</div>\n<div><em>c</em>\nd</div>\n" +
				"</div>",
		},
		"one line": {"| a", "<p>| a</p>"},
		"table": {
			"| a | b |\n|---|---|",
			"<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n</table>",
		},
		"text after a bar": {"|a\n|b", "<p>|a\n|b</p>"},
		"unindented line":  {"| a\n| b\nc", "<p>| a\n| b\nc</p>"},
		"wide indentation": {
			"| a\n|" + strings.Repeat(" ", 100) + "b",
			"<div class=\"line-block\">\n<div>a\n</div>\n<div>" + strings.Repeat("\u00a0", 60) + "b</div>\n</div>",
		},
	}, nil, lineblock.Extension{Enabled: rendered.Always})
}
