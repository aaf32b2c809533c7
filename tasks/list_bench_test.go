package tasks_test

import (
	"context"
	"sync"
	"testing"

	"presswork"
	"presswork/tasks"
)

// BenchmarkJobs lists 100 of 20 000 queued jobs, and looks for one that a filter
// does not select.
func BenchmarkJobs(b *testing.B) {
	bundle := setup(b, tasks.Options{MaxPending: -1})

	var wg sync.WaitGroup
	for range benchClients {
		wg.Go(func() {
			for range 20_000 / benchClients {
				s := submission(b)
				if _, _, err := bundle.client.Submit(context.Background(), s); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()

	for name, q := range map[string]tasks.Query{
		"100 queued": {Limit: 100},
		"no match":   {Limit: 100, Statuses: []presswork.Status{presswork.Failed}},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := bundle.client.Jobs(b.Context(), "ann", q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
