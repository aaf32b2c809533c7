package myst_test

import (
	"strings"
	"testing"

	"presswork/internal/markdown/dialect/myst"
	"presswork/internal/markdown/source"
)

func TestReaderRewritesDirectivesAndRoles(t *testing.T) {
	t.Parallel()
	s := source.New([]byte("```{tip} A title\nSee {ref}`x`.\n```\n\n(x)=\n# Head\n\n{ref}`away` {ref}`none`\n"), 5)
	r := &myst.Reader{Elsewhere: func(key string) string {
		if key == "sec:away" {
			return "there"
		}

		return ""
	}}

	warnings := append(r.Directives(s), r.Roles(s)...)

	for _, want := range []string{":::tip", "A title", "@{sec:x}", "# Head {#sec:x}", "@{sec:away}", "none"} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(string(s.Text()), want) {
				t.Errorf("no %q in %q", want, s.Text())
			}
		})
	}

	if !r.Unresolved || len(warnings) != 1 || warnings[0].Line != 12 {
		t.Errorf("unresolved %v, warnings %v", r.Unresolved, warnings)
	}

	if r.Aliases["x"] != "sec:x" {
		t.Errorf("aliases %v", r.Aliases)
	}
}
