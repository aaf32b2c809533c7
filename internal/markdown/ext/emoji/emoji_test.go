package emoji_test

import (
	"strings"
	"testing"

	"presswork/internal/markdown/ext/emoji"
	"presswork/internal/test/rendered"
)

func TestShortcodes(t *testing.T) {
	t.Parallel()

	rendered.Check(t, rendered.Rows{
		"shortcode":           {"a :smile: b", "<p>a 😄 b</p>"},
		"escaped underscore":  {`:heart\_eyes:`, "<p>😍</p>"},
		"several code points": {":de:", "<p>🇩🇪</p>"},
		"unknown name":        {":nonsense: :octocat:", "<p>:nonsense: :octocat:</p>"},
		"time":                {"10:30:45 a:smile:", "<p>10:30:45 a:smile:</p>"},
		"code":                {"`:smile:`", "<p><code>:smile:</code></p>"},
		"never closed":        {":smile", "<p>:smile</p>"},
		"too long":            {":" + strings.Repeat("a", 100) + ":", "<p>:" + strings.Repeat("a", 100) + ":</p>"},
	}, nil, emoji.Extension{})
}

func TestInHTMLLeavesCodeAndAttributes(t *testing.T) {
	t.Parallel()

	for name, row := range map[string]struct{ html, want string }{
		"text":       {"<p>:smile:</p>", "<p>😄</p>"},
		"code":       {"<code>:smile:</code> :smile:", "<code>:smile:</code> 😄"},
		"attribute":  {`<p title=":smile:">a</p>`, `<p title=":smile:">a</p>`},
		"two closed": {"</code></code>:smile:", "</code></code>😄"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := string(emoji.InHTML([]byte(row.html))); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}
