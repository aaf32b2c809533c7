package tasks_test

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"testing"

	"presswork"
	"presswork/internal/fault"
	"presswork/tasks"
)

// listAll walks a listing page by page and returns the ids.
func listAll(t *testing.T, b *bundle, q tasks.Query) (ids []string) {
	t.Helper()

	for {
		page, err := b.client.Jobs(t.Context(), "ann", q)
		if err != nil {
			t.Fatal(err)
		}

		for _, r := range page.Records {
			ids = append(ids, r.ID)
		}

		if page.HasMore != (page.NextCursor != "") {
			t.Fatalf("got has_more %v with cursor %q, want both or neither", page.HasMore, page.NextCursor)
		}

		if !page.HasMore {
			return ids
		}

		if len(page.Records) != q.Limit {
			t.Fatalf("a page of %d has more after it, want %d on each page but the last", len(page.Records), q.Limit)
		}
		q.Cursor = page.NextCursor
	}
}

func TestListingIsNewestFirstAndPagesExactly(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	var want, cancelled []string

	for i := range 30 {
		id := b.submit(t, submission(t))

		want = append(want, id)
		if i%3 == 0 {
			if _, err := b.client.Cancel(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			cancelled = append(cancelled, id)
		}
	}
	slices.Reverse(want)
	slices.Reverse(cancelled)
	foreign := submission(t)
	foreign.Owner = "bob"
	b.submit(t, foreign)

	for _, limit := range []int{1, 7, 10, 29, 30, 31} {
		t.Run(fmt.Sprintf("limit %d", limit), func(t *testing.T) {
			if got := listAll(t, b, tasks.Query{Limit: limit}); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}

			q := tasks.Query{
				Limit:    limit,
				Statuses: []presswork.Status{presswork.Cancelled, presswork.Failed},
				Kind:     presswork.KindConversion,
			}
			if got := listAll(t, b, q); !slices.Equal(got, cancelled) {
				t.Errorf("cancelled jobs: got %v, want %v", got, cancelled)
			}
		})
	}

	if got := listAll(t, b, tasks.Query{Limit: 5, Kind: "export"}); len(got) != 0 {
		t.Errorf("jobs of another kind: got %v, want none", got)
	}
}

// A filter that matches almost nothing would otherwise read the whole history for one page.
func TestAListingReadsALimitedPartOfTheHistoryPerPage(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})

	oldest := b.submit(t, submission(t))
	if _, err := b.client.Cancel(t.Context(), oldest); err != nil {
		t.Fatal(err)
	}
	const more = 1100

	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			for range more / 10 {
				if _, _, err := b.client.Submit(t.Context(), submission(t)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	q := tasks.Query{Limit: 20, Statuses: []presswork.Status{presswork.Cancelled}}

	for pages := 1; ; pages++ {
		before := commandCounts(t, b.rdb)["hmget"]

		page, err := b.client.Jobs(t.Context(), "ann", q)
		if err != nil {
			t.Fatal(err)
		}

		if n := commandCounts(t, b.rdb)["hmget"] - before; n > 500 {
			t.Errorf("a request read %d records, want at most 500", n)
		}

		if !page.HasMore {
			if len(page.Records) != 1 || page.Records[0].ID != oldest || pages < 3 {
				t.Errorf("the last page, number %d, has %+v; want the oldest job on page 3 or later", pages,
					page.Records)
			}

			return
		}

		if len(page.Records) != 0 || page.NextCursor >= cmp.Or(q.Cursor, "~") {
			t.Fatalf("page %d has %d records and cursor %q after cursor %q; want no records and an earlier cursor",
				pages, len(page.Records), page.NextCursor, q.Cursor)
		}
		q.Cursor = page.NextCursor
	}
}

// Positions are read from the list of the owner, which stays short when the queue is long.
func TestPositionsFollowTheTurns(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	anns := b.submitMany(t, "ann", 5)

	bobs := b.submitMany(t, "bob", 2)
	for id, want := range map[string]int{anns[0]: 0, anns[1]: 2, anns[4]: 6, bobs[0]: 1, bobs[1]: 3} {
		t.Run(id, func(t *testing.T) {
			if got := b.job(t, id).QueuePosition; got == nil || *got != want {
				t.Errorf("got position %v, want %d", got, want)
			}
		})
	}

	if n := commandCounts(t, b.rdb)["lpos"]; n != 0 {
		t.Errorf("the queue was searched %d times, want never", n)
	}
}

func TestExpiredJobsLeaveTheListing(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	expired, kept := b.submit(t, submission(t)), b.submit(t, submission(t))
	b.rdb.Del(t.Context(), tasks.JobKey(expired))

	if got := listAll(t, b, tasks.Query{Limit: 1}); !slices.Equal(got, []string{kept}) {
		t.Errorf("got %v, want %s", got, kept)
	}

	if n := b.rdb.ZCard(t.Context(), "pw:owner:ann").Val(); n != 1 {
		t.Errorf("%d ids remain in the list, want one", n)
	}
}

func TestForeignCursorIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	_, err := b.client.Jobs(t.Context(), "ann", tasks.Query{Cursor: "[x"})
	wantCode(t, err, fault.InvalidOption)
}
