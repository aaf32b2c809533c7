package markdown_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"presswork/internal/fault"
	"presswork/internal/markdown"
)

const (
	refs = `@book{doe99, author = {Doe, Jane}, title = {A Book}, publisher = {Press}, year = 1999}
@article{roe01, author = {Roe, Richard}, title = {<script>alert(1)</script> {\'E}t\'e}, journal = {J}, year = 2001, pages = {1--9}, url = {javascript:alert(1)}}
@book{other, author = {Other, Ann}, title = {Uncited}, year = 2000}
@misc{broken, title = {`
	numericStyle = `<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0"><citation><layout prefix="{" suffix="}" delimiter="+"><text variable="citation-number"/></layout></citation>` +
		`<bibliography><layout><text variable="title"/></layout></bibliography></style>`
)

// library returns the bibliography files and styles that the tests name.
func library(name string) ([]byte, error) {
	switch name {
	case "refs.bib":
		return []byte(refs), nil
	case "own.csl":
		return []byte(numericStyle), nil
	case "bad.csl":
		return []byte("<style>"), nil
	case "store.bib":
		return nil, fault.Errorf(fault.StoreUnavailable, "the store does not answer")
	}

	return nil, os.ErrNotExist
}

// citing renders a text with the test bibliography. It leaves out the warning about that file's broken entry.
func citing(t *testing.T, src string, o markdown.Options) (html string, warnings []string) {
	t.Helper()

	o.Asset = library
	if o.Bibliography == nil {
		o.Bibliography = []string{"refs.bib"}
	}

	d := render(t, src, o)
	for _, w := range d.Warnings {
		if !strings.Contains(w.Message, "line 4") { // the broken entry
			warnings = append(warnings, string(w.Code)+" "+w.Message)
		}
	}

	return strings.ReplaceAll(d.HTML, "\u00a0", " "), warnings
}

func TestCitationsBecomeLinksToTheirEntries(t *testing.T) {
	t.Parallel()

	html, warnings := citing(t, `# Title

As @doe99 [p. 5] and others [see @roe01, pp. 3--4, *esp.* here; -@doe99] say, -@doe99; a@b.de, [@doe99](#title) \@doe99 `+"`@doe99`"+` and [wrapped
@doe99].

::: {#refs}
:::

## Last
`, markdown.Options{Lang: "en"})
	for _, want := range []string{
		`<a href="#ref-doe99" class="xref">Doe</a> (<a href="#ref-doe99" class="xref">1999, 5</a>)`,
		`(<a href="#ref-roe01" class="xref">see Roe 2001, 3–4, <em>esp.</em> here</a>; <a href="#ref-doe99" class="xref">1999</a>) say, (<a href="#ref-doe99" class="xref">1999</a>);`,
		`a@b.de`, `<a href="#title">@doe99</a> @doe99 <code>@doe99</code>`, `(<a href="#ref-doe99" class="xref">wrapped Doe 1999</a>).`,
		`<div id="refs">`, `<div id="ref-doe99" class="csl-entry">Doe, Jane. 1999. <em>A Book</em>. Press.</div>`,
		`“&lt;Script&gt;alert(1)&lt;/script&gt; Été.”`,
	} {
		if !strings.Contains(html, want) {
			t.Errorf("got %s, want %s in it", html, want)
		}
	}

	if strings.Contains(html, "<script") || strings.Contains(html, "Uncited") ||
		strings.Contains(html, `href="javascript`) ||
		strings.Index(html, "ref-doe99\" class=\"csl") > strings.Index(html, "Last") {
		t.Errorf("got scripts, an uncited work or the bibliography after the last heading: %s", html)
	}

	if len(warnings) > 0 {
		t.Errorf("warnings %q", warnings)
	}
}

func TestBibliographyIsPrintedAtTheEnd(t *testing.T) {
	t.Parallel()

	for _, c := range []struct{ name, src, lang, want string }{
		{"under a new heading", "# Title\n\n@doe99[^1]\n\n[^1]: Note.\n", "de", "<h2 class=\"unnumbered\" id=\"literatur\">Literatur</h2>\n<div class=\"csl-entries csl-hanging\""},
		{"under the last heading", "# Title\n\n@doe99\n\n## Sources\n", "en", "<h2 id=\"sources\">Sources</h2>\n<div class=\"csl-entries"},
		{"without headings", "@doe99\n", "fr", "<h1 class=\"unnumbered\" id=\"bibliographie\">Bibliographie</h1>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if html, _ := citing(t, c.src, markdown.Options{Lang: c.lang}); !strings.Contains(html, c.want) {
				t.Errorf("%s: no %s in %s", c.name, c.want, html)
			}
		})
	}

	html, _ := citing(t, "@doe99\n", markdown.Options{Lang: "he"})
	if !strings.Contains(html, `<div id="ref-doe99" dir="auto" class="csl-entry">`) {
		t.Errorf("got %s, want an entry with its own direction", html)
	}

	html, warnings := citing(t, "text\n", markdown.Options{NoCite: "@other, @nobody"})
	if !strings.Contains(html, "Uncited") || strings.Contains(html, "A Book") ||
		!cmp.Equal(warnings, []string{`citation_missing nocite names "nobody", but no bibliography has that key`}) {
		t.Errorf("with one work in NoCite: got %s and the warnings %q", html, warnings)
	}

	if html, _ = citing(t, "text\n", markdown.Options{NoCite: "@*"}); !strings.Contains(html, "Uncited") ||
		!strings.Contains(html, "A Book") {
		t.Errorf("with all works in NoCite: got %s", html)
	}
}

func TestMissingWorksAndFilesLeaveWarnings(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		name, src string
		options   markdown.Options
		html      string
		warnings  []string
	}{
		{"missing key", "x [@doe98; @roe01] @nobody\n", markdown.Options{}, "<strong>doe98?</strong>; <a", []string{
			`citation_missing citation of "doe98", but no bibliography has that key; did you mean "doe99"?`, `citation_missing citation of "nobody", but no bibliography has that key`,
		}},
		{"missing file", "x [@doe99] @nobody\n", markdown.Options{Bibliography: []string{"none.bib"}}, "<p>x [@doe99] @nobody</p>\n", []string{`bibliography_failed "none.bib" cannot be read: it did not come with the document`}},
		{
			"a file that is no bibliography", "x [@doe99]\n",
			markdown.Options{Bibliography: []string{"own.csl"}},
			"<p>x [@doe99]</p>\n",
			[]string{`bibliography_failed bibliography "own.csl": it is neither CSL-JSON nor BibTeX: no @ begins an entry`},
		},
		{"broken style", "x [@doe99]\n", markdown.Options{CitationStyle: "bad.csl"}, ">Doe 1999</a>", []string{`bibliography_failed citation style "bad.csl": it is not XML: XML syntax error on line 1: unexpected EOF`}},
		{"own style", "[@doe99] [@roe01]\n", markdown.Options{CitationStyle: "own.csl"}, `{<a href="#ref-doe99" class="xref">1</a>} {<a href="#ref-roe01" class="xref">2</a>}`, nil},
		{"missing file with the name of a built-in style", "[@doe99]\n", markdown.Options{CitationStyle: "ieee.csl"}, `<span class="csl-label">[1]</span>`, []string{}},
		{"labels and works", "[@fig:a; @doe99] @fig:a @fig:none\n\n![A](x.png){#fig:a}\n", markdown.Options{}, `Figure 1</a> @fig:none</p>`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			html, warnings := citing(t, c.src, c.options)
			if !strings.Contains(html, c.html) {
				t.Errorf("%s: no %s in %s", c.name, c.html, html)
			}

			if c.warnings != nil && !cmp.Equal(warnings, c.warnings, cmpopts.EquateEmpty()) {
				t.Errorf("%s: warnings %q, want %q", c.name, warnings, c.warnings)
			}
		})
	}

	_, err := markdown.New().
		Parse(t.Context(), []byte("@a"), markdown.Options{Asset: library, Bibliography: []string{"store.bib"}})
	if fault.CodeOf(err) != fault.StoreUnavailable {
		t.Errorf("without the store: got %v, want StoreUnavailable", err)
	}

	if _, err := markdown.New().
		Parse(t.Context(), []byte("@a"), markdown.Options{Bibliography: []string{"x.bib"}}); err != nil {
		t.Errorf("without files: got %v", errors.Unwrap(err))
	}
}

func TestNoteStyleMakesFootnotes(t *testing.T) {
	t.Parallel()
	html, warnings := citing(
		t,
		"# Title\n\nAs @doe99 says [see @roe01, p. 3]; own[^1], bare -@doe99, again[^1] [@nobody].\n\n[^1]: Mine, with [@doe99, 12].\n",
		markdown.Options{CitationStyle: "chicago-notes", Lang: "en"},
	)

	mark := func(n, id string) string {
		return `<sup id="fnref` + id + `"><a href="#fn:` + n + `" class="footnote-ref" role="doc-noteref">` + n + `</a></sup>`
	}
	for _, want := range []string{
		`As <a href="#ref-doe99" class="xref">Doe</a>` + mark("1", ":1") + " says" + mark("2", ":2") + "; own" + mark("3", ":3") + ", bare" + mark("4", ":4") + ", again" + mark("3", "1:3") + mark("5", ":5") + ".",
		`<li id="fn:1">` + "\n" + `<p><a href="#ref-doe99" class="xref">Jane Doe, <em>A Book</em> (Press, 1999)</a>.`,
		`<li id="fn:3">` + "\n" + `<p>Mine, with <a href="#ref-doe99" class="xref">Doe, <em>A Book</em>, 12</a>.`, `<strong>nobody?</strong>`, `<div id="ref-doe99" class="csl-entry">Doe, Jane. <em>A Book</em>. Press, 1999.</div>`,
	} {
		if !strings.Contains(html, want) {
			t.Errorf("got %s, want %s in it", html, want)
		}
	}

	if len(warnings) != 1 {
		t.Errorf("warnings %q", warnings)
	}
}

func TestTooManyReferencesAreRejected(t *testing.T) {
	t.Parallel()

	for name, src := range map[string]string{"citations": strings.Repeat("[@doe99, p. 3] ", 20_001), "in text": strings.Repeat("@nobody ", 20_001), "labels": strings.Repeat("@fig:x ", 20_001) + "{#fig:x}"} {
		t.Run(name, func(t *testing.T) {
			_, err := markdown.New().
				Parse(t.Context(), []byte(src), markdown.Options{Asset: library, Bibliography: []string{"refs.bib"}})
			if fault.CodeOf(err) != fault.ContentTooComplex || !strings.Contains(err.Error(), "over 20000 references") {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// A style that takes more work than any real one is replaced.
func TestAnExcessiveCitationStyleIsReplaced(t *testing.T) {
	t.Parallel()
	style := `<style class="in-text"><citation><layout><text variable="title"/></layout></citation><bibliography><sort>` + strings.Repeat(
		`<key variable="title"/>`,
		5000,
	) + `</sort><layout><text variable="title"/></layout></bibliography></style>`
	files := map[string]string{
		"b.json":  `[{"id":"a","type":"book","title":"A Book","issued":{"date-parts":[[2001]]}}]`,
		"own.csl": style,
	}

	d := render(t, "text\n", markdown.Options{
		Bibliography: []string{"b.json"}, CitationStyle: "own.csl", NoCite: "@*",
		Asset: func(name string) ([]byte, error) { return []byte(files[name]), nil },
	})
	if !strings.Contains(d.HTML, "<em>A Book</em>") {
		t.Errorf("got %s, want the default style", d.HTML)
	}

	if len(d.Warnings) != 1 ||
		!strings.Contains(
			d.Warnings[0].Message,
			`citation style "own.csl": an element sort has 5000 keys; at most 50 are allowed`,
		) {
		t.Errorf("warnings %v", d.Warnings)
	}
}
