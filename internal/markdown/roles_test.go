package markdown_test

import (
	"strings"
	"testing"

	"presswork/internal/markdown"
	"presswork/internal/markdown/dialect"
)

// With a bibliography, roles cite works. They also find labels of documents that are printed with this one.
func TestRolesCiteWorksAndReferToOtherDocuments(t *testing.T) {
	t.Parallel()
	works := func(string) ([]byte, error) {
		return []byte(
			"@book{Doe.2001, author={Doe, Jane}, title={One}, year=2001}\n@book{roe, author={Roe, Ann}, title={Two}, year=2002}",
		), nil
	}

	d := render(
		t,
		"Some {cite}`Doe.2001,\nroe` and {citet}`roe`, {cite:t}`Doe.2001`.\n"+
			"In {numref}`sec_other`, 見{numref}`fig_other`。{ref}`there <sec_other>`",
		markdown.Options{
			Bibliography: []string{"a.bib"}, Library: works, CitationStyle: "apa",
			Labels: map[string]markdown.Label{
				"sec:sec_other": {Kind: markdown.Section, Number: "4", ID: "x"},
				"fig:fig_other": {Kind: markdown.Figure, Number: "2", ID: "y"},
			},
		},
	)
	for _, want := range []string{`(<a href="#ref-Doe.2001" class="xref">Doe, 2001</a>; <a href="#ref-roe" class="xref">Roe, 2002</a>)`, ">Section\u00a04</a>", "見<a", `<a href="#x">there</a>`, ">Roe</a> (", ">Doe</a> ("} {
		if !strings.Contains(d.HTML, want) {
			t.Errorf("no %q in %s", want, d.HTML)
		}
	}

	if len(d.Warnings) != 0 {
		t.Error(d.Warnings)
	}
}

// GitHub Flavored Markdown has no roles.
func TestGFMKeepsRoles(t *testing.T) {
	t.Parallel()

	d := render(t, "# A\n\n{ref}`sec_a`", markdown.Options{Dialect: dialect.GFM})
	if !strings.Contains(d.HTML, "{ref}<code>sec_a</code>") {
		t.Error(d.HTML)
	}
}
