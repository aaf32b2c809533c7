package myst_test

import (
	"strings"
	"testing"

	"presswork/internal/fault"
	"presswork/internal/markdown/dialect/myst"
	"presswork/internal/markdown/source"
)

// rewrite returns a text after the directives and the roles are rewritten.
func rewrite(text string, r *myst.Reader) (string, []fault.Warning) {
	s := source.New([]byte(text), 1)
	warnings := append(r.Directives(s), r.Roles(s)...)

	return string(s.Text()), warnings
}

func TestReaderFindsLabelsOfOtherDocuments(t *testing.T) {
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

func TestRoles(t *testing.T) {
	t.Parallel()

	for name, row := range map[string]struct{ text, want string }{
		"reference to a heading":   {"(a)=\n# A\n\n{ref}`a`", "\n# A {#sec:a}\n\n@{sec:a}"},
		"reference with a text":    {"(a)=\n# A\n\n{ref}`x <a>`", "\n# A {#sec:a}\n\n[x](#sec:a)"},
		"number within a text":     {"(a)=\n# A\n\n{numref}`Part %s <a>`", "\n# A {#sec:a}\n\nPart -@{sec:a}"},
		"two labels":               {"(a)=\n(b)=\n# A\n{ref}`b`", "\n\n# A {#sec:a}\n@{sec:a}"},
		"label of a picture":       {"(a)=\n![p](q.png)\n\n{ref}`a`", "\n![p](q.png){#fig:a}\n\n@{fig:a}"},
		"label of a formula":       {"$$x$$ (a)\n\n{eq}`a`", "$$x$$ {#eq:a}\n\n-@{eq:a}"},
		"unknown label":            {"{ref}`a_b`", `a\_b`},
		"citation":                 {"{cite}`a,b` {cite:t}`a`", "[@{a}; @{b}] @{a}"},
		"code of a language":       {"{py:class}`~a.b.C` {py:func}`a.f`", "`C` `a.f`"},
		"raised text":              {"{sup}`2` {sup}`a b`", "^2^ {sup}`a b`"},
		"role over two lines":      {"{doc}`a\nb` c", "a b\n c"},
		"role over two paragraphs": {"{doc}`a\n\nb`", "{doc}`a\n\nb`"},
		"unknown role":             {"{evil}`a`", "{evil}`a`"},
		"role in code":             {"`` {ref}`a` ``\n\n    {ref}`a`\n", "`` {ref}`a` ``\n\n    {ref}`a`\n"},
		"Markdown in a value":      {"{doc}`*a* <b>x`", `\*a\* \<b>x`},
		"letter before a key":      {"x{cite:t}`a`", "x @{a}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got, _ := rewrite(row.text, &myst.Reader{Bibliography: true}); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestDirectives(t *testing.T) {
	t.Parallel()

	for name, row := range map[string]struct{ text, want string }{
		"admonition":        {"```{note}\nx\n```\n", ":::note \nx\n:::\n"},
		"code":              {"```{code-block} go\n:linenos:\nx\n```\n", "```go {.numberLines}\nx\n```\n"},
		"colons":            {":::{math}\n:label: a\nx\n:::\n", "~~~~~~math {#eq:a}\nx\n~~~~~~\n"},
		"hidden cell":       {"```{code-cell}\n:tags: [remove-input]\nx\n```\n", ""},
		"list item":         {"- ```{note}\n  x\n  ```\n", "- :::note \n  x\n  :::\n"},
		"nested":            {"````{note}\n```{tip}\nx\n```\n````\n", ":::note \n:::tip \nx\n:::\n:::\n"},
		"never closed":      {"```{note}\nx\n", ":::note \nx\n:::\n"},
		"comment":           {"```{note}\n```\n% x\n", ":::note \n:::\n\n"},
		"fence in a fence":  {"```{note}\n~~~\nx\n```\n", ":::note \n~~~\nx\n~~~\n:::\n"},
		"numbered theorems": {"```{prf:theorem}\n```\n", ":::note \n::: {.admonition-title}\nTheorem 1\n:::\n:::\n"},
		"index":             {"```{index} pair: a; b\n```\n", "\n\\index{a!b}\n\\index{b!a}\n\n"},
		"missing file":      {"```{include} a.md\n```\n", "::: {.part}\n**`a.md`**\n\n:::\n"},
		"unknown directive": {"```{note}\n```\n```{odd} x\ny\n```\n", ":::note \n:::\n::: {.part}\n**x**\n\ny\n:::\n"},
		"no known one":      {"```{odd} x\ny\n```\n", "```{odd} x\ny\n```\n"},
		"code of Quarto":    {"```{python}\nx\n```\n", "```{python}\nx\n```\n"},
		"name in code":      {"```{note}\n```\n\n    ```{note}\n    ```\n", ":::note \n:::\n\n    ```{note}\n    ```\n"},
		"no name in domain": {
			"```{prf:}\nx\n```\n```{prf:-start}\ny\n```\n```{note}\n```\n",
			"::: {.part}\nx\n:::\n:::note {title=\"\"}\ny\n:::note \n:::\n:::\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got, _ := rewrite(row.text, &myst.Reader{}); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestUnprintedDirectivesHaveOneWarningForEachName(t *testing.T) {
	t.Parallel()

	_, warnings := rewrite("```{include} a.md\n```\n```{include} b.md\n```\n```{toctree}\na\n```\n", &myst.Reader{})

	want := []fault.Warning{
		{Code: fault.SyntaxDropped, Line: 1, Message: `the directive include is left out: "a.md" was not found`},
		{Code: fault.SyntaxDropped, Line: 5, Message: "the directive toctree is left out: it links to other pages"},
	}
	if len(warnings) != 2 || warnings[0] != want[0] || warnings[1] != want[1] {
		t.Errorf("warnings %v, want %v", warnings, want)
	}
}

func TestSubstitutionsAreBounded(t *testing.T) {
	t.Parallel()
	r := &myst.Reader{Substitutions: map[string]string{"a": "x *y*", "loop": "{{loop}} {{loop}}"}}

	got, _ := rewrite("In {{ a }}, {{ b }}\n\n{{loop}}\n", r)
	if !strings.HasPrefix(got, "In x *y*, {{ b }}\n") || len(got) > 10_000 {
		t.Errorf("%d bytes: %.100q", len(got), got)
	}

	r.Substitutions["large"] = strings.Repeat("x", 100_000)
	if got, _ = rewrite(strings.Repeat("{{ large }}\n\n", 50), r); len(got) > 2<<20 {
		t.Errorf("50 places of 100 kB became %d bytes", len(got))
	}
}

func TestIncludesSelectAPartOfTheFile(t *testing.T) {
	t.Parallel()
	const file = "one\ntwo\nthree\nfour\n"

	for name, row := range map[string]struct{ info, body, want string }{
		"all":             {"{include} a.md", "", file},
		"lines":           {"{include} a.md", ":lines: 3-,1\n", "one\nthree\nfour\n"},
		"first and last":  {"{include} a.md", ":start-line: 1\n:end-line: 3\n", "two\nthree\n"},
		"from the end":    {"{include} a.md", ":end-line: -3\n", "one\ntwo\n"},
		"beyond the file": {"{include} a.md", ":start-line: 90\n:end-line: -90\n", ""},
		"marks":           {"{include} a.md", ":start-after: one\n:end-before: four\n", "two\nthree\n"},
		"marks included":  {"{include} a.md", ":start-at: two\n:end-at: three\n", "two\nthree\n"},
		"code": {
			"{literalinclude} a.go", ":lines: 2\n:linenos:\n",
			"~~~~~~{code-block} go\n---\nlinenos: \nlines: 2\n---\ntwo\n~~~~~~\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := string(myst.ReadInclude(row.info, "", []byte(row.body)).Part([]byte(file)))
			if got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}

	if myst.ReadInclude("{note} a.md", "", nil) != nil {
		t.Error("a note is read as an include")
	}
}
