package markdown_test

import (
	"strings"
	"testing"

	"presswork/internal/markdown"
)

func TestTheoremsAreNumberedAndNamed(t *testing.T) {
	t.Parallel()

	d := render(t, `# One {#sec-one}

::: {#thm-line}
## Line & point

The equation is $y=mx+b$.
:::

::: {.lemma #lem:x name="Big"}
- list
:::

See @thm-line, [@lem:x], Lemma \@ref(lem:x), \@ref(one) and \@ref(missing).
`, markdown.Options{Lang: "de"})

	for _, want := range []string{
		`<div id="thm-line">`,
		`<p><span class="xref-label">Satz` + "\u00a0" + `1 (Line &amp; point).</span> The equation`,
		`<p><span class="xref-label">Lemma` + "\u00a0" + `1 (Big).</span> </p>`,
		`See <a href="#thm-line" class="xref">Satz` + "\u00a0" + `1</a>, <a href="#lem:x" class="xref">Lemma` + "\u00a0" + `1</a>, ` +
			`Lemma <a href="#lem:x" class="xref">1</a>`,
		`\@ref(missing)`,
	} {
		if !strings.Contains(d.HTML, want) {
			t.Errorf("no %s in %s", want, d.HTML)
		}
	}

	if len(d.Headings) != 1 {
		t.Errorf("the outline has %+v, want only the section", d.Headings)
	}
}

func TestBookdownReferencesAreResolved(t *testing.T) {
	t.Parallel()

	d := render(t, "# Methods {#methods}\n\n\\begin{equation}\nf(k) = p^k (\\#eq:binom)\n\\end{equation}\n\n"+
		"See Equation \\@ref(eq:binom) and Chapter \\@ref(methods).", markdown.Options{})

	for _, want := range []string{
		`<a href="#eq:binom" class="xref">(1)</a>`, `Chapter <a href="#methods" class="xref">Methods</a>`, `id="eq:binom"`,
	} {
		if !strings.Contains(d.HTML, want) {
			t.Errorf("no %s in %s", want, d.HTML)
		}
	}

	if strings.Contains(d.HTML, `\#eq`) || len(d.Warnings) > 0 {
		t.Errorf("%s, warnings %v", d.HTML, d.Warnings)
	}
}
