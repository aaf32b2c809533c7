package cite_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"presswork/internal/markdown/cite"
	"presswork/internal/markdown/cite/bibfile"
	"presswork/internal/test/cputime"
)

// styled returns a style with attributes of its citation element, the elements of its layout, and more
// elements of the style.
func styled(attributes, layout, more string) string {
	return `<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text"><citation ` +
		`` + attributes + `><layout>` + layout + `</layout></citation>` + more + `</style>`
}

func bibliographyOf(sort string) string {
	return `<bibliography><sort>` + sort + `</sort><layout><text variable="title"/></layout></bibliography>`
}

func TestParseStyleRefusesCostlyElements(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ style, want string }{
		"keys": {
			styled("", "<text/>", bibliographyOf(strings.Repeat(`<key variable="title"/>`, 5000))),
			"an element sort has 5000 keys; at most 50 are allowed",
		},
		"conditions": {
			styled("", `<choose><if variable="`+strings.Repeat("title ", 300)+`"/></choose>`, ""),
			"an element if tests 300 values; at most 100 are allowed",
		},
		"attribute": {
			styled("", `<choose><if variable="`+strings.Repeat("title ", 50_000)+`"/></choose>`, ""),
			"the attribute variable of an element if has 300000 bytes; at most 2000 are allowed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if _, err := cite.ParseStyle([]byte(c.style)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// Each of these styles and works costs much more than the number of its elements.
func TestCostOfCitationsIsBounded(t *testing.T) {
	t.Parallel()

	n := 1000
	if testing.Short() {
		n = 50
	}
	const field = 16_000 // bytes
	tests := map[string]struct {
		style string
		item  func(i int) *bibfile.Item
	}{
		"works sorted by many keys": {
			styled("", `<text variable="title"/>`, bibliographyOf(strings.Repeat(`<key variable="title"/>`, 50))),
			titled("T"),
		},
		"works sorted by long keys": {
			styled("", `<text variable="title"/>`, bibliographyOf(strings.Repeat(`<key variable="title"/>`, 50))),
			titled(strings.Repeat("T", field)),
		},
		"conditions of a choice": {
			styled("", strings.Repeat(`<choose><if variable="`+strings.Repeat("DOI ", 100)+`"/></choose>`, 1000), ""),
			titled("T"),
		},
		"branches of a choice": {
			styled("", "<choose>"+strings.Repeat(`<else-if variable="DOI"/>`, 40_000)+"</choose>", ""),
			titled("T"),
		},
		"a title in capitals": {
			styled("", strings.Repeat(`<text variable="title" text-case="title"/>`, 1000), ""),
			titled(strings.Repeat("a ", field/2)),
		},
		"numbers in a title": {
			styled("", strings.Repeat(`<choose><if is-numeric="title"/></choose>`, 1000), ""),
			titled(strings.Repeat("1-", field/2)),
		},
		"quotation marks": {
			styled("", strings.Repeat(`<text variable="title"/>`, 1000), ""),
			titled(strings.Repeat("'a ", field/3)),
		},
		"markup": {
			styled("", strings.Repeat(`<text variable="title"/>`, 1000), ""),
			titled(strings.Repeat("<i>a</i>", field/8)),
		},
		"groups in each other": {
			styled(
				"",
				strings.Repeat("<group>", 50)+strings.Repeat(`<text variable="title"/>`, 1000)+
					strings.Repeat("</group>", 50),
				"",
			),
			titled("T"),
		},
		"labels of names": {
			styled("", `<names variable="author">`+strings.Repeat("<label/>", 40_000)+"<name/></names>", ""),
			named,
		},
		"substitutes of names": {
			styled(
				"",
				`<names variable="editor">`+strings.Repeat("<label/>", 20_000)+"<substitute>"+
					strings.Repeat(`<names variable="translator"/>`, 20_000)+"</substitute></names>",
				"",
			),
			named,
		},
		"long initials": {
			styled(
				"",
				strings.Repeat(
					`<names variable="author"><name initialize-with="`+strings.Repeat("x", 2000)+`"/></names>`,
					100,
				),
				"",
			),
			named,
		},
		"hyphens of initials": {
			styled("", strings.Repeat(`<names variable="author"><name initialize-with="."/></names>`, 100), ""),
			hyphened,
		},
		"namesakes": {
			styled(`disambiguate-add-givenname="true" givenname-disambiguation-rule="all-names"`, "", ""),
			named,
		},
		"ampersands in pages": {
			styled("", strings.Repeat(`<text variable="page"/>`, 1000), ""),
			func(i int) *bibfile.Item {
				return &bibfile.Item{
					ID:   fmt.Sprint(i),
					Type: "book",
					Vars: map[string]string{"page": strings.Repeat("1-2&", field/4)},
				}
			},
		},
		"works with equal citations": {
			styled(
				`disambiguate-add-givenname="true" disambiguate-add-names="true" disambiguate-add-year-suffix="true"`,
				"",
				"",
			),
			named,
		},
		"terms for ordinals": {
			styled(
				"",
				`<text term="and"/>`,
				strings.Repeat(`<locale><terms><term name="ordinal">a</term></terms></locale>`, 15_000),
			),
			titled("T"),
		},
	}
	l := cite.New()

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			style, err := cite.ParseStyle([]byte(test.style))
			if err != nil {
				t.Fatal(err)
			}
			job := cite.Job{Items: map[string]*bibfile.Item{}}

			for i := range n {
				key := fmt.Sprint(i)
				job.Items[key] = test.item(i)
				job.Uncited = append(job.Uncited, key)
				job.Citations = append(job.Citations, cite.Citation{Cites: []cite.Cite{{Key: key}}})
			}

			const limit = 20 * time.Second // ten times what the slowest takes
			if took := cputime.Of(func() { _, err = style.Process(t.Context(), l, job) }); took > limit {
				t.Errorf("it took %s (%v)", took, err)
			}

			if err != nil && !strings.Contains(err.Error(), "the citations take too long") {
				t.Error(err)
			}

			if err == nil && name == "conditions of a choice" && !testing.Short() {
				t.Error("100 conditions in each of 1000 elements are not counted")
			}

			gone := errors.New("gone")
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(gone)

			const second = time.Second
			if took := cputime.Of(func() { _, err = style.Process(ctx, l, job) }); took > second {
				t.Errorf("a cancelled context ended it after %s", took)
			}

			if err != nil && !errors.Is(err, gone) {
				t.Errorf("%v, want the context's cause", err)
			}
		})
	}
}

func titled(title string) func(int) *bibfile.Item {
	return func(i int) *bibfile.Item {
		return &bibfile.Item{ID: fmt.Sprint(i), Type: "book", Vars: map[string]string{"title": title + fmt.Sprint(i)}}
	}
}

func named(i int) *bibfile.Item {
	return &bibfile.Item{ID: fmt.Sprint(i), Type: "book", Names: map[string][]bibfile.Name{
		"author":     {{Family: "A", Given: fmt.Sprint("B", i)}, {Family: "A", Given: strings.Repeat("C ", 8000)}},
		"translator": {{Family: "D"}},
	}}
}

// hyphened returns a work with a long hyphenated name, which is slow to abbreviate.
func hyphened(i int) *bibfile.Item {
	return &bibfile.Item{
		ID:   fmt.Sprint(i),
		Type: "book",
		Names: map[string][]bibfile.Name{
			"author": {{Family: "A", Given: strings.Repeat("C-", 8000) + fmt.Sprint("B", i)}},
		},
	}
}

// Without limits, each of these took minutes or gigabytes at the largest size of a bibliography.
// The largest styles evaluate 100 000 elements for a book without authors.
func TestTwoWorksAreWithinTheBudgetOfEachStyle(t *testing.T) {
	t.Parallel()

	b, err := bibfile.Read([]byte("@book{a, title={A}, year=2000}\n@book{b, title={B}}"), "")
	if err != nil {
		t.Fatal(err)
	}

	l := cite.New()
	for _, name := range cite.StyleNames() {
		if _, err := l.Style(name).
			Process(t.Context(), l, cite.Job{Items: b.Items, Uncited: []string{"a", "b"}}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
