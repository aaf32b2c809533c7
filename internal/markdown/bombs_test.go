package markdown

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"presswork/internal/fault"
	"presswork/internal/test/cputime"
)

// fragments returns short pieces of each syntax in docs/markdown.md, in addition to superLinear: whole, cut off,
// and nested.
func fragments() []string {
	return []string{
		"@a ",
		"[@a]",
		"[@a; @b]",
		"[@a, p. 3] ",
		"-@a ",
		"{cite}`a`",
		"{ref}`a`",
		"{numref}`a` ",
		"{math}`a`",
		"{eq}`a` ",
		"{doc}`a`",
		"{sub}`a`",
		"{abbr}`a (b)` ",
		"[a](#b) ",
		"# a {#fig:b}\n",
		"![a](b.png){#fig:c}\n\n",
		"@fig:a ",
		"[@fig:a]",
		"Table: a {#tbl:b}\n\n",
		"$$x$$ {#eq:a}\n\n",
		"@eq:a ",
		"$a$ ",
		"$a",
		"`$a$` ",
		"\\(a\\) ",
		"$$\na\n$$\n",
		"::: {#thm-a}\n# a\n:::\n\n",
		"\\@ref(thm-a) ",
		"$a (\\#eq:b)$ ",
		"a $$\n",
		"a \\begin{align}b",
		"a \\begin{align}b\\end{align} ",
		"\\def\\a{",
		"\\newcommand{\\a}{b}\n\n$\\a$ ",
		"\\begin{align}\na\n\\end{align}\n\n",
		"```math\na\n```\n",
		"```{math}\n:label: a\nx\n```\n\n",
		"```{note}\na\n```\n",
		":::{note}\na\n:::\n",
		"```{code-block} go\na\n```\n",
		"```{figure} a.png\nb\n```\n",
		"```{list-table}\n* - a\n  - b\n```\n",
		"```{include} a.md\n```\n",
		"```{toctree}\na\n```\n",
		"```{admonition} a\n",
		"```mermaid\ngraph TD\n```\n",
		"```csv\na,b\n```\n",
		"!include a.md\n",
		"![[a]]\n",
		"{{ a }}",
		"{% include a %}\n",
		"{% raw %}",
		"<!-- a -->",
		"<!--",
		"-->",
		"<details>\n",
		"<summary>a</summary>\n",
		"</details>\n",
		"<div markdown=\"1\">\n",
		"\\emph{",
		"\\emph{*a} ",
		"\\footnote{",
		"\\newline ",
		"<b>",
		"</b>",
		"<a href=\"b\">",
		"<table><tr><td>",
		"<p>",
		"<svg>",
		"<math>",
		"<script>",
		"<style>",
		"<br>",
		"<img src=a>",
		"<sub>a",
		"<span class=a>",
		"<kbd>a</kbd>",
		"&#x301;",
		"&amp;",
		"+---+\n| a |\n+---+\n\n",
		"+---+\n",
		"| a |\n|---|\n| b |\n\n",
		"a|b\n-|-\nc|d\n\n",
		"--- ---\na b\n--- ---\n\n",
		"---  ---\n",
		"a   b\n--- ---\nc   d\n\n",
		"||||\n",
		"|-",
		"\\|",
		"term\n: a\n\n",
		"- [ ] a\n",
		"- [x] ",
		"* a\n  * b\n",
		"1) a\n",
		"(1) a\n",
		"- a\n\n      b\n",
		"    a\n\n",
		"\ta\n",
		"\\index{a}",
		"\\newpage\n\n",
		"\\pagebreak",
		"[TOC]\n\n",
		"[[_TOC_]]\n",
		"---\n\n",
		"***\n",
		"a\n===\n",
		"a\n---\n",
		"::: {#refs}\n",
		"::: notes\na\n:::\n\n",
		":::: a\n::: b\n",
		"[^1]: a\n    b\n",
		"a[^1] ",
		"*[HTML]: a\n",
		"HTML ",
		"\"a\" ",
		"'a' ",
		"\"'",
		"--",
		"...",
		"(c) ",
		"a\u00ad",
		"\u202e",
		"א ",
		"漢",
		"\u200d",
		"e\u0301",
		"\u2028",
		"\u00a0",
		"\\\n",
		"  \n",
		"a\\\n",
		"%%a%%",
		"==a==",
		"^a^ ~b~ ",
		"H~2~O ",
		"[a]{.b}",
		"[a]{.b} ",
		"[]{#a}",
		"`a`{.b}",
		"{: .a}\n",
		"{:.a #b}\n\n",
		"import a from \"b\"\n",
		"<A ",
		"<A b=\"",
		"<A b={",
		"<A>",
		"</A>\n",
		"<A/>",
		"<A b={`c`} />\n",
		"<Note>\na\n</Note>\n\n",
		"{a}",
		"export const a = 1\n\n",
		"<Tabs>\n<TabItem>\n",
		"> [!NOTE]\n> a\n\n",
		"!!! note\n    a\n\n",
	}
}

// wrappers returns the beginnings of documents in which fragments have other meanings.
func wrappers() map[string]string {
	return map[string]string{
		"plain":    "",
		"MDX":      "import A from \"b\"\n\n<A/>\n\n",
		"MyST":     "```{note}\na\n```\n\n",
		"Obsidian": "[[a|b]]\n\n",
	}
}

// A document that repeats a fragment takes time in proportion to its size, or is rejected.
func TestRepeatedFragmentsTakeBoundedTime(t *testing.T) {
	t.Parallel()
	const limit = time.Minute // 20 times what the slowest takes

	size := 10_000
	if testing.Short() || RaceDetector {
		size = 2_000
	}
	r := New()
	works := []byte("@book{a, title={A}, year=2000}\n@book{b, title={B}}")

	options := Options{
		NumberHeadings: true,
		Numbering:      ByChapter,
		MaxParts:       1_000_000,
		Bibliography:   []string{"a.bib"},
		NoCite:         "@*",
		MathTime:       time.Second,
		Asset: func(name string) ([]byte, error) {
			if name == "a.bib" {
				return works, nil
			}

			return nil, os.ErrNotExist
		},
		Include: func(string) ([]byte, error) { return []byte("b\n"), nil },
	}
	for name, before := range wrappers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for _, fragment := range slices.Concat(fragments(), superLinear()) {
				src := before + strings.Repeat(fragment, size/len(fragment))
				var err error

				took := cputime.Of(func() { _, err = r.Parse(t.Context(), []byte(src), options) })
				if took > limit {
					t.Errorf("%q repeated took %s, with the error %v", fragment, took, err)
				}

				if e, ok := errors.AsType[*fault.Error](err); err != nil && (!ok || e.Code != fault.ContentTooComplex) {
					t.Errorf("%q repeated: got %v, want ContentTooComplex or no error", fragment, err)
				}
			}
		})
	}
}
