package document_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"presswork"
	"presswork/internal/document"
	"presswork/internal/fault"
)

func TestInvalidFrontMatterIsIgnoredWithAWarning(t *testing.T) {
	t.Parallel()
	c := compose(t, document.Document{
		Content: []byte(
			"---\ntheme: jekyll-theme-minimal\npage_size: A99\noutline: deep\nmargin: 2cm\ncover: a.jpg\nlanguage: Klingonese\n" +
				"margins: {left: 100mm}\nauthor: [A, B]\n---\n# x\n",
		),
		Options: presswork.Options{Margins: presswork.Margins{Right: "105mm"}},
	})
	var lines []int

	for _, w := range c.Warnings {
		if w.Code != fault.FrontMatterIgnored || !strings.HasPrefix(w.Message, "front matter: ") {
			t.Errorf("got %+v, want %s of the front matter", w, fault.FrontMatterIgnored)
		}
		lines = append(lines, w.Line)
	}

	if want := "[2 3 4 5 6 7 8]"; fmt.Sprint(lines) != want || c.Theme != "light" || c.Meta.Author != "A, B" {
		t.Errorf("got warnings in lines %v, theme %s, author %q; want %s, light, \"A, B\"",
			lines, c.Theme, c.Meta.Author, want)
	}

	_, err := converter(
		t,
		document.Options{},
	).Compose(t.Context(), document.Document{Content: []byte("---\ntheme: gaia\nstrict: true\n---\nx")})
	if fault.CodeOf(err) != fault.StrictFindings {
		t.Errorf("strict, with an unknown theme: got %v, want %s", err, fault.StrictFindings)
	}
}

// Package dates tests the other languages and forms.
func TestDatesAreOnTheCoverAndInTheHeader(t *testing.T) {
	t.Parallel()

	for matter, want := range map[string]string{
		"lang: en-GB\ndate: 2024-03-05T10:00:00Z":   "5 March 2024",
		"lang: de-CH\ndate: 2024-03-05 10:00 +0100": "5. März 2024",
		"lang: ar-EG\ndate: 2024-08-09":             "٩ أغسطس ٢٠٢٤",
		"lang: en\ndate: Spring 2024":               "Spring 2024",
		"lang: en":                                  "2026-11-20", // the day of rendering
	} {
		t.Run(matter, func(t *testing.T) {
			c := compose(t, document.Document{
				Content: []byte("---\n" + matter + "\n---\nText\n"),
				Options: presswork.Options{Cover: new(true), HeaderText: new("{date}")},
			})
			if !strings.Contains(c.Page.HTML, `<p class="cover-date">`+want+"</p>") ||
				!strings.Contains(c.Page.HTML, `@top-center{content:"`+want+`"}`) {
				_, got, _ := strings.Cut(c.Page.HTML, `<p class="cover-date">`)
				t.Errorf("the cover has %.40q, want %q there and in the header", got, want)
			}
		})
	}
	at := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

	c, err := converter(t, document.Options{Epoch: at}).Compose(
		t.Context(),
		document.Document{Content: []byte("---\ndate: 2024-03-05\n---\nx")},
	)
	if err != nil || c.Meta.Date != "2024-03-05" {
		t.Errorf("got the date %q, %v in the metadata; want 2024-03-05", c.Meta.Date, err)
	}
}

// A title that is not in the text is printed above it, with subtitle, authors and date.
func TestATitleWithoutAHeadingIsPrinted(t *testing.T) {
	t.Parallel()
	// matter is front matter without its end, block and abstract the HTML of its fields.
	const matter = "---\ntitle: Tides & <Winds>\nsubtitle: A survey\nauthors: [{name: Ann Lee}, Bo]\ndate: 2024-03-05\nlang: en\nabstract: |\n  Short *and* <b>plain</b>.\n"
	const block = "<div class=\"byline\">\n<p class=\"subtitle\">A survey</p>\n<p class=\"authors\">Ann Lee, Bo</p>\n<p class=\"issued\">March 5, 2024</p>\n</div>\n"

	const abstract = "<div class=\"abstract\">\n<p>Short <em>and</em> &lt;b&gt;plain&lt;/b&gt;.</p>\n</div>\n"
	for name, test := range map[string]struct {
		matter, text, want string
		options            presswork.Options
	}{
		"no heading":     {matter: matter, text: "Text.", want: `<h1 id="tides--winds">Tides &amp; &lt;Winds&gt;</h1>` + "\n" + block + abstract + "<p>Text.</p>"},
		"other heading":  {matter: matter, text: "# Own\n\nText.", want: `<p class="title">Tides &amp; &lt;Winds&gt;</p>` + "\n" + block + abstract + `<h1 id="own">`},
		"the same words": {matter: "---\ntitle: \"Tides & winds!\"\nsubtitle: S\n", text: "# *Tides* &amp; Winds\n\nText.", want: "<main>\n<h1 id=\"tides--winds\">"},
		"raw title":      {matter: matter, text: "<h1 align=center>Own</h1>\n", want: `Own</h1>`},
		"code":           {matter: "---\ntitle: T\n", text: "```html\n<h1>x</h1>\n```\n\n`<h1>`\n\n    <h1>\n", want: `<h1 id="t">T</h1>` + "\n" + `<pre`},
		"chapters":       {matter: matter, text: "# One\n\n# Two", want: `<p class="title">Tides &amp; &lt;Winds&gt;</p>` + "\n" + block + abstract + `<h1 id="one">One</h1>`},
		"its heading":    {matter: matter, text: "# Tides & \\<Winds>\n\nText.", want: `<h1 id="tides--winds">Tides &amp; &lt;Winds&gt;</h1>` + "\n" + block + abstract + `<p>Text.</p>`},
		"below a line":   {matter: matter, text: "Line.\n\n# Tides & \\<Winds>\n\nText.", want: "<p>Line.</p>\n" + `<h1 id="tides--winds">Tides &amp; &lt;Winds&gt;</h1>` + "\n" + block + abstract + `<p>Text.</p>`},
		"its chapter":    {matter: matter, text: "# Tides & \\<Winds>\n\n# Two", want: `<h1 id="tides--winds">Tides &amp; &lt;Winds&gt;</h1>` + "\n" + block + abstract + `<h1 id="two">`},
		"a cover":        {matter: matter, text: "Text.", options: presswork.Options{Cover: new(true)}, want: "<main>\n" + abstract + "<p>Text.</p>"},
		"contents":       {matter: "---\ntitle: T\n", text: "## One\n", options: presswork.Options{TOC: new(presswork.Depth(2))}, want: `<h1 id="t">T</h1>` + "\n" + `<nav class="toc"`},
		"numbers":        {matter: "---\ntitle: T\n", text: "## One\n", options: presswork.Options{NumberedHeadings: new(true)}, want: `<h1 id="t">T</h1>` + "\n" + `<h2 id="one">1` + "\u2002One</h2>"},
		"an option":      {text: "Text.", options: presswork.Options{Title: "T"}, want: "<main>\n<p>Text.</p>"},
		"only a date":    {matter: "---\ndate: 2024-03-05\n", text: "Text.", want: "<main>\n<p>Text.</p>"},
	} {
		t.Run(name, func(t *testing.T) {
			src := test.text
			if test.matter != "" {
				src = test.matter + "---\n" + src
			}

			html := compose(t, document.Document{Content: []byte(src), Options: test.options}).Page.HTML
			if !strings.Contains(html, test.want) {
				_, got, _ := strings.Cut(html, "<main>")
				t.Errorf("got %s\nwant %s", got, test.want)
			}
		})
	}
}

// The authors of a paper have affiliations and ORCIDs, in the forms of Quarto, MyST and JOSS.
func TestAuthorsOfAPaperHaveTheirAffiliations(t *testing.T) {
	t.Parallel()

	const two = `<p class="authors">A. Lee<sup>1,2</sup>, Bo<sup>2</sup></p>` + "\n" +
		`<p class="affiliation"><sup>1</sup> Dept. of Tides, Sea &amp; Co, Kiel</p>` + "\n" +
		`<p class="affiliation"><sup>2</sup> Winds</p>` + "\n"

	for name, row := range map[string]struct{ matter, want string }{
		"Quarto": {
			"author:\n- name: A. Lee\n  affiliations:\n  - ref: s\n  - name: Winds\n- {name: Bo, affiliation: Winds}\n" +
				"affiliations:\n- {id: s, department: Dept. of Tides, name: Sea & Co, city: Kiel}\n", two,
		},
		"JOSS": {
			"authors:\n- {name: A. Lee, affiliation: \"1, 2\"}\n- {name: Bo, affiliation: 2}\n" +
				"affiliations:\n- {name: \"Dept. of Tides, Sea & Co, Kiel\", index: 1}\n- {name: Winds, index: 2}\n", two,
		},
		"one affiliation": {
			"author: [{name: A, affiliation: X}, {name: B, affiliation: X}]\n",
			`<p class="authors">A, B</p>` + "\n" + `<p class="affiliation">X</p>` + "\n</div>",
		},
		"ORCID": {
			"author: [{name: A, orcid: \"https://orcid.org/0000-0002-1825-0097\"}]\n",
			`<p class="affiliation">A: ORCID <a href="https://orcid.org/0000-0002-1825-0097">0000-0002-1825-0097</a></p>`,
		},
		"a note after the name": {
			"authors:\n- name: A. Lee*^[Corresponding author.]\n- name: Bo\n",
			`<p class="authors">A. Lee, Bo</p>` + "\n" + `<p class="affiliation">A. Lee: Corresponding author.</p>`,
		},
		"keywords": {
			"abstract: Text.\nkeywords: [a, b & c]\n",
			"<p>Text.</p>\n<p class=\"keywords\"><strong>Keywords:</strong> a, b &amp; c</p>\n</div>",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			content := []byte("---\ntitle: T\nlang: en\n" + row.matter + "---\n# One\n")
			html := compose(t, document.Document{Content: content}).Page.HTML

			if _, got, _ := strings.Cut(html, "<main>"); !strings.Contains(got, row.want) {
				t.Errorf("got %s\nwant %s", got, row.want)
			}
		})
	}
}
