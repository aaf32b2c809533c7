package markdown_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/markdown"
)

const chapters = `# Book

![Before](pixel.png){#fig:0}

# One {#sec:one}

![A](pixel.png){#fig:a}

$$ x $$ {#eq:a}

# Two {#sec:two}

![B](pixel.png){#fig:b}

![C](pixel.png "Only a caption")

$$ y $$ {#eq:b}

# Aside {.unnumbered}

![D](pixel.png){#fig:d}

See @fig:0, @fig:a, @fig:b, @fig:d, @eq:a, @eq:b, @sec:two.
`

// lastParagraph returns the last paragraph without tags.
func lastParagraph(d markdown.Document) string {
	last := d.HTML[strings.LastIndex(d.HTML, "<p"):]
	var b strings.Builder

	for piece := range strings.SplitSeq(last, "<") {
		_, text, _ := strings.Cut(piece, ">")
		b.WriteString(text)
	}

	return strings.TrimSpace(strings.ReplaceAll(b.String(), "\u00a0", " "))
}

func TestOptionsDecideTheNumbersOfElements(t *testing.T) {
	t.Parallel()
	numbers := func(d markdown.Document) (all []string) {
		for _, c := range d.Captions {
			all = append(all, c.Number+" "+c.Text)
		}

		return all
	}

	for _, c := range []struct {
		name     string
		options  markdown.Options
		text     string
		captions []string
	}{
		{"labels", markdown.Options{}, "See Figure 1, Figure 2, Figure 3, Figure 4, Equation (1), Equation (2), Two.", []string{"1 Before", "2 A", "3 B", "4 D"}},
		{
			"chapters",
			markdown.Options{Numbering: markdown.ByChapter},
			"See Figure 1.1, Figure 2.1, Figure 3.1, Figure 3.2, Equation (2.1), Equation (3.1), Two.",
			[]string{"1.1 Before", "2.1 A", "3.1 B", "3.2 D"},
		},
		{
			"all captions",
			markdown.Options{Numbered: []markdown.Kind{markdown.Figure}, NumberHeadings: true},
			"See Figure 1, Figure 2, Figure 3, Figure 5, Equation (1), Equation (2), Section 3.",
			[]string{"1 Before", "2 A", "3 B", "4 Only a caption", "5 D"},
		},
		{
			"after other documents",
			markdown.Options{Counts: map[markdown.Kind]int{markdown.Figure: 7}},
			"See Figure 8, Figure 9, Figure 10, Figure 11, Equation (1), Equation (2), Two.",
			[]string{"8 Before", "9 A", "10 B", "11 D"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.options.Asset = assets

			d := render(t, chapters, c.options)
			if got := lastParagraph(d); got != c.text {
				t.Errorf("got  %s\nwant %s", got, c.text)
			}

			if diff := cmp.Diff(c.captions, numbers(d)); diff != "" {
				t.Error(diff)
			}

			if len(d.Warnings) > 0 {
				t.Errorf("warnings %v", d.Warnings)
			}
		})
	}
}

func TestReferencesUseTheWordsOfTheLanguage(t *testing.T) {
	t.Parallel()

	const source = "[@fig:a; @fig:b] and @tbl:t\n\n![A](pixel.png){#fig:a}\n\n![B](pixel.png){#fig:b}\n\n|a|\n|---|\n|1|\n\n: T {#tbl:t}\n"

	for lang, want := range map[string]string{
		"": "Figures 1 and 2 and Table 1", "en-GB": "Figures 1 and 2 and Table 1", "de-AT": "Abbildungen 1 und 2 and Tabelle 1",
		"fr": "Figures 1 et 2 and Tableau 1", "ja": "図 1, 図 2 and 表 1", "zh-TW": "圖 1, 圖 2 and 表 1", "ar": "الشكل 1, الشكل 2 and الجدول 1",
		"no": "Figurer 1 og 2 and Tabell 1", "tlh": "Figures 1 and 2 and Table 1",
	} {
		t.Run(lang, func(t *testing.T) {
			d := render(t, source, markdown.Options{Asset: assets, Lang: lang})

			first, _, _ := strings.Cut(d.HTML, "</p>")
			if got := lastParagraph(markdown.Document{HTML: first}); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// Captions without a label get a number and an anchor if the source asks for a list.
func TestListsContainEveryCaption(t *testing.T) {
	t.Parallel()

	d := render(
		t,
		"\\listoffigures\n\n\\listoflistings\n\n![x](pixel.png \"One & two\")\n\n![y](pixel.png){#fig:y}\n\n```go title=\"a.go\"\nx\n```\n\n|a|\n|---|\n|1|\n\n: Table\n",
		markdown.Options{Asset: assets},
	)
	for _, c := range d.Captions {
		if !strings.Contains(d.HTML, fmt.Sprintf("id=%q", c.ID)) {
			t.Errorf("%v has no anchor in\n%s", c, d.HTML)
		}
	}

	want := []markdown.Caption{
		{"fig", "1", "One & two", "toc-fig-1"},
		{"fig", "2", "y", "fig:y"},
		{"lst", "1", "a.go", "toc-lst-3"},
	}
	if !slices.Equal(d.Captions, want) {
		t.Errorf("got %v, want %v", d.Captions, want)
	}

	for _, kind := range []markdown.Kind{markdown.Figure, markdown.Listing} {
		if strings.Count(d.HTML, `<nav class="`+markdown.ListPlace(kind)+`"></nav>`) != 1 {
			t.Errorf("no place for the list of %s in\n%s", kind, d.HTML)
		}
	}
}

// FuzzReferences looks for references that cause a panic or break the HTML around them.
func FuzzReferences(f *testing.F) {
	for _, seed := range []string{"@fig:a", "[see @fig:a; -@fig-b, p. 3]", "[@fig:a\n> ; @{fig:a}]", "-@sec:x [@eq:é", "[[@fig:a]][@fig:a]{.x}", "![x](y){#fig:a} @fig:a;"} {
		f.Add(seed)
	}
	r := markdown.New()
	f.Fuzz(func(t *testing.T, text string) {
		d, err := r.Parse(
			t.Context(),
			[]byte(text+"\n\n# Heading {#sec:x}\n\n![A](a.png){#fig:a}\n\nend\n"),
			markdown.Options{Asset: assets},
		)
		if err == nil && !strings.Contains(d.HTML, "Heading") {
			t.Errorf("the heading is lost in %q", d.HTML)
		}
	})
}
