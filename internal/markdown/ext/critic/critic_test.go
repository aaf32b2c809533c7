package critic_test

import (
	"strings"
	"testing"

	"presswork/internal/markdown/ext/critic"
	"presswork/internal/test/rendered"
)

func TestChanges(t *testing.T) {
	t.Parallel()

	rendered.Check(t, rendered.Rows{
		"addition":                      {"a {++b *c*++} d", "<p>a <ins>b <em>c</em></ins> d</p>"},
		"deletion":                      {"{--a--} {--b-c--}", "<p><del>a</del> <del>b-c</del></p>"},
		"substitution":                  {"{~~a *b*~>c\nd~~}", "<p><del>a <em>b</em></del><ins>c\nd</ins></p>"},
		"highlight and remark":          {"{==a==}{>>b<<}", `<p><mark>a</mark><span class="remark">b</span></p>`},
		"two lines":                     {"{++a\nb++}", "<p><ins>a\nb</ins></p>"},
		"never closed":                  {"{++a", "<p>{++a</p>"},
		"nested":                        {"{++a {++b++} c++}", "<p>{++a <ins>b</ins> c++}</p>"},
		"other marks within":            {"{++a {--b--}++}", "<p><ins>a {--b--}</ins></p>"},
		"substitution without an arrow": {"{~~a~~}", "<p>{~~a~~}</p>"},
		"across an element":             {"*a {++b* c++}", "<p><em>a {++b</em> c++}</p>"},
		"markup":                        {"{++<b>++}", "<p><ins><b></ins></p>"},
		"too long": {
			"{++" + strings.Repeat("a", 4000) + "++}",
			"<p>{++" + strings.Repeat("a", 4000) + "++}</p>",
		},
	}, nil, critic.Extension{Enabled: rendered.Always})
}
