package contents_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"presswork/internal/document/contents"
	"presswork/internal/markdown"
)

func TestLongContentsAreDividedBeforeChapters(t *testing.T) {
	t.Parallel()
	// entries returns count chapters, each with that many sections.
	entries := func(count, sections int) (headings []markdown.Heading) {
		for range count {
			for i := range sections + 1 {
				level := 1 + min(i, 1)
				headings = append(headings, markdown.Heading{Level: level, ID: fmt.Sprint("h", len(headings))})
			}
		}

		return headings
	}

	for name, test := range map[string]struct {
		entries []markdown.Heading
		form    contents.Form
		want    []int // entries of each piece
	}{
		"chapters":                      {entries(2500, 0), contents.Form{Paper: true, Parts: true}, []int{1000, 1000, 500}},
		"chapters with sections":        {entries(4, 500), contents.Form{Paper: true, Parts: true}, []int{1002, 1002}},
		"one chapter":                   {entries(1, 2500), contents.Form{Paper: true, Parts: true}, []int{2501}},
		"few chapters":                  {entries(1000, 0), contents.Form{Paper: true, Parts: true}, []int{1000}},
		"a document printed at once":    {entries(2500, 0), contents.Form{Paper: true}, []int{2500}},
		"a page of their own":           {entries(1500, 0), contents.Form{Paper: true, Parts: true, OwnPage: true}, []int{1000, 500}},
		"no page numbers on the screen": {entries(1500, 0), contents.Form{}, []int{1500}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			pieces := contents.List(test.entries, nil, "en", test.form)

			var got []int
			for i, p := range pieces {
				got = append(got, strings.Count(p.HTML, "<a href="))

				for _, tag := range []string{"nav", "ul", "li"} {
					if strings.Count(p.HTML, "<"+tag) != strings.Count(p.HTML, "</"+tag+">") {
						t.Errorf("piece %d has unequal numbers of start and end tags of %s", i, tag)
					}
				}

				if last := i == len(pieces)-1; p.OwnPage != (last && test.form.OwnPage) {
					t.Errorf("piece %d ends a page: %t, want %t", i, p.OwnPage, !p.OwnPage)
				}

				if titled := strings.Contains(p.HTML, "toc-title"); titled != (i == 0) {
					t.Errorf("piece %d has a title: %t, want %t", i, titled, !titled)
				}
			}

			if !slices.Equal(got, test.want) {
				t.Errorf("the pieces have %d entries, want %d", got, test.want)
			}
		})
	}
}
