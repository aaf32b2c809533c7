package metadata_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/document/metadata"
	"presswork/internal/fault"
)

func TestFrontMatterWarnsOfInvalidKeysOnly(t *testing.T) {
	t.Parallel()

	for src, want := range map[string]string{
		"---\ntitle: x\ntitel: y\n---\n":               `3: unknown key "titel"; did you mean "title"?`,
		"---\nthme: x\n---\n":                          `2: unknown key "thme"; did you mean "theme"?`,
		"---\nmargin: 2cm\n---\n":                      `2: unknown key "margin"; did you mean "margins"?`,
		"---\nlayout: post\nlandscpae: true\n---\n":    `3: unknown key "landscpae"; did you mean "landscape"?`,
		"---\nscale: big\n---\n":                       "2: scale is ignored: scale must be a number",
		"---\n\n\nlandscape: 3\n---\n":                 "4: landscape is ignored: landscape must be true or false",
		"---\noutline: deep\n---\n":                    "2: outline is ignored: outline must be true or false",
		"---\ncover: img.jpg\n---\n":                   "2: cover is ignored: cover must be true or false",
		"---\ntitle: [a]\n---\n":                       "2: title is ignored: title must be a string",
		"---\nfooter_text: {page}\n---\n":              "2: footer_text is ignored: footer_text must be a string",
		"---\nmargins: {topp: 1cm}\n---\n":             "2: margins is ignored: unknown field \"margins.topp\"",
		"---\ntitle: x\nauthor: *x\n---\n":             "3: author is ignored: aliases are not followed",
		"---\nauthor: 'A'\nauthors: {orcid: 1}\n---\n": "",
		"---\nauthors: {orcid: 1}\n---\n":              "2: authors is ignored: it must be a name",
		"---\ntheme: [a]\n---\n":                       "2: theme is ignored: theme must be a string",
		"---\ncss: style.css\n---\n":                   "2: css is ignored: it must be a stylesheet's text",
		"---\ncss: [a.css, b.css]\n---\n":              "2: css is ignored: css must be a string",
		"---\ndate: [a]\n---\n":                        "2: date is ignored: date must be a string",
		"+++\ntitle = \"x\"\ntitel = \"y\"\n+++\n":     `3: unknown key "titel"; did you mean "title"?`,
		"+++\nscale = \"big\"\n+++\n":                  "2: scale is ignored: scale must be a number",
		"+++\n\nlandscape = 3\n+++\n":                  "3: landscape is ignored: landscape must be true or false",
		"+++\n[margins]\ntopp = \"1cm\"\n+++\n":        "2: margins is ignored: unknown field \"margins.topp\"",
		"+++\nscale = nan\n+++\n":                      "2: scale is ignored: it must not contain nan or inf",
		"---\nlocale: de\ntop: true\ntag: x\n---\n":    "",
		"---\ntitle: &x y\nauthor: !r z\n---\n":        "",
		"---\nsubject: null\nauthor:\n---\n":           "",
	} {
		t.Run(src, func(t *testing.T) {
			m, err := metadata.Read([]byte(src))
			if err != nil {
				t.Fatal(err)
			}

			got := ""
			for _, w := range m.Warnings {
				got += fmt.Sprintf("%d: %s", w.Line, strings.TrimPrefix(w.Message, "front matter: "))
				if w.Code != fault.FrontMatterIgnored {
					t.Errorf("got the code %s, want %s", w.Code, fault.FrontMatterIgnored)
				}
			}

			if !strings.HasPrefix(got, want) || want == "" && got != "" {
				t.Errorf("got %q, want it to begin with %q", got, want)
			}
		})
	}
}

// The front matter has the form that the documentation of each program shows.
func TestFrontMatterOfOtherProgramsIsRead(t *testing.T) {
	t.Parallel()

	type matter struct {
		Title, Subtitle, Author, Date, Subject, Lang, Abstract, Theme string
		Keywords                                                      []string
		Warnings                                                      int
	}
	for name, test := range map[string]struct {
		src  string
		want matter
	}{
		"Jekyll": {
			"---\nlayout: post\ntitle:  \"Welcome to Jekyll!\"\ndate:   2015-11-17 16:16:01 -0600\ncategories: [jekyll, update]\ntags: [a, b]\npermalink: /x/\ntheme: jekyll-theme-minimal\nauthor:\n  name: Jane Doe\n  email: jane@example.org\nexcerpt_separator: <!--more-->\n---\n",
			matter{Title: "Welcome to Jekyll!", Author: "Jane Doe", Date: "2015-11-17 16:16:01 -0600", Keywords: []string{"a", "b"}, Theme: "jekyll-theme-minimal"},
		},
		"Hugo YAML": {
			"---\ntitle: \"Post\"\ndate: 2024-02-02T04:14:54-08:00\ndraft: false\nparams:\n  author: John Smith\nauthors:\n- John Smith\n- Ann Lee\ntags:\n- red\ndescription: Short.\nweight: 10\ncover:\n  image: a.jpg\n  alt: x\nShowToc: true\noutputs: [html]\ncascade:\n- _target: {kind: page}\n---\n",
			matter{Title: "Post", Author: "John Smith, Ann Lee", Date: "2024-02-02T04:14:54-08:00", Subject: "Short.", Keywords: []string{"red"}, Warnings: 1},
		},
		"Hugo TOML": {
			"+++\ntitle = 'Post'\ndate = 2024-02-02T04:14:54-08:00\ndraft = false\nweight = 10\ntags = ['red', 'blue']\nauthor = {name = 'John Smith'}\n[params]\n  author = 'X'\n[[resources]]\nsrc = '*.jpg'\n+++\n",
			matter{Title: "Post", Author: "John Smith", Date: "2024-02-02T04:14:54-08:00", Keywords: []string{"red", "blue"}},
		},
		"Zola": {
			"+++\ntitle = \"My page\"\ndescription = \"d\"\ndate = 2021-03-04\nupdated = 2021-05-06\nauthors = [\"A\", \"B\"]\ntemplate = \"page.html\"\n[taxonomies]\ntags = [\"rust\", \"web\"]\ncategories = [\"x\"]\n[extra]\ntoc = true\n+++\n",
			matter{Title: "My page", Author: "A, B", Date: "2021-03-04", Subject: "d", Keywords: []string{"rust", "web"}},
		},
		"Docusaurus": {
			"---\nid: doc\ntitle: Doc\nsidebar_label: x\nsidebar_position: 1\nhide_table_of_contents: false\ntoc_max_heading_level: 4\nkeywords:\n  - docs\ntags: [{label: Guide, permalink: /g}, docs]\nimage: https://i.example/x.png\nslug: /x\nlast_update:\n  date: 1/1/2000\n  author: c\nauthors:\n  - slorber\n  - name: Joel Marcey\n    title: Co-creator\n    url: https://example.org\n---\n",
			matter{Title: "Doc", Author: "slorber, Joel Marcey", Keywords: []string{"docs", "Guide"}},
		},
		"VitePress": {
			"---\nlayout: home\ntitle: VitePress\ntitleTemplate: Vite\noutline: deep\naside: false\nprev: false\nnext:\n  text: Markdown\n  link: /x\nhead:\n  - - meta\n    - name: description\n      content: hello\nhero:\n  name: VP\n  actions:\n    - theme: brand\n      text: Go\nfeatures:\n  - icon: ⚡️\n    title: Fast\n---\n",
			matter{Title: "VitePress", Warnings: 1},
		},
		"Obsidian": {
			"---\naliases:\n  - Other\ntags:\n  - projects/active\n  - journal\ncssclasses: [wide]\ncreated: 2024-05-01T10:00\nup: \"[[Home]]\"\nparent: [[Note]]\npublish: true\nrating: 5\n---\n",
			matter{Keywords: []string{"projects/active", "journal"}},
		},
		"Quarto": {
			"---\ntitle: \"Penguins\"\nsubtitle: A study\nauthor:\n  - name: Norah Jones\n    affiliations:\n      - id: c\n        name: The University\n    orcid: 0000-0001\n  - name:\n      given: Josiah\n      family: Carberry\ndate: last-modified\ndate-format: long\nabstract: >\n  We look\n  at birds.\nformat:\n  html: default\n  pdf:\n    toc: true\nexecute:\n  echo: !expr \"knitr::is_html_output()\"\nlang: de\njupyter: python3\nbibliography: refs.bib\nnumber-sections: true\n---\n",
			matter{Title: "Penguins", Subtitle: "A study", Author: "Norah Jones, Josiah Carberry", Date: "last-modified", Abstract: "We look at birds.", Lang: "de"},
		},
		"Pandoc": {
			"---\ntitle: The title\nauthor:\n- Author One\n- Author Two\ndate: \\today\nkeywords: [nothing, nothingness]\nabstract: |\n  This is the abstract.\n\n  Two paragraphs.\ngeometry: margin=2cm\nmargin: 2cm\nfontsize: 12pt\nheader-includes: |\n  \\usepackage{x}\ncss: style.css\ntoc: true\n...\n",
			matter{Title: "The title", Author: "Author One, Author Two", Date: "\\today", Abstract: "This is the abstract.\n\nTwo paragraphs.", Keywords: []string{"nothing", "nothingness"}, Warnings: 2},
		},
		"R Markdown": {
			"---\ntitle: \"Untitled\"\nauthor: \"Jane\"\ndate: \"`r format(Sys.time(), '%d %B, %Y')`\"\noutput:\n  html_document:\n    toc: true\nparams:\n  n: !r 5\n  d: !r Sys.Date()\n---\n",
			matter{Title: "Untitled", Author: "Jane", Date: "`r format(Sys.time(), '%d %B, %Y')`"},
		},
		"MyST": {
			"---\ntitle: My First Article\nshort_title: First\ndate: 2022-05-11\nauthors:\n  - name: Mason Moniker\n    affiliations:\n      - University of Europe\n    corresponding: true\nlicense: CC-BY-4.0\nkernelspec:\n  name: python3\nexports:\n  - format: pdf\nmath:\n  '\\dobs': '\\mathbf{d}_\\text{obs}'\n---\n",
			matter{Title: "My First Article", Author: "Mason Moniker", Date: "2022-05-11"},
		},
		"Astro": {
			"---\nlayout: ../../layouts/Post.astro\ntitle: 'First'\npubDate: 2022-07-01\ndescription: 'Hello.'\nauthor: 'Learner'\nimage:\n    url: 'https://x'\n    alt: 'The full logo.'\ntags: [\"astro\", \"blogging\"]\n---\n",
			matter{Title: "First", Author: "Learner", Subject: "Hello.", Keywords: []string{"astro", "blogging"}},
		},
		"Eleventy": {
			"---\ntitle: Doc\ndate: Last Modified\ntags: post\npagination:\n  data: x\n  size: 1\npermalink: false\neleventyNavigation: {key: Home, order: 1}\n---\n",
			matter{Title: "Doc", Date: "Last Modified", Keywords: []string{"post"}},
		},
		"Ghost": {
			"---\ntitle: T\nslug: t\ndate_published: 2020-01-01T00:00:00.000Z\ntags: News, Getting Started\nexcerpt: e\nfeature_image: x.png\nauthors: [{id: 1, name: Ghost Writer, slug: g}]\n---\n",
			matter{Title: "T", Author: "Ghost Writer", Keywords: []string{"News", "Getting Started"}},
		},
		"Hexo": {
			"---\ntitle: Hello World\ndate: 2013/7/13 20:46:25\ncategories:\n- Diary\ntags:\n- PS3\ntop: true\ntoc: true\ncover: /img/a.jpg\nlang: zh-CN\n---\n",
			matter{Title: "Hello World", Date: "2013/7/13 20:46:25", Keywords: []string{"PS3"}, Lang: "zh-CN", Warnings: 1},
		},
		"Gatsby": {
			"---\ntitle: \"My post\"\ndate: \"2019-05-06T23:46:37.121Z\"\nfeaturedImage: ../a.png\npath: /x\nlanguage: en-GB\n---\n",
			matter{Title: "My post", Date: "2019-05-06T23:46:37.121Z", Lang: "en-GB"},
		},
		"Marp": {
			"---\nmarp: true\ntheme: gaia\n_class: lead\npaginate: true\nsize: 16:9\nbackgroundColor: #fff\nheader: 'H'\nfooter: 'F'\nheadingDivider: 2\nstyle: |\n  section { color: red }\n---\n",
			matter{Theme: "gaia"},
		},
		"Slidev": {
			"---\ntheme: seriph\nbackground: https://cover.sli.dev\ntitle: Welcome to Slidev\ninfo: |\n  ## Slidev\n  Presentation slides.\nclass: text-center\ndrawings:\n  persist: false\ntransition: slide-left\nmdc: true\nfonts: {sans: Roboto}\n---\n",
			matter{Title: "Welcome to Slidev", Theme: "seriph"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := metadata.Read([]byte(test.src + "# Text\n"))
			if err != nil {
				t.Fatal(err)
			}
			o := m.Options

			got := matter{
				Title:    o.Title,
				Subtitle: m.Subtitle,
				Author:   o.Author,
				Date:     m.Date,
				Subject:  o.Subject,
				Lang:     o.Lang,
				Abstract: m.Abstract,
				Theme:    m.Theme,
				Keywords: o.Keywords,
				Warnings: len(m.Warnings),
			}
			if diff := cmp.Diff(test.want, got); diff != "" || string(m.Body) != "# Text\n" {
				t.Errorf("-want +got:\n%s%v, body %q", diff, m.Warnings, m.Body)
			}
		})
	}
}
