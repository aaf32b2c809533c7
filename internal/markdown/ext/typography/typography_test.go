package typography_test

import (
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"

	"presswork/internal/markdown/ext/typography"
	"presswork/internal/test/rendered"
)

func TestEnglish(t *testing.T) {
	t.Parallel()

	rendered.Check(t, rendered.Rows{
		"quotes":                {`"a 'b' c"`, "<p>“a ‘b’ c”</p>"},
		"apostrophes":           {"it's the '90s, 'tis", "<p>it’s the ’90s, ’tis</p>"},
		"inches":                {`6'2"`, "<p>6’2″</p>"},
		"dashes":                {"a -- b --- c, --help, -->", "<p>a – b — c, --help, --&gt;</p>"},
		"dots":                  {"a... b.... ../c", "<p>a… b.... ../c</p>"},
		"code":                  {"`\"a\"` \"b\"", "<p><code>&quot;a&quot;</code> “b”</p>"},
		"element around a word": {`"*a*"`, "<p>“<em>a</em>”</p>"},
		"escaped":               {`\"a\"`, "<p>&quot;a&quot;</p>"},
		"raw code":              {`<code>"a"</code> "b"`, "<p><code>&quot;a&quot;</code> “b”</p>"},
		"many open quotes":      {strings.Repeat(" \"a", 12), "<p>“a ‘a ‘a ‘a ‘a ‘a ‘a ‘a ’a ‘a ’a ‘a</p>"},
	}, func(root ast.Node, src []byte) { typography.Set(root, src, "en") })
}

func TestNestedQuotesMayEndTogether(t *testing.T) {
	t.Parallel()

	for lang, want := range map[string]string{"de": "„a ‚b‘“, „‚c‘ d“ „‚e‘“.", "en": "“a ‘b’”, “‘c’ d” “‘e’”."} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()

			if got := typography.SetLine(`"a 'b'", "'c' d" "'e'".`, lang); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestSetLineFollowsTheLanguage(t *testing.T) {
	t.Parallel()
	const line = `"a 'b' f"; c: d! e ?`

	for lang, want := range map[string]string{
		"de":    "„a ‚b‘ f“; c: d! e ?",
		"de-CH": "«a ‹b› f»; c: d! e ?",
		"fr":    "«\u202fa “b” f\u202f»\u202f; c\u00a0: d\u202f! e\u202f?",
		"fr-CA": "«\u202fa “b” f\u202f»; c\u00a0: d! e ?",
		"ja":    "「a 『b』 f」; c: d! e ?",
		"sv":    "”a ’b’ f”; c: d! e ?",
		"tlh":   "“a ‘b’ f”; c: d! e ?",
	} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()

			if got := typography.SetLine(line, lang); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
