package quarto_test

import (
	"strings"
	"testing"

	"presswork/internal/markdown/dialect/quarto"
	"presswork/internal/markdown/source"
)

func TestVariablesAreInserted(t *testing.T) {
	t.Parallel()

	values := map[string]string{"meta:title": "Wells", "var:a.b": "two\nlines", "params:year": "2026"}
	lookup := func(kind, name string) (string, bool) {
		value, ok := values[kind+":"+name]
		return value, ok
	}

	for text, want := range map[string]string{
		"On {{< meta title >}}, {{< var a.b >}}.":      "On Wells, two lines.",
		"{{< var none >}}":                             "{{< var none >}}",
		"`{{< meta title >}}`":                         "`{{< meta title >}}`",
		"```\n{{< meta title >}} `r params$year`\n```": "```\n{{< meta title >}} `r params$year`\n```",
		"In `r params$year`":                           "In 2026",
		"In `{r} params$year`":                         "In 2026",
		"In `{python} params[\"year\"]`":               "In 2026",
		"In `r params[['year']]`":                      "In 2026",
		"In `r params$year + 1`":                       "In `r params$year + 1`",
		"In `r params$none`":                           "In `r params$none`",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			s := source.New([]byte(text), 1)

			quarto.InsertVariables(s, lookup)

			if got := string(s.Text()); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestInsertedVariablesAreBounded(t *testing.T) {
	t.Parallel()

	s := source.New([]byte(strings.Repeat("{{< var x >}}\n", 1000)), 1)
	quarto.InsertVariables(s, func(_, _ string) (string, bool) { return strings.Repeat("a", 60_000), true })

	if n := len(s.Text()); n > 2<<20 {
		t.Errorf("1000 variables became %d bytes", n)
	}
}
