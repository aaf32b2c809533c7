package tasks_test

import (
	"slices"
	"testing"

	"presswork"
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
			t.Fatalf("has_more %v with cursor %q", page.HasMore, page.NextCursor)
		}
		if !page.HasMore {
			return ids
		}
		if len(page.Records) != q.Limit {
			t.Fatalf("a page of %d says there are more", len(page.Records))
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
	others := submission(t)
	others.Owner = "bob"
	b.submit(t, others)
	for _, limit := range []int{1, 7, 10, 29, 30, 31} {
		if got := listAll(t, b, tasks.Query{Limit: limit}); !slices.Equal(got, want) {
			t.Errorf("limit %d: %v", limit, got)
		}
		q := tasks.Query{Limit: limit, Statuses: []presswork.Status{presswork.Cancelled, presswork.Failed}, Kind: presswork.KindConversion}
		if got := listAll(t, b, q); !slices.Equal(got, cancelled) {
			t.Errorf("limit %d, cancelled: %v", limit, got)
		}
	}
	if got := listAll(t, b, tasks.Query{Limit: 5, Kind: "export"}); len(got) != 0 {
		t.Errorf("another kind: %v", got)
	}
}

func TestExpiredJobsLeaveTheListing(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	old, young := b.submit(t, submission(t)), b.submit(t, submission(t))
	b.rdb.Del(t.Context(), tasks.JobKey(old))
	if got := listAll(t, b, tasks.Query{Limit: 1}); !slices.Equal(got, []string{young}) {
		t.Errorf("%v", got)
	}
	if n := b.rdb.ZCard(t.Context(), "pw:owner:ann").Val(); n != 1 {
		t.Errorf("%d ids remain in the list", n)
	}
}

func TestForeignCursorIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	_, err := b.client.Jobs(t.Context(), "ann", tasks.Query{Cursor: "[x"})
	wantCode(t, err, presswork.InvalidOption)
}
