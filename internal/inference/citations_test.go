package inference_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/inference"
)

func TestCitationMarksBecomeTheirSources(t *testing.T) {
	t.Parallel()
	search := []inference.Origin{
		{Cursor: 0, First: 0, Last: 2, URL: "https://a.example/", Title: "A"},
		{Cursor: 0, First: 4, Last: 6, URL: "https://b.example/", Title: "B"},
	}
	page := inference.Origin{Cursor: 1, First: 0, Last: 20, URL: "https://c.example/", Title: "C"}
	origins := append(search, page)

	cite := func(start, end int, o inference.Origin) []inference.Citation {
		return []inference.Citation{{Start: start, End: end, URL: o.URL, Title: o.Title}}
	}
	for name, c := range map[string]struct {
		text string
		want []inference.Citation
	}{
		"one line":                 {"So 【1†L3】.", cite(3, 9, page)},
		"several lines":            {"So【1†L3-L9】", cite(2, 11, page)},
		"offsets count characters": {"Größe【1†L3】", cite(5, 11, page)},
		"a search result":          {"【0†L5】", cite(0, 6, search[1])},
		"between two results":      {"【0†L3】", nil},
		"beyond the last line":     {"【1†L99】", cite(0, 7, page)},
		"a third field":            {"【1†L3†c.example】", cite(0, 16, page)},
		"an unknown cursor":        {"【7†L3】", nil},
		"no line number":           {"【1†source】", nil},
		"not closed":               {"【1†L3", nil},
		"a line number too large":  {"【99999999999999999999†L3】", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, inference.Citations(c.text, origins)); diff != "" {
				t.Errorf("citations (-want +got):\n%s", diff)
			}
		})
	}

	got := inference.Citations("【1†L3】 and 【0†L0】", origins)
	if len(got) != 2 || got[1].Start != 11 || got[1].URL != search[0].URL {
		t.Errorf("two marks: got %+v, want the page at 0 and the search result at 11", got)
	}
}
