package cite_test

import (
	"slices"
	"strings"
	"testing"

	"presswork/internal/markdown/cite"
	"presswork/internal/markdown/cite/bibfile"
)

// process returns the citations of works, which are BibTeX or CSL-JSON, in a style, which is XML.
func process(t *testing.T, style, works, lang string, citations ...cite.Citation) cite.Result {
	t.Helper()

	s, err := cite.ParseStyle([]byte(style))
	if err != nil {
		t.Fatal(err)
	}

	b, err := bibfile.Read([]byte(works), "en-US")
	if err != nil || len(b.Problems) > 0 {
		t.Fatalf("works: %v %v", err, b.Problems)
	}

	result, err := s.Process(t.Context(), cite.New(), cite.Job{Items: b.Items, Citations: citations, Lang: lang})
	if err != nil {
		t.Fatal(err)
	}

	return result
}

// citing returns a citation of works by their keys.
func citing(keys ...string) (c cite.Citation) {
	for _, key := range keys {
		c.Cites = append(c.Cites, cite.Cite{Key: key})
	}

	return c
}

// located returns a citation of a place in the work "k".
func located(label, locator string) cite.Citation {
	return cite.Citation{Cites: []cite.Cite{{Key: "k", Label: label, Locator: locator}}}
}

// written returns a citation of the work "k" in a style with the elements of a layout.
func written(t *testing.T, layout, work string) string {
	t.Helper()
	return process(t, styled("", layout, ""), work, "en-US", citing("k")).Citations[0]
}

// listed returns the entries of a bibliography of the keys.
func listed(t *testing.T, bibliography, works string, keys ...string) (entries []string) {
	t.Helper()

	result := process(t, styled("", `<text variable="title"/>`, bibliography), works, "en-US", citing(keys...))
	for _, e := range result.Entries {
		entries = append(entries, e.HTML)
	}

	return entries
}

func equal(t *testing.T, got, want []string) {
	t.Helper()

	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
