package cite_test

import (
	"fmt"
	"testing"

	"presswork/internal/markdown/cite"
	"presswork/internal/markdown/cite/bibfile"
)

// BenchmarkProcess processes a hundred citations of fifty works.
func BenchmarkProcess(b *testing.B) {
	l := cite.New()

	for _, name := range []string{"apa", "ieee", "chicago-author-date", "vancouver"} {
		b.Run(name, func(b *testing.B) {
			job := cite.Job{
				Items:  map[string]*bibfile.Item{},
				Lang:   "en-US",
				Anchor: func(key string) string { return key },
			}
			for i := range 50 {
				key := fmt.Sprint("k", i)
				job.Items[key] = &bibfile.Item{
					ID:   key,
					Type: "article-journal",
					Vars: map[string]string{
						"title":           "Title " + key,
						"container-title": "Journal",
						"page":            "12-34",
						"volume":          "3",
					},
					Names: map[string][]bibfile.Name{
						"author": {{Family: fmt.Sprint("Family", i%20), Given: "John"}, {Family: "Doe", Given: "Jane"}},
					},
					Dates: map[string]bibfile.Date{"issued": {From: [3]int{2000 + i%5}}},
				}
			}

			for i := range 100 {
				job.Citations = append(
					job.Citations,
					cite.Citation{Cites: []cite.Cite{{Key: fmt.Sprint("k", i%50), Locator: "3", Label: "page"}}},
				)
			}

			s := l.Style(name)
			for b.Loop() {
				if _, err := s.Process(b.Context(), l, job); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
