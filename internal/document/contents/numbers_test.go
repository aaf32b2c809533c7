package contents_test

import (
	"slices"
	"strings"
	"testing"

	"presswork/internal/document/contents"
	"presswork/internal/markdown/ext/bookindex"
)

func TestIndexNamesEachPageOnceAndJoinsRanges(t *testing.T) {
	t.Parallel()

	var entries []bookindex.Entry
	for _, e := range []struct{ term, id string }{
		{"b", "1"}, {"b", "2"}, {"b", "3"}, {"b", "4"}, {"b", "5"}, {"a & c", "6"},
	} {
		entries = append(entries, bookindex.Entry{Terms: []string{e.term}, SortBy: []string{e.term}, ID: e.id})
	}
	index := contents.Index(entries, "en", true)[0]
	pages := map[string]int{"1": 3, "2": 3, "3": 4, "4": 5, "5": 8, "6": 7}

	want := []string{"7", "3", "", "", "–5", ", 8"}
	if got := contents.Numbers(index.Pages, pages); !slices.Equal(got, want) {
		t.Errorf("got the texts %q, want %q", got, want)
	}

	for i, at := range index.Numbers {
		if !strings.HasPrefix(index.HTML[at:], "</a>") {
			t.Errorf("number %d belongs before %.20q, want the end of a link", i, index.HTML[at:])
		}
	}

	if !strings.Contains(index.HTML, "a &amp; c") {
		t.Errorf("a term is not escaped: %s", index.HTML)
	}
}
