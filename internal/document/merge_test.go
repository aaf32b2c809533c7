package document_test

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/document"
	"presswork/internal/fault"
)

func TestPartsFollowTheDocumentWithAnchorsAndLinksOfTheirOwn(t *testing.T) {
	t.Parallel()
	composed := compose(t, document.Document{
		Path: "/book/one.md",
		Content: []byte(
			"---\ntitle: Book\ntheme: nord\n---\n# One\n\n## Setup\n\n[down](#setup) [over](two.md#setup) [last](sub/three.md) [out](https://example.com/two.md)\n",
		),
		Parts: []document.Part{
			{
				Path: "/book/two.md",
				Content: []byte(
					"---\ntitle: Not the book's\ntheme: dark\n---\n# Two\n\n## Setup\n\nnote[^1] [here](#setup) [back](one.md#setup) [gone](one.md#none)\n\n[^1]: two's\n\n```\nunclosed\n",
				),
			},
			{
				Path: "/book/sub/three.md",
				Content: []byte(
					"---\ntitle: The *third*\n---\n[up](../two.md) note[^1] ![pic](a.png)\n\n[^1]: three's\n",
				),
				Asset: func(name string) ([]byte, error) { return nil, errors.New("it has no " + name) },
			},
		},
	})

	page := composed.Page.HTML
	for _, want := range []string{
		"<title>Book</title>", `data-theme="nord"`,
		`id="setup"`, `<a href="#setup">down</a>`, `<a href="#setup-2">over</a>`, `<a href="#the-third">last</a>`, `href="https://example.com/two.md"`,
		`id="setup-2"`, `<a href="#setup-2">here</a>`, `<a href="#setup">back</a>`, `<a href="#one">gone</a>`,
		`id="the-third"`, `The *third*</h1>`, `<a href="#two">up</a>`,
		`id="fn:1-3"`, `href="#fn:1-3"`, `id="fnref:1-3"`, `href="#fnref:1-3"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}

	if n := strings.Count(page, `<div class="page-break">`); n != 2 {
		t.Errorf("%d page breaks, want 2", n)
	}

	var got []string
	for _, w := range composed.Warnings {
		got = append(got, fmt.Sprintf("%s (%d)", w.Message, w.Line))
	}
	slices.Sort(got)

	want := []string{`three.md: image "a.png"`, `two.md: link to "one.md#none"`}
	if len(got) != 2 || !strings.HasPrefix(got[0], want[0]) || !strings.HasPrefix(got[1], want[1]) ||
		!strings.HasSuffix(got[1], "(9)") {
		t.Errorf("got warnings %q, want %q, the second in line 9", got, want)
	}
}

func TestPartsReferToEachOthersLabels(t *testing.T) {
	t.Parallel()

	composed := compose(t, document.Document{
		Content: []byte("# One\n\nSee @fig:two, @sec:two and @fig:none.\n\n![A](a.png){#fig:one}\n"),
		Path:    "1.md",
		Options: presswork.Options{NumberedHeadings: new(true), Numbering: "chapter", LOF: new(true)},
		Parts: []document.Part{
			{Content: []byte("# Two {#sec:two}\n\nBack to @fig:one.\n\n![B](a.png){#fig:two}\n"), Path: "2.md"},
		},
	})
	for _, want := range []string{
		`<a href="#fig:two" class="xref">Figure~2.1</a>`, `<a href="#sec:two" class="xref">Section~2</a> and @fig:none.`,
		`<a href="#fig:one" class="xref">Figure~1.1</a>`, `<span class="xref-label">Figure~2.1:</span> B`,
		`<li><a href="#fig:two"><span class="toc-number">2.1</span><span class="toc-text">B</span>`,
	} {
		if !strings.Contains(composed.Page.HTML, strings.ReplaceAll(want, "~", "\u00a0")) {
			t.Errorf("the page lacks %s", want)
		}
	}
	var broken []string

	for _, w := range composed.Warnings {
		if w.Code == fault.LinkBroken {
			broken = append(broken, w.Message)
		}
	}

	if len(broken) != 1 || !strings.HasPrefix(broken[0], `1.md: reference to "fig:none"`) {
		t.Errorf("got broken links %q, want only fig:none of 1.md", broken)
	}
}

func TestPartsReferToEachOthersLabelsByRoles(t *testing.T) {
	t.Parallel()

	composed := compose(t, document.Document{
		Content: []byte("(sec_one)=\n# One\n\nSee {numref}`fig_two`.\n"),
		Path:    "1.md",
		Parts: []document.Part{
			{
				Content: []byte("# Two\n\nBack to {ref}`the start <sec_one>`.\n\n(fig_two)=\n![B](a.png)\n"),
				Path:    "2.md",
			},
		},
	})
	for _, want := range []string{`See <a href="#fig:fig_two" class="xref">Figure~1</a>.`, `<a href="#sec:sec_one">the start</a>`} {
		if !strings.Contains(composed.Page.HTML, strings.ReplaceAll(want, "~", "\u00a0")) {
			t.Errorf("the page lacks %s", want)
		}
	}

	for _, w := range composed.Warnings {
		if w.Code == fault.LinkBroken {
			t.Errorf("got %v, want no broken links", w)
		}
	}
}

func TestPartsShareOneBibliography(t *testing.T) {
	t.Parallel()

	files := func(name string) ([]byte, error) {
		if name == "refs.bib" {
			return []byte(
				"@book{a, author={Ab, C}, title={First}, year=2001}\n@book{b, author={Bc, D}, title={Second}, year=2002}\n@book{c, author={Cd, E}, title={Third}, year=2003}",
			), nil
		}

		return nil, fs.ErrNotExist
	}
	for _, refs := range []string{"", "\n\n::: {#refs}\n:::\n"} {
		page := compose(t, document.Document{
			Content: []byte("---\nbibliography: refs.bib\ncsl: ieee\n---\n# One\n\nFirst [@c]." + refs),
			Path:    "1.md",
			Asset:   files,
			Parts: []document.Part{
				{Content: []byte("# Two\n\nThen [@a; @c].\n"), Path: "sub/2.md"},
				{Content: []byte("# Three\n"), Path: "3.md"},
			},
		}).Page.HTML
		for _, want := range []string{`First <a href="#ref-c" class="xref">[1]</a>.`, `Then <a href="#ref-c" class="xref">[1]</a>, <a href="#ref-a" class="xref">[2]</a>.`, `<div id="ref-a" class="csl-entry`} {
			if strings.Count(page, want) != 1 {
				t.Errorf("%s is there %d times, want once, in %s", want, strings.Count(page, want), page)
			}
		}

		if strings.Contains(page, "Second") ||
			strings.Count(page, "csl-entries") != 1+strings.Count(page, ".csl-entries") ||
			strings.Index(page, "Three") > strings.Index(page, `id="ref-a"`) != (refs != "") {
			t.Errorf("want one bibliography of the cited works, at the mark or at the end: %s", page)
		}
	}
}

func TestErrorsNameTheirPart(t *testing.T) {
	t.Parallel()

	for content, want := range map[string]fault.Code{
		"":                         fault.ContentEmpty,
		"a\xff":                    fault.ContentNotUTF8,
		"---\ntitle: [\n---\nbody": fault.FrontMatterInvalid,
	} {
		t.Run(content, func(t *testing.T) {
			_, err := converter(t, document.Options{}).Compose(t.Context(), document.Document{
				Content: []byte("x"),
				Path:    "a.md",
				Parts:   []document.Part{{Content: []byte(content), Path: "dir/b.md"}},
			})
			if e := fault.AsError(err); e == nil || e.Code != want || !strings.HasPrefix(e.Message, "b.md: ") {
				t.Errorf("got %v, want %s that names b.md", err, want)
			}
		})
	}
}

// A book has no slides: the breaks between them become rules.
func TestSlidesOfAMergedBookAreSeparatedByRules(t *testing.T) {
	t.Parallel()

	_, files := bookOf(t, converter(t, document.Options{}), document.Document{
		Path:    "one.md",
		Content: []byte("---\nas: slides\n---\n# One\n\nfirst\n\n---\n\nsecond\n"),
		Parts:   []document.Part{{Path: "two.md", Content: []byte("# Two\n\nthird\n\n---\n\nfourth\n")}},
	})

	rules := 0
	for _, content := range files {
		rules += strings.Count(string(content), "<hr")
	}

	if rules != 2 {
		t.Errorf("the book has %d rules, want one for each break between slides", rules)
	}
}

// Together, files may have more elements than one print: they are printed in sections.
func TestMergedDocumentHasTheElementLimitOfSections(t *testing.T) {
	t.Parallel()

	c := converter(t, document.Options{Idle: func() int { return 2 }})
	paragraphs := func(n int) []byte { return []byte("# A\n\n" + strings.Repeat("a\n\n", n)) }

	for name, test := range map[string]struct {
		parts int
		want  fault.Code
	}{
		"two files of 120 000 elements each":  {1, ""},
		"nine files of 120 000 elements each": {8, fault.ContentTooComplex},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := document.Document{Path: "0.md", Content: paragraphs(40_000)}
			for n := range test.parts {
				d.Parts = append(d.Parts, document.Part{Path: fmt.Sprintf("%d.md", n+1), Content: paragraphs(40_000)})
			}

			if _, err := c.Compose(t.Context(), d); fault.CodeOf(err) != test.want {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestWarningsOfFrontMatterNameTheirFile(t *testing.T) {
	t.Parallel()
	composed := compose(t, document.Document{
		Path:    "/book/one.md",
		Content: []byte("---\ntoc: perhaps\n---\n# One\n"),
		Parts:   []document.Part{{Path: "/book/two.md", Content: []byte("# Two\n")}},
	})

	if w := composed.Warnings; len(w) != 1 || w[0].Line != 2 ||
		!strings.HasPrefix(w[0].Message, "one.md: front matter: toc is ignored") {
		t.Errorf("got warnings %+v, want that toc is ignored in line 2 of one.md", w)
	}
}
