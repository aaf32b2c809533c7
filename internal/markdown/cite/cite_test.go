package cite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"presswork/internal/markdown/cite"
	"presswork/internal/markdown/cite/bibfile"
	"presswork/internal/test/golden"
)

func works(t testing.TB) bibfile.Bibliography {
	t.Helper()

	src, err := os.ReadFile("testdata/works.bib")
	if err != nil {
		t.Fatal(err)
	}

	b, err := bibfile.Read(src, "en-US")
	if err != nil || len(b.Problems) > 0 {
		t.Fatalf("works.bib: %v %v", err, b.Problems)
	}

	return b
}

// sample returns citations of all forms.
func sample() []cite.Citation {
	return []cite.Citation{
		{Cites: []cite.Cite{{Key: "smith2001", Prefix: "see", Locator: "3–4", Label: "page"}, {Key: "doe1999"}}},
		{Cites: []cite.Cite{{Key: "doe1999", Locator: "5", Label: "chapter"}}, InText: true},
		{Cites: []cite.Cite{{Key: "smith2001", SuppressAuthor: true}}},
		{
			Cites: []cite.Cite{
				{Key: "many2020"},
				{Key: "smith2001b"},
				{Key: "smith2001"},
				{Key: "knuth", Suffix: " and more"},
			},
		},
		{Cites: []cite.Cite{{Key: "nobody"}}},
		{Cites: []cite.Cite{{Key: "undated"}}},
	}
}

// TestStyles compares the output of each style with testdata/styles.golden, which was checked against
// citeproc-js and the handbooks of the styles.
func TestStyles(t *testing.T) {
	t.Parallel()
	l := cite.New()
	b := works(t)
	var out strings.Builder

	write := func(style, lang string) {
		job := cite.Job{
			Items:     b.Items,
			Lang:      lang,
			Citations: sample(),
			Uncited:   []string{"web", "conf", "thesis", "letters", "chap"},
			Anchor:    func(key string) string { return "ref-" + key },
		}

		r, err := l.Style(style).Process(t.Context(), l, job)
		if err != nil {
			t.Errorf("%s: %v", style, err)
		}
		fmt.Fprintf(&out, "%s %s hanging=%t\n", style, lang, r.Hanging)

		for _, c := range r.Citations {
			fmt.Fprintf(&out, "  %s\n", c)
		}

		for _, e := range r.Entries {
			fmt.Fprintf(&out, "  %s | %s | %s\n", e.Key, e.Label, e.HTML)
		}
	}
	for _, style := range cite.StyleNames() {
		write(style, "en-US")
	}

	for _, lang := range []string{"en-GB", "de", "fr", "es", "ja", "ar", "tlh"} {
		write("apa", lang)
	}
	golden.Check(t, "styles.golden", []byte(out.String()))
}

func TestLocatorsAreReadInTwoLanguages(t *testing.T) {
	t.Parallel()

	l := cite.New()

	for _, c := range []struct{ suffix, lang, label, locator, rest string }{
		{", pp. 3--4 and more", "en", "page", "3–4", " and more"},
		{", 12", "en", "page", "12", ""},
		{", chap. 5", "de", "chapter", "5", ""},
		{", Kap. 5", "de", "chapter", "5", ""},
		{", S. 7f.", "de", "page", "7f.", ""},
		{", vol. iv, p. 2", "en", "volume", "iv", ", p. 2"},
		{", §§ 3, 4 passim", "en", "section", "3, 4", " passim"},
		{", {appendix B}, esp.", "en", "", "appendix B", ", esp."},
		{" and passim", "en", "", "", " and passim"},
		{"", "", "", "", ""},
	} {
		t.Run(c.suffix+" in "+c.lang, func(t *testing.T) {
			label, locator, rest := l.Locator(c.suffix, c.lang)
			if label != c.label || locator != c.locator || rest != c.rest {
				t.Errorf("%q %q %q, want %q %q %q", label, locator, rest, c.label, c.locator, c.rest)
			}
		})
	}
}

func TestReadCSLJSON(t *testing.T) {
	t.Parallel()

	b, err := bibfile.Read([]byte(`[
		{"id":"a","type":"book","title":"T <b>b</b>","author":[{"family":"Doe","given":"J."},{"given":"Plato"}],
		 "volume":3,"issued":{"date-parts":[["2001","2"]]},"accessed":{"raw":"2020-01-02"},"custom":{"x":1}},
		{"id":7,"issued":{"date-parts":[[2000],[2001]],"circa":true}},
		{"title":"no id"}]`), "")
	if err != nil {
		t.Fatal(err)
	}

	a, seven := b.Items["a"], b.Items["7"]
	if a == nil || seven == nil || a.Vars["volume"] != "3" || a.Names["author"][1].Literal != "Plato" ||
		a.Dates["issued"].From != [3]int{2001, 2} ||
		a.Dates["accessed"].From != [3]int{2020, 1, 2} ||
		seven.Dates["issued"].To[0] != 2001 ||
		!seven.Dates["issued"].Circa {
		t.Errorf("%+v %+v", a, seven)
	}

	if len(b.Problems) != 1 || b.Problems[0].Text != "work 3 has no id" {
		t.Errorf("problems %v", b.Problems)
	}
}

// The entries around a broken one are read.
func TestBrokenEntriesAreSkipped(t *testing.T) {
	t.Parallel()

	b, err := bibfile.Read(
		[]byte(
			"Text with a@b.de\n@comment{ @book{no, title={x}} }\n@book{one, title={One}}\n@book{two, "+
				"title={Unclosed}\n\n@book{three, title={Three}}\n@book{, title={No key}}\n@book{four title={x}}\n",
		),
		"",
	)
	if err != nil {
		t.Fatal(err)
	}

	if b.Items["one"] == nil || b.Items["three"] == nil || b.Items["no"] != nil {
		t.Errorf("items %v", b.Items)
	}

	if len(b.Problems) < 2 || b.Problems[0].Line != 4 {
		t.Errorf("problems %v", b.Problems)
	}

	if _, err := bibfile.Read([]byte("just text"), ""); err == nil ||
		!strings.Contains(err.Error(), "neither CSL-JSON nor BibTeX") {
		t.Errorf("text: %v", err)
	}
}

const head = `<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0"><citation><layout>` +
	`<text macro="m0"/></layout></citation>`

// Some styles would evaluate elements forever, and some files are not styles.
func TestHostileStylesAreRefused(t *testing.T) {
	t.Parallel()
	var doubling strings.Builder
	doubling.WriteString(head)

	for i := range 50 {
		fmt.Fprintf(&doubling, `<macro name="m%d"><text macro="m%d"/><text macro="m%d"/></macro>`, i, i+1, i+1)
	}
	doubling.WriteString(`</style>`)
	l := cite.New()

	cycle := head + `<macro name="m0"><text macro="m0"/><text macro="m0"/></macro></style>`
	for name, style := range map[string]string{"doubling": doubling.String(), "cycle": cycle} {
		s, err := cite.ParseStyle([]byte(style))
		if err != nil {
			t.Fatal(err)
		}

		job := cite.Job{Items: works(t).Items, Citations: sample()}
		if _, err := s.Process(t.Context(), l, job); err == nil || !strings.Contains(err.Error(), "too long") {
			t.Errorf("%s: %v", name, err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("gone")
		cancel(gone)

		if _, err := s.Process(ctx, l, job); !errors.Is(err, gone) {
			t.Errorf("%s: %v, want the context's cause", name, err)
		}
	}

	for name, c := range map[string][2]string{
		"entities":  {`<!DOCTYPE style [<!ENTITY a "aaaa">]><style>&a;</style>`, "not XML"},
		"deep":      {strings.Repeat("<group>", 100), "nest deeper"},
		"large":     {strings.Repeat(" ", 2<<20), "at most"},
		"html":      {"<html></html>", `"html", not style`},
		"empty":     {"", "not XML"},
		"dependent": {`<style><info><link rel="independent-parent" href="http://x/apa"/></info></style>`, "another style"},
		"no layout": {`<style><citation/></style>`, "no layout"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := cite.ParseStyle([]byte(c[0])); err == nil || !strings.Contains(err.Error(), c[1]) {
				t.Errorf("%s: %v, want %q", name, err, c[1])
			}
		})
	}
}

// No field of a bibliography becomes HTML.
func TestFieldsAreEscaped(t *testing.T) {
	t.Parallel()
	l := cite.New()
	const evil = `<script>alert(1)</script><img src=x onerror=alert(1)><i onclick="x">a</i> &lt;script&gt; "q" ` +
		`http://x/"onmouseover="y`

	item := &bibfile.Item{
		ID:    evil,
		Type:  "article-journal",
		Vars:  map[string]string{},
		Names: map[string][]bibfile.Name{"author": {{Family: evil, Given: evil}}},
		Dates: map[string]bibfile.Date{"issued": {Literal: evil}},
	}
	for _, name := range []string{"title", "container-title", "volume", "page", "DOI", "URL", "note", "publisher"} {
		item.Vars[name] = evil
	}

	job := cite.Job{
		Items: map[string]*bibfile.Item{"k": item},
		Citations: []cite.Citation{
			{Cites: []cite.Cite{{Key: "k", Prefix: evil, Suffix: evil, Locator: evil}}},
		},
	}

	for _, style := range cite.StyleNames() {
		r, err := l.Style(style).Process(t.Context(), l, job)
		if err != nil {
			t.Fatal(err)
		}

		all := slices.Clone(r.Citations)
		for _, e := range r.Entries {
			all = append(all, e.HTML, e.Label)
		}

		for _, html := range all {
			for _, bad := range []string{"<script", "<img", "<i ", `"onmouse`, `="y`} {
				if strings.Contains(html, bad) {
					t.Errorf("%s lets %q through: %s", style, bad, html)
				}
			}
		}
	}
}

func FuzzBibliography(f *testing.F) {
	f.Add("@article{a, title = {x {y} \\'{z}}, author = {A and B, C}, year = 2000, crossref = {a}}")
	f.Add(`[{"id":"a","title":"x","issued":{"date-parts":[[2000,1]]}}]`)
	f.Add("@string{a=\"b\"} @book(k, title = a # {c} # 3, month = jan)")
	f.Add("@misc{k,title={" + strings.Repeat("{", 200) + `\em $^{` + strings.Repeat("}", 100) + "}}")
	l := cite.New()
	apa := l.Style("apa")
	f.Fuzz(func(t *testing.T, src string) {
		b, err := bibfile.Read([]byte(src), "en")
		if err != nil {
			return
		}

		job := cite.Job{Items: b.Items, Lang: "en"}
		for key := range b.Items {
			job.Citations = append(job.Citations, cite.Citation{Cites: []cite.Cite{{Key: key}}})
		}

		if _, err := apa.Process(t.Context(), l, job); err != nil && !strings.Contains(err.Error(), "too long") {
			t.Error(err)
		}
	})
}

func FuzzStyle(f *testing.F) {
	f.Add(
		head + `<macro name="m0"><names variable="author"><name and="text" initialize-with="."/><et-al term="and ` +
			`others"/><substitute><text variable="title"/></substitute></names><date variable="issued" form="text"/>` +
			`</macro></style>`,
	)
	f.Add(
		`<style><citation et-al-min="1" et-al-use-first="1" collapse="year"><layout delimiter="; "><choose><if ` +
			`type="book"><number variable="edition" form="ordinal"/></if></choose></layout></citation></style>`,
	)
	l := cite.New()

	b, err := bibfile.Read([]byte(`@book{doe1999, author={Doe, J. and B, C}, title={T}, year=1999, edition=2}`), "en")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, src string) {
		s, err := cite.ParseStyle([]byte(src))
		if err != nil {
			return
		}

		if _, err := s.Process(t.Context(), l, cite.Job{Items: b.Items, Citations: sample()[:2]}); err != nil &&
			!strings.Contains(err.Error(), "too long") {
			t.Error(err)
		}
	})
}
